"""Why an Instance cannot be a Pod. Nothing that its spec asks for is left out silently."""

from collections.abc import Iterator
from dataclasses import dataclass

from compute.api.compute import Instance
from compute.api.instance_spec import Container, InstanceSpec, Sandbox, Volume
from compute.decide.pods import instance_fields
from compute.decide.pods.pod_containers import limits


@dataclass(frozen=True, slots=True)
class PodRefusal:
    """Why an Instance cannot be a Pod, as a sentence that names the field and the fix."""

    why: str


def checked(instance: Instance) -> Sandbox | PodRefusal:
    """The containers that the Pod is to run, or why there cannot be a Pod."""
    sandbox = instance.spec.runtime.sandbox
    if sandbox is None:
        return PodRefusal(
            "spec.runtime.virtualMachine: this cell runs containers only; use runtime.sandbox"
        )
    why = next(_refusals(instance, sandbox), None)
    return sandbox if why is None else PodRefusal(why)


def _refusals(instance: Instance, sandbox: Sandbox) -> Iterator[str]:
    spec = instance.spec
    if len(spec.network_interfaces) > 1:
        yield "spec.networkInterfaces: a Pod has one interface; keep one entry"
    for volume in spec.volumes:
        yield from _of_volume(volume)
    known = {volume.name for volume in spec.volumes}
    for container in sandbox.containers:
        yield from _of_mounts(container, known)
        yield from _of_variables(instance, container)
    yield from _of_size(spec, sandbox)


def _of_volume(volume: Volume) -> Iterator[str]:
    path = f"spec.volumes[{volume.name}]"
    if volume.disk is not None:
        yield f"{path}.disk: this cell has no disks; use a configMap or a secret, or another city"
    elif volume.config_map is None and volume.secret is None:
        yield f"{path}: it has no source; set configMap or secret"


def _of_mounts(container: Container, known: set[str]) -> Iterator[str]:
    for attachment in container.volume_attachments:
        path = f"volumeAttachments[{attachment.name}] of container {container.name}"
        if attachment.name not in known:
            yield f"{path}: there is no volume of this name in spec.volumes"
        elif not attachment.mount_path:
            yield f"{path}: a Pod has no devices; set mountPath"


def _of_variables(instance: Instance, container: Container) -> Iterator[str]:
    for variable in container.env:
        field = variable.value_from.field_ref if variable.value_from else None
        if field is not None and not instance_fields.is_served(instance, field.field_path):
            yield (
                f"env[{variable.name}] of container {container.name}: "
                f"the field {field.field_path} cannot be a variable; use another fieldPath"
            )


def _of_size(spec: InstanceSpec, sandbox: Sandbox) -> Iterator[str]:
    if not limits(spec, sandbox.containers):
        unknown = spec.runtime.resources.instance_type
        yield f"spec.runtime.resources.instanceType: {unknown} is not known in this cell"
