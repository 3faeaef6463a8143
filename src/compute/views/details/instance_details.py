"""All about one Instance: why it does not run, its gates, its quota, its networks, and its planes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from compute.api import gates
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.networking import NetworkBinding
from compute.api.quota import ResourceClaim
from compute.api.reasons import Owner, Reason
from compute.decide import joins
from compute.decide.conditions import find
from compute.decide.explain import next_steps
from compute.decide.explain.checklist import GateStatus
from compute.decide.explain.explanations import Explanation, explain_instance
from compute.decide.explain.titles import fill_in
from compute.decide.instance_state import InstanceState
from compute.decide.quota.units import order, unit_of
from compute.decide.scheduling_gates import condition_of
from compute.views.details.conditions import ConditionView, condition_views
from compute.views.details.plane_paths import PROJECT, PlaneCopyView, PlaneReading, plane_path
from compute.views.details.runtimes import RuntimeView, runtime_view
from compute.views.events import EventView
from compute.views.instances import InstanceContext, InstanceView, instance_view
from compute.views.view import View
from kubekit.api.meta import EPOCH, ConditionStatus


class GateView(View, frozen=True, kw_only=True):
    """A gate. Open: ``opened_after`` seconds, if that is known. Closed: since when, and what for."""

    name: str
    open: bool
    opened_after: float | None
    since: datetime | None
    why: str


class QuotaNeed(View, frozen=True, kw_only=True):
    """What an Instance needs of one resource, and the answer to that."""

    resource_type: str
    amount: str
    answer: str  # Granted, Denied or Pending
    message: str


class BindingView(View, frozen=True, kw_only=True):
    """Whether a network can be used in the city, as its binding in the cell says."""

    name: str
    ready: ConditionStatus
    reason: str
    message: str


class InterfaceView(View, frozen=True, kw_only=True):
    """An interface of an Instance. Its binding is None where it cannot be read."""

    network: str
    internal_ip: str | None
    external_ip: str | None
    binding: BindingView | None


class InstanceCause(View, frozen=True, kw_only=True):
    """Why an Instance does not run, or that it does: sentences, who has to act, and what is next."""

    healthy: bool
    text: str
    reason: str
    owner: Owner
    since: datetime | None
    next_step: str
    next: str


class InstanceDetail(View, frozen=True, kw_only=True):
    """An Instance with everything that is known about it.

    ``quota`` is None where the claim cannot be read, and ``events`` where events cannot.
    """

    summary: InstanceView
    cause: InstanceCause
    gates: tuple[GateView, ...]
    conditions: tuple[ConditionView, ...]
    quota: tuple[QuotaNeed, ...] | None
    interfaces: tuple[InterfaceView, ...]
    runtime: RuntimeView
    events: tuple[EventView, ...] | None
    path: tuple[PlaneCopyView, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class InstanceEvidence:
    """An Instance, and all that could be read about it. ``bindings`` are by the name of the network."""

    instance: Instance
    context: InstanceContext
    project: str
    claim: ResourceClaim | None = None
    bindings: Mapping[str, NetworkBinding] = field(default_factory=dict)
    events: Sequence[EventView] | None = None
    planes: Sequence[PlaneReading] = ()


def instance_detail(
    known: InstanceEvidence, now: datetime, *, show_values: bool = False
) -> InstanceDetail:
    """All about an Instance as it is now."""
    instance = known.instance
    binding = known.context.binding
    # Without its claim, whose demands are a part of their own.
    explained = explain_instance(instance, None, binding, now=now)
    summary = instance_view(instance, known.context, now)
    lost = summary.state is InstanceState.UNREACHABLE
    return InstanceDetail(
        summary=summary,
        cause=_unreachable(summary) if lost else _cause(explained, known),
        gates=tuple(_gate(each, instance, binding) for each in explained.gates),
        conditions=condition_views(instance.status.conditions),
        quota=None if known.claim is None else _needs(known.claim),
        interfaces=_interfaces(instance, known.bindings),
        runtime=runtime_view(instance.spec, show_values=show_values),
        events=None if known.events is None else tuple(known.events),
        path=plane_path(PlaneReading(PROJECT, known.project, instance), known.planes, now),
        at=now,
    )


def _cause(explained: Explanation, known: InstanceEvidence) -> InstanceCause:
    instance = known.instance
    step = fill_in(explained.next_step, INSTANCE=instance.metadata.name)
    step = step if known.context.can_undo else next_steps.without_undo(step)
    return InstanceCause(
        healthy=explained.healthy,
        text=explained.cause,
        reason=explained.reason,
        owner=explained.owner,
        since=explained.since,
        next_step=step,
        next=next_steps.best_command(step, cities=(joins.city(instance),)),
    )


def _unreachable(summary: InstanceView) -> InstanceCause:
    """Why nothing is known now. What the Instance itself says is as old as the last report."""
    reason = Reason.CELL_UNREACHABLE
    step = fill_in(reason.next_step, NAME=summary.workload, CITY=summary.city)
    return InstanceCause(
        healthy=False,
        text=f"{summary.message}. Everything else here is as old as that.",
        reason=reason,
        owner=reason.owner,
        since=summary.since,
        next_step=step,
        next=next_steps.best_command(step, cities=(summary.city,)),
    )


def _gate(gate: GateStatus, instance: Instance, binding: NetworkBinding | None) -> GateView:
    created = instance.metadata.creation_timestamp
    definition = gates.TABLE.by_name.get(gate.name)
    condition = condition_of(definition, instance, binding) if definition else None
    changed = condition.last_transition_time if condition else EPOCH
    if not gate.open:
        since = max(filter(None, (changed if changed > EPOCH else None, created)), default=None)
        return GateView(
            name=gate.name,
            open=False,
            opened_after=None,
            since=since,
            why=" ".join(gate.why.split()),
        )
    after = None
    if created and condition and condition.status == "True" and changed > EPOCH:
        after = max(changed - created, timedelta()).total_seconds()
    return GateView(name=gate.name, open=True, opened_after=after, since=None, why="")


def _needs(claim: ResourceClaim) -> tuple[QuotaNeed, ...]:
    answers = {each.resource_type: each for each in claim.status.allocations}
    needs = []
    for request in sorted(claim.spec.requests, key=lambda r: order(r.resource_type)):
        answer = answers.get(request.resource_type)
        needs.append(
            QuotaNeed(
                resource_type=request.resource_type,
                amount=unit_of(request.resource_type).phrase(request.amount),
                answer=answer.status if answer else "Pending",
                message=answer.message if answer else "The quota service has not answered yet",
            )
        )
    return tuple(needs)


def _interfaces(
    instance: Instance, bindings: Mapping[str, NetworkBinding]
) -> tuple[InterfaceView, ...]:
    reported = instance.status.network_interfaces
    views = []
    for position, interface in enumerate(instance.spec.network_interfaces):
        assigned = reported[position].assignments if position < len(reported) else None
        binding = bindings.get(interface.network.name)
        views.append(
            InterfaceView(
                network=interface.network.name,
                internal_ip=assigned.network_ip if assigned else None,
                external_ip=assigned.external_ip if assigned else None,
                binding=_binding(binding) if binding else None,
            )
        )
    return tuple(views)


def _binding(binding: NetworkBinding) -> BindingView:
    ready = find(binding.status.conditions, ConditionType.READY)
    return BindingView(
        name=binding.metadata.name,
        ready=ready.status if ready else "Unknown",
        reason=ready.reason if ready else "",
        message=ready.message if ready else "",
    )
