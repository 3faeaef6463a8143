"""The plan of a deploy as people read it."""

from collections.abc import Iterable, Iterator
from typing import Final

from compute.cli.output.phrases import counted
from compute.cli.output.tables import indented, plain, table
from compute.decide.quota import INSTANCES, MEMORY, VCPUS
from compute.decide.quota.units import unit_of
from compute.views.deploy_plans import (
    Action,
    CityPlanView,
    DeployPlanView,
    NeedView,
    WorkloadPlanView,
)

_HEADERS: Final = ("PLACEMENT", "CITY", "EFFECT", "INSTANCES", "VCPU", "MEMORY")
_FUTURE: Final[dict[Action, str]] = {
    "create": "will be created",
    "update": "will be updated",
    "keep": "stays as it is",
}
_PAST: Final[dict[Action, str]] = {"create": "created", "update": "updated", "keep": "unchanged"}


def plan_text(view: DeployPlanView, where: str) -> str:
    """Every object with what happens to it; ``where`` is the project, as a phrase."""
    lines = [f"{plain(o.kind.lower())}/{plain(o.name)} {_FUTURE[o.action]}" for o in view.objects]
    for workload in view.workloads:
        lines += ["", *_workload(workload, where)] if lines else _workload(workload, where)
    lines += [f"\nNetwork {plain(name)} does not exist yet." for name in view.missing_networks]
    if view.shortage:
        lines.append(f"\nThe quota is too small: {view.shortage}.")
    return "\n".join(lines)


def result_line(title: str, action: Action) -> str:
    """What was done to an object."""
    return f"{plain(title)} {_PAST[action]}"


def _workload(view: WorkloadPlanView, where: str) -> list[str]:
    lines = [f"workload/{plain(view.name)} {_FUTURE[view.action]} in {plain(where)}"]
    if view.action == "keep":
        return lines
    lines += ["", *indented(map(plain, view.changes))]
    rows = list(map(_row, view.cities))
    lines += ["", *indented(table(_HEADERS, rows).split("\n"))]
    return [*lines, "", *indented(_quota(view))]


def _row(city: CityPlanView) -> tuple[str, ...]:
    before, after = city.instances_before, city.instances_after
    is_plain = before == after or city.effect == "create"
    count = str(after) if is_plain else f"{before} → {after}"
    effect = f"{city.effect} (paused)" if city.paused and city.effect == "replace" else city.effect
    known = after == 0 or city.need.vcpu_millicores
    vcpu = unit_of(VCPUS).text(city.need.vcpu_millicores) if known else "?"
    memory = f"{city.need.memory} MiB" if known else "?"
    return city.placement, city.city, effect, count, vcpu, memory


def _quota(view: WorkloadPlanView) -> list[str]:
    """What the workload needs, and how much of it is more than it has."""
    cities = sum(city.instances_after > 0 for city in view.cities)
    text = f"Quota: {', '.join(_amounts(view.need))} in {counted(cities, 'city')}"
    if view.held == NeedView(instances=0, vcpu_millicores=0, memory=0):
        return [f"{text}."]
    more = ", ".join(_amounts(_beyond(view)))
    if not more:
        return [f"{text}, no more than now."]
    return [f"{text}.", f"       {more} more than now."]


def _beyond(view: WorkloadPlanView) -> NeedView:
    need, held = view.need, view.held
    return NeedView(
        instances=max(need.instances - held.instances, 0),
        vcpu_millicores=max(need.vcpu_millicores - held.vcpu_millicores, 0),
        memory=max(need.memory - held.memory, 0),
    )


def _amounts(need: NeedView) -> Iterator[str]:
    known: Iterable[tuple[str, int]] = (
        (INSTANCES, need.instances),
        (VCPUS, need.vcpu_millicores),
        (MEMORY, need.memory),
    )
    return (unit_of(kind).phrase(amount) for kind, amount in known if amount)
