"""A rollout as people follow it: the Workload, its cities, and the verdict."""

from datetime import datetime

from compute.decide.health import CityHealth, CityState
from compute.decide.progress import Rollout, RolloutSnapshot, RolloutVerdict, verdict
from compute.decide.workload import history, spec_diff
from compute.views.view import View
from compute.views.workloads import CityView, city_views, worst_cities_first
from kubekit.api.kinds.core import ConfigMap


class RolloutView(View, frozen=True, kw_only=True):
    """The rollout of a Workload at one instant."""

    name: str
    namespace: str
    verdict: RolloutVerdict
    revision: int | None
    images: str
    cities: tuple[CityView, ...]
    at: datetime

    @property
    def open(self) -> tuple[CityView, ...]:
        """The cities that are not done, the worst first."""
        return worst_cities_first(c for c in self.cities if c.state is not CityState.DONE)


def rollout_view(
    snapshot: RolloutSnapshot, rollout: Rollout, now: datetime, revisions: ConfigMap | None = None
) -> RolloutView:
    """The rollout in the cities of its rows."""
    workload = snapshot.workload
    active = history.current(revisions)
    phases = (CityHealth(row, CityState(row.phase.value)) for row in rollout.rows)
    return RolloutView(
        name=workload.metadata.name,
        namespace=workload.metadata.namespace,
        verdict=verdict(rollout, now),
        revision=active.rev if active else None,
        images=spec_diff.image(workload.spec),
        cities=city_views(workload, phases, revisions),
        at=rollout.at,
    )
