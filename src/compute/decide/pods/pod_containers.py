"""The containers of a Pod: variables, mounts, ports and sizes."""

from collections.abc import Sequence

import msgspec

from compute.api.compute import Instance
from compute.api.instance_spec import Container, InstanceSpec
from compute.decide.pods import instance_fields, pod_security
from compute.decide.pods.pod_settings import PodSettings
from compute.decide.quota.sizes import Size, size
from kubekit.api.kinds.pods import (
    ContainerPort,
    PodContainer,
    ResourceRequirements,
    VolumeMount,
)
from kubekit.api.kinds.value_sources import EnvVar

Amounts = dict[str, int | str]


def containers(
    instance: Instance, present: Sequence[Container], settings: PodSettings
) -> tuple[PodContainer, ...]:
    """The containers of the Pod, in the order of the Instance."""
    security = pod_security.of_container(settings)
    return tuple(
        PodContainer(
            name=each.name,
            image=each.image,
            command=each.command,
            args=each.args,
            env=tuple(_variable(instance, variable) for variable in each.env),
            ports=tuple(
                ContainerPort(name=p.name, container_port=p.port, protocol=p.protocol or "TCP")
                for p in each.ports
            ),
            # Requests that equal the limits make the Pod the last to be evicted from a full node.
            resources=ResourceRequirements(limits=amounts, requests=amounts),
            volume_mounts=tuple(
                VolumeMount(name=a.name, mount_path=a.mount_path or "", read_only=True)
                for a in each.volume_attachments
            ),
            security_context=security,
        )
        for each, amounts in zip(present, limits(instance.spec, present), strict=True)
    )


def limits(spec: InstanceSpec, present: Sequence[Container]) -> list[Amounts]:
    """What each container may use, none if the size of the Instance is unknown.

    The size of the Instance is divided evenly, unless every container states its own cpu and memory.
    Together they get exactly what quota was claimed for.
    """
    stated = [each.resources.limits if each.resources else {} for each in present]
    if all(one.keys() >= {"cpu", "memory"} for one in stated):
        return [dict(one) for one in stated]
    whole = size(spec)
    return [] if whole is None else _shares(whole, len(present))


def _shares(whole: Size, count: int) -> list[Amounts]:
    """Equal shares of a size; the first has what is left over."""
    cores, memory = divmod(whole.millicores, count), divmod(whole.mebibytes, count)
    first = {"cpu": f"{sum(cores)}m", "memory": f"{sum(memory)}Mi"}
    other = {"cpu": f"{cores[0]}m", "memory": f"{memory[0]}Mi"}
    return [{**(other if position else first)} for position in range(count)]


def _variable(instance: Instance, variable: EnvVar) -> EnvVar:
    """The variable of the Pod. A field of the Instance's metadata becomes a plain value."""
    source = variable.value_from
    if source is None or source.field_ref is None:
        return variable
    value = instance_fields.value_of(instance, source.field_ref.field_path)
    if value is None:
        return variable
    # A kubelet replaces $(NAME) in values, and reads $$ as one sign.
    return msgspec.structs.replace(variable, value=value.replace("$", "$$"), value_from=None)
