"""All about one Instance, as lines."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from compute.cli.invocation import spelled
from compute.cli.look.event_lines import event_lines
from compute.cli.output import phrases
from compute.cli.output.instance_rows import revision
from compute.cli.output.runtime_lines import runtime_lines
from compute.cli.output.sections import beside, condition_lines, header, rows, section, wrapped_rows
from compute.views.details.instance_details import (
    BindingView,
    GateView,
    InstanceDetail,
    InterfaceView,
    QuotaNeed,
)
from compute.views.details.plane_paths import PlaneCopyView, PlaneReadState
from compute.views.instances import InstanceView

_NO_CLAIM: Final = "There is no claim for it that you may read."
_READY: Final = {"True": "ready", "False": "not ready", "Unknown": "not ready yet"}


def instance_description(detail: InstanceDetail, where: str, now: datetime) -> list[str]:
    """All about an Instance: why, its gates, what it needs, what it runs, and its planes."""
    gates = wrapped_rows([_gate(gate, now) for gate in detail.gates])
    return [
        *_header(detail, where, now),
        *section("Gates", gates),
        *section("Quota", _quota(detail.quota)),
        *section("Network", wrapped_rows([_interface(each) for each in detail.interfaces])),
        *runtime_lines(detail.runtime, networks=False),
        *section("Conditions", condition_lines(detail.conditions, now)),
        *section("Path from the project to the cell", _path(detail.path, now)),
        *section("Events", event_lines(detail.events, now)),
        *_next_steps(detail),
    ]


def _header(detail: InstanceDetail, where: str, now: datetime) -> list[str]:
    view, cause = detail.summary, detail.cause
    since = f", for {phrases.age(view.since, now)}" if view.since else ""
    data = f"of {phrases.age(view.reported_at, now)} ago" if view.reported_at else "live"
    return header(
        [
            ("Instance", f"{view.name} in {where}"),
            ("Workload", f"{view.workload}, placement {view.placement}"),
            ("City", f"{view.city}, cell {view.cell}" if view.cell else view.city),
            ("Status", f"{view.status}{since}"),
            ("Why", "" if cause.healthy else cause.text),
            ("Type", f"{view.type}/{view.instance_type}"),
            ("Revision", _revision(view)),
            ("Created", f"{phrases.age(view.created_at, now)} ago"),
            ("Data", data),
        ]
    )


def _revision(view: InstanceView) -> str:
    if view.revision is None and not view.outdated:
        return "not known"
    asked = "; the workload asks for another template" if view.outdated else ""
    return f"{revision(view)}{asked}"


def _gate(gate: GateView, now: datetime) -> tuple[str, str]:
    if not gate.open:
        since = f" since {phrases.age(gate.since, now)}" if gate.since else ""
        return f"[ ] {gate.name}", f"waits{since}: {gate.why}"
    if gate.opened_after is None:
        return f"[x] {gate.name}", "open"
    after = phrases.long_duration(timedelta(seconds=gate.opened_after))
    return f"[x] {gate.name}", f"opened after {after}"


def _quota(needs: Sequence[QuotaNeed] | None) -> list[str]:
    if needs is None:
        return [_NO_CLAIM]
    return wrapped_rows([(n.amount, n.answer.lower(), n.message or phrases.NONE) for n in needs])


def _interface(interface: InterfaceView) -> tuple[str, str, str]:
    known = [
        f"{kind} {address}"
        for kind, address in (
            ("internal", interface.internal_ip),
            ("external", interface.external_ip),
        )
        if address
    ]
    return interface.network, ", ".join(known) or "no address yet", _binding(interface.binding)


def _binding(binding: BindingView | None) -> str:
    if binding is None:
        return ""
    cause = "" if binding.ready == "True" else f": {binding.reason}: {binding.message}"
    return f"binding {binding.name} {_READY[binding.ready]}{cause}"


def _path(path: Sequence[PlaneCopyView], now: datetime) -> list[str]:
    return rows(
        [("PLANE", "NAME", "STATUS", "AGREES", "LAST WRITE"), *(_copy(p, now) for p in path)]
    )


def _copy(copy: PlaneCopyView, now: datetime) -> tuple[str, ...]:
    start = copy.plane, copy.name or phrases.NONE
    match copy.state:
        case PlaneReadState.UNREADABLE:
            return *start, f"not read: {copy.problem}", phrases.NONE, phrases.NONE
        case PlaneReadState.MISSING:
            return *start, "not there", "no", phrases.NONE
        case PlaneReadState.FOUND:
            agrees = f"no: {', '.join(copy.differs)} differ" if copy.differs else "yes"
            return *start, copy.status, agrees, f"{phrases.age(copy.written_at, now)} ago"


def _next_steps(detail: InstanceDetail) -> list[str]:
    if detail.cause.healthy:
        return []
    step = spelled(detail.cause.next_step).replace("`", "")
    return section("Next steps", beside("", step))
