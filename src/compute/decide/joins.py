"""Which objects belong together on any plane: by name and label, since uids differ between planes."""

from compute.api import labels, names
from compute.api.compute import Instance, ScaleSettings, Workload, WorkloadDeployment
from kubekit.api.meta import Object

PlacementCity = tuple[str, str]  # placement and city


def expected(workload: Workload) -> dict[PlacementCity, ScaleSettings]:
    """Where the Workload asks to run, in the order of its spec; empty once it is being deleted.

    A placement and city that are named twice count once, with the later scale: both would have the
    same deployment name.
    """
    if workload.deleting:
        return {}
    return {
        (placement.name, city): placement.scale_settings
        for placement in workload.spec.placements
        for city in placement.city_codes
    }


def order(of: Object) -> tuple[int, str]:
    """A sort key: the objects of one owner by number, all others in a stable order.

    The first cause is reported, so it must not change with the order of a list.
    """
    return len(of.metadata.name), of.metadata.name


def placement_city(deployment: WorkloadDeployment) -> PlacementCity:
    """The placement and city that the deployment stands for."""
    return deployment.spec.placement_name, deployment.spec.city_code


def deployment_name(instance: Instance) -> str:
    """The deployment the Instance belongs to; empty when it belongs to none."""
    name = instance.metadata.labels.get(labels.DEPLOYMENT_NAME)
    if name:
        return name
    parts = names.instance_parts(instance.metadata.name)
    return parts[0] if parts else ""


def workload_name(instance: Instance) -> str:
    """The Workload the Instance belongs to; empty when it is unknown."""
    name = instance.metadata.labels.get(labels.WORKLOAD_NAME)
    if name:
        return name
    parts = names.deployment_parts(deployment_name(instance))
    return parts[0] if parts else ""


def city(instance: Instance) -> str:
    """The city the Instance is in; empty when it is unknown."""
    code = instance.metadata.labels.get(labels.CITY_CODE)
    if code:
        return code
    parts = names.deployment_parts(deployment_name(instance))
    return parts[2] if parts else ""
