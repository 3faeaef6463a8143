"""The annotations of a Workload without entries that mean nothing any more."""

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide.overrides import city_pauses, city_restarts, replaced_instances
from compute.decide.overrides.annotated import cities_of, noted, text_of
from compute.decide.overrides.city_pins import pinned


def pruned(workload: Workload) -> Workload:
    """The Workload without entries of cities and Instances that its spec does not have.

    Pins that do not hold any more are dropped too: they would hold again if the template of that time
    came back. So a client that changes a template writes the result of this.
    """
    cities = cities_of(workload)
    stamps = city_restarts.stamps_of(workload)
    requests = replaced_instances.fitting(workload, replaced_instances.requests(workload))
    paused_by_name = frozenset(city_pauses.named(workload))
    paused = ",".join(city for city in cities if city in paused_by_name)
    changes = {
        annotations.PAUSED_CITIES: paused or None,
        annotations.RESTARTED_CITIES: text_of({c: stamps[c] for c in cities if c in stamps}),
        annotations.REPLACED_INSTANCES: text_of(requests),
    }
    return noted(pinned(workload, {}), changes)
