"""What `compute workloads list` does."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.cli.exits import Exit
from compute.cli.invocation import typed
from compute.cli.output import phrases
from compute.cli.output.formats import show_views
from compute.cli.output.workload_rows import fleet_line, workload_table
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.health import HealthStatus, severity
from compute.views.reading import ProjectReader
from compute.views.workloads import WorkloadView, workload_views, worst_first
from kubekit.api.meta import EPOCH
from kubekit.client.options import ListOptions

_TABLES: Final = frozenset({"table", "wide"})
HEALTHS: Final = {health.lower(): health for health in HealthStatus}
# By what the list is sorted, and then by name: the worst health, the newest, the least ready first.
ORDERS: Final[Mapping[str, Callable[[WorkloadView], Any]]] = {
    "name": lambda view: view.name,
    "health": lambda view: severity(view.health),
    "age": lambda view: -(view.created_at or EPOCH).timestamp(),
    "ready": lambda view: view.ready / view.desired if view.desired else 1.0,
}


class _Wanted(msgspec.Struct, frozen=True):
    healths: Sequence[HealthStatus]
    cities: Sequence[str]
    selector: str
    order: str
    output: str
    no_headers: bool

    @property
    def is_everything(self) -> bool:
        return not (self.healths or self.cities or self.selector)


def run(  # noqa: PLR0913 -- one parameter for each option
    *,
    healths: Sequence[str],
    cities: Sequence[str],
    selector: str,
    order: str,
    no_headers: bool,
    output: str,
) -> int:
    """Run it. The arguments are those of the command."""
    wanted = _Wanted([HEALTHS[h] for h in healths], cities, selector, order, output, no_headers)
    in_project(lambda session: _list(session, wanted))
    return Exit.OK


async def _list(session: Session, wanted: _Wanted) -> None:
    now = session.now()
    known = await _views(session, wanted)
    views = sorted_views(filter(lambda view: _admits(wanted, view), known), wanted.order)
    if wanted.cities and not views:
        from compute.cli.understand.city_faults import refuse_unknown_cities  # noqa: PLC0415 -- only then

        await refuse_unknown_cities(session, wanted.cities)
    if wanted.output not in _TABLES:
        show_views("workload", views, views, wanted.output)
    elif views:
        wide = wanted.output == "wide"
        show(workload_table(views, now, wide=wide, no_headers=wanted.no_headers))
        notify(f"\n{fleet_line(views)}")
        worst = worst_first(views)[0]
        if worst.worst:
            notify(f"Look closer with: {typed(f'compute status {worst.name}')}")
    else:
        _explain_absence(session, wanted, len(known))


async def _views(session: Session, wanted: _Wanted) -> tuple[WorkloadView, ...]:
    reader = ProjectReader(session.client, session.namespace)
    chosen = ListOptions(label_selector=wanted.selector)
    workloads = await reader.all(Workload, chosen)
    deployments = await reader.all(WorkloadDeployment) if workloads else ()
    instances = await reader.all(Instance) if workloads else ()
    return workload_views(workloads, deployments, instances, session.now())


def sorted_views(views: Iterable[WorkloadView], order: str) -> list[WorkloadView]:
    """The Workloads in this order; equal ones by name."""
    return sorted(views, key=lambda view: (ORDERS[order](view), view.name))


def _admits(wanted: _Wanted, view: WorkloadView) -> bool:
    in_city = not wanted.cities or not set(wanted.cities).isdisjoint(view.codes)
    return in_city and (not wanted.healths or view.health in wanted.healths)


def _explain_absence(session: Session, wanted: _Wanted, known: int) -> None:
    where = f"{session.target.inside}, namespace {session.namespace}"
    if known:
        notify(f"None of the {phrases.counted(known, 'workload')} {where} matches.")
    elif wanted.is_everything:
        notify(f"There are no workloads {where}.")
        notify(f"Deploy one with: {typed('compute deploy web --image IMAGE --city CITY')}")
    else:
        notify(f"There are no workloads {where} that match.")
