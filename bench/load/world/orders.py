"""The requests of a measured world's user: so many Instances in so many cities."""

from collections.abc import Sequence
from typing import Final

import msgspec

from compute.api import annotations, names
from compute.api.compute import MOST_REPLICAS, Placement, ScaleSettings, Workload, WorkloadSpec
from compute.api.instance_spec import (
    Container,
    InstanceResources,
    InstanceSpec,
    InstanceTemplate,
    NetworkInterface,
    NetworkRef,
    Runtime,
    Sandbox,
)
from compute.api.quota import Allowance, GrantBucket, ResourceGrant
from compute.app.planes import SYSTEM
from compute.decide.quota import INSTANCE_TYPES, INSTANCES, MEMORY, VCPUS
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta, TemplateMeta, with_spec
from kubekit.client.client import Client

NAMESPACE: Final = "default"
_TYPE: Final = "datumcloud/d1-standard-2"
_SPARE: Final = 2  # times the requested amount: quota must not be the limit


def codes(count: int) -> list[str]:
    """Names for so many cities."""
    return [f"C{number:02}" for number in range(count)]


def workloads(instances: int, cities: Sequence[str], unavailable: str) -> list[Workload]:
    """The fewest Workloads that can have so many Instances, spread as evenly as possible.

    Fewer Instances than cities leave the last cities without any.
    """
    used = cities[:instances]
    left = instances // len(used)
    made: list[Workload] = []
    while left:
        each = min(left, MOST_REPLICAS)
        left -= each
        made.append(workload(f"w{len(made)}", used, each, unavailable))
    return made


def wanted(workload: Workload) -> int:
    """The number of Instances that it requests."""
    return sum(
        len(each.city_codes) * each.scale_settings.min_replicas for each in workload.spec.placements
    )


def restarted(workload: Workload, at: str) -> Workload:
    """The Workload with a template that is new, as `compute restart` makes it."""
    template = workload.spec.template
    annotated = {**template.metadata.annotations, annotations.RESTARTED_AT: at}
    metadata = msgspec.structs.replace(template.metadata, annotations=annotated)
    template = msgspec.structs.replace(template, metadata=metadata)
    return with_spec(workload, template=template)


async def allow(core: Client, project: str, instances: int) -> None:
    """Raise the quota of a project to more than that many Instances."""
    grants = (await core.every(ResourceGrant)).items
    (grant,) = [each for each in grants if each.metadata.name == names.grant(project)]
    size = INSTANCE_TYPES[_TYPE]
    each = {INSTANCES: 1, VCPUS: size.millicores, MEMORY: size.mebibytes}
    allowances = tuple(
        Allowance(resource_type=kind, buckets=(GrantBucket(amount=_SPARE * instances * amount),))
        for kind, amount in each.items()
    )
    await core.patch(grant, with_spec(grant, allowances=allowances))


def at_once() -> ConfigMap:
    """The settings of a provider whose machines start and stop in no time."""
    meta = ObjectMeta(name="simulated-provider", namespace=SYSTEM)
    return ConfigMap(metadata=meta, data={"startSeconds": "0", "stopSeconds": "0"})


def workload(name: str, cities: Sequence[str], replicas: int, unavailable: str) -> Workload:
    scale = ScaleSettings(min_replicas=replicas, instance_management_policy="Parallel")
    placement = Placement(name="all", city_codes=tuple(cities), scale_settings=scale)
    runtime = Runtime(
        resources=InstanceResources(instance_type=_TYPE),
        sandbox=Sandbox(containers=(Container(name="app", image="registry.test/app:1"),)),
    )
    interfaces = (NetworkInterface(network=NetworkRef(name="default")),)
    spec = InstanceSpec(runtime=runtime, network_interfaces=interfaces)
    return Workload(
        metadata=ObjectMeta(
            name=name,
            namespace=NAMESPACE,
            annotations={annotations.MAX_UNAVAILABLE: unavailable},
        ),
        spec=WorkloadSpec(
            placements=(placement,),
            template=InstanceTemplate(metadata=TemplateMeta(), spec=spec),
        ),
    )
