"""What the deletion of a Workload takes along."""

from collections.abc import Collection

from compute.api.compute import Instance, Workload
from compute.decide import joins
from compute.decide.workload import history
from compute.views.view import View
from kubekit.api.kinds.core import ConfigMap


class DestroyView(View, frozen=True, kw_only=True):
    """A Workload, and what goes with it."""

    name: str
    namespace: str
    placements: tuple[str, ...]
    cities: tuple[str, ...]  # of the spec, and those that Instances are left in
    instances: int
    revisions: int
    deleting: bool  # its deletion was requested before


def destroy_view(
    workload: Workload, instances: Collection[Instance], revisions: ConfigMap | None
) -> DestroyView:
    """One Workload."""
    placements = workload.spec.placements
    named = (city for placement in placements for city in placement.city_codes)
    left = sorted(filter(None, map(joins.city, instances)))
    return DestroyView(
        name=workload.metadata.name,
        namespace=workload.metadata.namespace,
        placements=tuple(placement.name for placement in placements),
        cities=tuple(dict.fromkeys((*named, *left))),
        instances=len(instances),
        revisions=len(history.revisions(revisions)),
        deleting=workload.deleting,
    )
