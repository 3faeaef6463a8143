"""What `compute scale` does."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from compute.api.compute import Workload
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.change.planned_writes import written
from compute.cli.change.waiting import WaitChoice, end_of_rollout
from compute.cli.change.workload_change import read_to_change
from compute.cli.exits import Exit, Failure
from compute.cli.output import phrases
from compute.cli.output.city_rows import without_single_placement
from compute.cli.output.formats import show_views
from compute.cli.output.tables import table
from compute.cli.output.terminal import width
from compute.cli.shell.prompts import can_ask, confirmed, notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.quota import INSTANCES, MEMORY, VCPUS
from compute.decide.quota.units import unit_of
from compute.decide.workload_edits.deploy_flags import FlagError
from compute.decide.workload_edits.scaling import ScaleFlags, rescaled
from compute.views.project.quota_reading import QuotaReader
from compute.views.scales import CityScaleView, CityScalingView, ScalingView, scaling_view
from kubekit.api.meta import Object

_HEADERS: Final = ("PLACEMENT", "CITY", "BEFORE", "AFTER", "QUOTA NEEDED")


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    flags: ScaleFlags
    yes: bool
    wait: WaitChoice


def run(  # noqa: PLR0913 -- one parameter for each option
    *,
    name: str,
    minimum: int | None,
    maximum: int | None,
    cpu_percent: int | None,
    memory_percent: int | None,
    placement: str,
    cities: Sequence[str],
    yes: bool,
    wait: bool,
    timeout: timedelta,
    output: str,
) -> int:
    """Run it. The arguments are those of the command."""
    flags = ScaleFlags(
        minimum=minimum, maximum=maximum, cpu_percent=cpu_percent, memory_percent=memory_percent,
        placement=placement, cities=tuple(cities),
    )  # fmt: skip
    wanted = _Wanted(name, flags, yes, WaitChoice(wait, timeout, output))
    return in_project(lambda session: _scale(session, wanted))


async def _scale(session: Session, wanted: _Wanted) -> Exit:
    workload = await read_to_change(session, wanted.name, wanted.flags.cities)
    scaled = _scaled(wanted.flags, workload)
    buckets = await QuotaReader(session.client, session.namespace).buckets()
    view = scaling_view(workload, scaled, buckets, written=False)
    output, asks = wanted.wait.output, not wanted.yes and can_ask()
    if output == "table" or (asks and view.changes):
        notify(_table(view))
    if not view.changes:
        _finish(view, output, f"workload/{view.name} has this scale already")
        return Exit.OK
    if not _goes_on(view, asks=asks, yes=wanted.yes):
        notify("Aborted: nothing was changed.")
        return Exit.OK
    again = partial(_again, wanted.flags)
    await written(session, PlannedChange(workload, scaled, again))
    after = scaling_view(workload, scaled, buckets, written=True)
    _finish(after, output, f"workload/{view.name} scaled")
    return await end_of_rollout(session, wanted.name, wanted.wait)


def _goes_on(view: ScalingView, *, asks: bool, yes: bool) -> bool:
    """Whether the user wants it. Without a terminal, too little quota needs -y."""
    if view.shortage and (asks or yes):
        notify(f"\nThe quota is too small: {view.shortage}.")
    if asks:
        question = "Some instances will wait for quota. Scale?" if view.shortage else "Scale?"
        return confirmed(question, default=not view.shortage)
    if view.shortage and not yes:
        raise Failure(
            f"the quota is too small: {view.shortage}; nothing was changed, and -y scales anyway",
            Exit.BLOCKED,
            next_step="compute quota",
            reason="QuotaExceeded",
        )
    return True


def _scaled(flags: ScaleFlags, workload: Workload) -> Workload:
    try:
        return rescaled(workload, flags)
    except FlagError as error:
        is_where = error.flag in {"--city", "--placement"}
        look = f"compute status {workload.metadata.name}" if is_where else "compute scale --help"
        raise Failure(str(error), Exit.USAGE, next_step=look) from error


def _again(flags: ScaleFlags, newest: Object | None) -> Object:
    """The same scaling of a newer version."""
    assert isinstance(newest, Workload)
    return _scaled(flags, newest)


def _table(view: ScalingView) -> str:
    headers, rows = without_single_placement(_HEADERS, list(map(_row, view.cities)))
    return table(headers, rows, width=width(sys.stdout))


def _row(city: CityScalingView) -> tuple[str, ...]:
    after = _phrase(city.after) if city.changes else "the same"
    return city.placement, city.city, _phrase(city.before), after, _need(city)


def _phrase(scale: CityScaleView) -> str:
    count = phrases.counted(scale.minimum, "instance")
    if scale.maximum is None:
        return count
    load = f" at {scale.cpu_percent}% CPU" if scale.cpu_percent else " by load"
    return f"{scale.minimum} to {phrases.counted(scale.maximum, 'instance')}{load}"


def _need(city: CityScalingView) -> str:
    """The quota that is needed besides what the city has; the sizes only where they are known."""
    amounts = (
        (INSTANCES, city.added_instances),
        (VCPUS, city.added_vcpu_millicores),
        (MEMORY, city.added_memory_mebibytes),
    )
    text = ", ".join(unit_of(kind).phrase(amount) for kind, amount in amounts if amount)
    return f"+{text}" if text else phrases.NONE


def _finish(view: ScalingView, output: str, sentence: str) -> None:
    if output == "table":
        show(sentence)
    else:
        show_views("workload", [view], view, output)
