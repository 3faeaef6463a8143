"""Typical mistakes, planted in the real code: worlds that do not find them prove nothing.

Each is small, and looks right at a glance. It takes the place of one function while a world runs.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace as altered
from typing import Any, Final

from msgspec.structs import replace

from compute.api import finalizers, labels, names
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.karmada import PropagationPolicy
from compute.controllers.cell.deployment import controller as cell_deployment
from compute.controllers.cell.instance import quota_gate
from compute.controllers.cell.write_back import controller as write_back
from compute.controllers.management import apply_writes
from compute.controllers.management.federator import withdrawal
from compute.controllers.management.workload import controller as workload
from compute.decide import budget, quota, readiness
from compute.decide.conditions import find, is_true
from compute.decide.deployment import rollout, rollup
from compute.decide.federation import projections, statuses
from compute.decide.quota import releases
from compute.decide.writes import Delete
from compute.federation import execution, interpreter
from kubekit.api.errors import ApiError
from kubekit.runtime import live
from kubekit.runtime.queueing.outcomes import PassOutcomes
from kubekit.runtime.reconciling import commit
from kubekit.runtime.requests import DONE
from kubekit.runtime.watching.informer import Informer
from tests.sim.whole.judge import Violation

# How the judge names a law that was broken, one that is not fulfilled in the end, and a controller
# that reconciles without end.
_VIOLATION: Final = r"({0})_|(after \S+ s still|in the end): (.*; )?({0}) |({0}) reconciled "
# What a mutant raises that does not fit its place any more. That would be found too, and for nothing.
_MISFITS: Final = (TypeError, AttributeError, NameError)


@dataclass(frozen=True, slots=True)
class Graft:
    """A replacement for an attribute of a module or a class."""

    place: Any
    name: str
    wrong: Callable[..., Any]


class Mutant:
    """A mistake: the laws that it breaks, or the controllers that do not rest, and where it is made."""

    def __init__(self, laws: str, *grafts: Graft) -> None:
        self.grafts = grafts
        self._violation = re.compile(_VIOLATION.format(laws))

    def explains(self, violation: Violation) -> bool:
        """Whether a violation is of its laws. Any other may be a true find, and is none of it."""
        return self._violation.match(str(violation)) is not None


@contextmanager
def planted(name: str) -> Iterator[list[BaseException]]:
    """Plant a mistake. The list that is yielded has its own failures, which prove nothing."""
    misfits: list[BaseException] = []
    with ExitStack() as undone:
        for graft in MUTANTS[name].grafts:
            right = inspect.getattr_static(graft.place, graft.name)
            setattr(graft.place, graft.name, graft.wrong)
            undone.callback(setattr, graft.place, graft.name, right)
        judged = PassOutcomes.failed_with

        def failed_with(self: PassOutcomes, request: Any, error: BaseException) -> Any:
            if isinstance(error, _MISFITS):
                misfits.append(error)
            return judged(self, request, error)

        undone.callback(setattr, PassOutcomes, "failed_with", judged)
        setattr(PassOutcomes, "failed_with", failed_with)  # noqa: B010 -- not assignable when checked
        yield misfits


def always(answer: Any) -> Callable[..., Any]:
    """A function that ignores its arguments."""
    return lambda *_, **__: answer


def later(answer: Any) -> Callable[..., Any]:
    """An async function that ignores its arguments."""

    async def wrong(*_: Any) -> Any:
        return answer

    return wrong


# Quota


def takes_no_answer_for_a_grant(instance):
    said = find(instance.status.conditions, ConditionType.QUOTA_GRANTED)
    return said is None or said.status != "False"


def forgets_what_is_used(limit, *_):
    return dict(limit)


# Rollouts


def lets_two_go(deployment, instances, now, right=rollout.plan):
    said = altered(rollout.settings_of(deployment), max_unavailable=2)
    return right(deployment, instances, now, said)


def overhears_the_pause(deployment, instances, now, right=rollout.plan):
    said = altered(rollout.settings_of(deployment), paused=False)
    return right(deployment, instances, now, said)


def rolls_from_the_lowest(slots, right=rollout._rolls):
    return reversed(list(right(slots)))


# Statuses


def is_ready_when_programmed(closed, current, network_failure, right=readiness._ready):
    result = right(closed, current, network_failure)
    early = not closed and is_true(current, ConditionType.PROGRAMMED)
    return readiness._READY if early else result


def counts_every_programmed(deployment, instances, *rest, right=rollup.deployment_status):
    result = right(deployment, instances, *rest)
    return replace(result, current_replicas=sum(map(rollup._is_programmed, instances)))


def copies_generations(report, *_, **__):
    return report


def stamps_each_pass(conditions, news, now):
    kept = {said.type: said for said in conditions}
    stamped = {said.type: replace(said, last_transition_time=now) for said in news}
    return tuple((kept | stamped).values())


def adds_the_time(instance, *, network_failure, now, right=readiness.conditions):
    result = right(instance, network_failure=network_failure, now=now)
    return tuple(
        replace(said, message=f"{said.message} (at {now})")
        if said.type == ConditionType.READY
        else said
        for said in result
    )


# Deletion


async def lets_the_workload_go_first(_, project, workload):
    current = await live.same(project.client, workload)
    if current is not None and current.deleting:
        await commit.remove_finalizer(project.client, current, finalizers.WORKLOAD)
    return DONE


async def stops_what_the_hub_cannot_see(
    self, request, right=write_back.WriteBackReconciler.reconcile
):
    try:
        return await right(self, request)
    except (ApiError, OSError):
        cell = self._planes.cell.get(request.cluster)
        instance = cell.informers.of(Instance).cache.get(request.namespace, request.name)
        if instance is not None and not instance.deleting:
            await cell.client.delete(instance)
        raise


async def removes_the_policy_too(client, write, right=apply_writes.remove):
    await right(client, write)
    meta = write.existing.metadata
    city = meta.labels[labels.TOPOLOGY_CITY_CODE]
    policy = await client.find(PropagationPolicy, names.policy(city), meta.namespace)
    if policy is not None:
        await right(client, Delete(policy))


# Identity


def owns_by_the_hubs_uid(copy, deployment, right=projections.projection):
    made = right(copy, deployment)
    owners = tuple(
        replace(owner, uid=copy.metadata.uid) for owner in made.metadata.owner_references
    )
    return replace(made, metadata=replace(made.metadata, owner_references=owners))


# The runtime


def is_deaf_to_deletions(self, seen, right=Informer._take_change):
    if seen.type != "DELETED":
        right(self, seen)


def does_not_try_again(self, request, error, right=PassOutcomes.failed_with):
    return altered(right(self, request, error), again=None)


MUTANTS: Final[dict[str, Mutant]] = {
    "takes no answer for a grant": Mutant(
        "s3b", Graft(quota, "gate_opens", takes_no_answer_for_a_grant)
    ),
    "releases a claim early": Mutant(
        "s3b", Graft(quota, "holders", always(())), Graft(releases, "holders", always(()))
    ),
    "gives a claim back at each roll": Mutant(
        "s3", Graft(quota_gate, "_slot_stays", later(answer=False))
    ),
    "grants beyond the budget": Mutant("s3", Graft(budget, "left", forgets_what_is_used)),
    "rolls two at once": Mutant("s2", Graft(rollout, "plan", lets_two_go)),
    "rolls while paused": Mutant("s2", Graft(rollout, "plan", overhears_the_pause)),
    "rolls from the lowest": Mutant("s2", Graft(rollout, "_rolls", rolls_from_the_lowest)),
    "is Ready when programmed": Mutant("s12", Graft(readiness, "_ready", is_ready_when_programmed)),
    "counts what is out of date": Mutant(
        "s14", Graft(cell_deployment, "deployment_status", counts_every_programmed)
    ),
    "copies generations": Mutant(
        "s12|L5",
        Graft(interpreter, "translated", copies_generations),
        Graft(statuses, "translated", copies_generations),
    ),
    "stamps each pass": Mutant("s12", Graft(rollup, "put", stamps_each_pass)),
    "adds the time": Mutant(
        "deployment|instance-controller", Graft(readiness, "conditions", adds_the_time)
    ),
    "waits for no cell": Mutant("s10", Graft(withdrawal.Withdrawal, "_time_left", always(0.0))),
    "lets the Workload go first": Mutant(
        "s10", Graft(workload.WorkloadReconciler, "_remove", lets_the_workload_go_first)
    ),
    "leaves the copy in the cell": Mutant(
        "L2|L3", Graft(execution.Execution, "_delete_copy", later(answer=True))
    ),
    "stops what the hub cannot see": Mutant(
        "s2|s15", Graft(write_back.WriteBackReconciler, "reconcile", stops_what_the_hub_cannot_see)
    ),
    "removes the policy too": Mutant("s9", Graft(withdrawal, "remove", removes_the_policy_too)),
    "owns by the hub's uid": Mutant(
        "s4|s11", Graft(projections, "projection", owns_by_the_hubs_uid)
    ),
    "shares a namespace": Mutant("s11", Graft(names, "hub_namespace", always("ns-default"))),
    "is deaf to deletions": Mutant(
        "L1|L3|L6", Graft(Informer, "_take_change", is_deaf_to_deletions)
    ),
    "does not try again": Mutant(
        "L1|L2|L3|L5|L6", Graft(PassOutcomes, "failed_with", does_not_try_again)
    ),
}
