"""What a template runs, as people read it: containers, variables, volumes, networks.

The value of a variable may be a password, so it is masked unless it is asked for. A value from a Secret
is never read at all: the view names the Secret.
"""

from collections.abc import Iterable, Mapping

from compute.api.instance_spec import (
    Container,
    InstanceSpec,
    NamedPort,
    Volume,
    VolumeAttachment,
)
from compute.views.instances import runtime_type
from compute.views.view import View
from kubekit.api.kinds.value_sources import EnvVar, EnvVarSource


class VariableView(View, frozen=True, kw_only=True):
    """One environment variable. ``source`` says where its value comes from, if not from the template."""

    name: str
    value: str | None  # None where it is masked, or comes from a source
    source: str
    masked: bool


class PortView(View, frozen=True, kw_only=True):
    """A port that something listens on."""

    name: str
    port: int
    protocol: str


class MountView(View, frozen=True, kw_only=True):
    """A volume of a container."""

    volume: str
    path: str | None


class ContainerView(View, frozen=True, kw_only=True):
    """One container."""

    name: str
    image: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    ports: tuple[PortView, ...]
    variables: tuple[VariableView, ...]
    mounts: tuple[MountView, ...]


class VolumeView(View, frozen=True, kw_only=True):
    """A volume, and where its content comes from."""

    name: str
    source: str


class RuntimeView(View, frozen=True, kw_only=True):
    """What a template runs. A virtual machine has ports and mounts of its own, and no containers."""

    type: str
    instance_type: str
    containers: tuple[ContainerView, ...]
    ports: tuple[PortView, ...]
    mounts: tuple[MountView, ...]
    volumes: tuple[VolumeView, ...]
    networks: tuple[str, ...]
    pull_secrets: tuple[str, ...]


class ImageChange(View, frozen=True, kw_only=True):
    """A container that gets another image."""

    container: str
    before: str
    after: str


def runtime_view(spec: InstanceSpec, *, show_values: bool = False) -> RuntimeView:
    """What the spec of a template or of an Instance runs."""
    sandbox, machine = spec.runtime.sandbox, spec.runtime.virtual_machine
    containers = sandbox.containers if sandbox else ()
    return RuntimeView(
        type=runtime_type(spec.runtime),
        instance_type=spec.runtime.resources.instance_type,
        containers=tuple(_container(each, show_values=show_values) for each in containers),
        ports=_ports(machine.ports) if machine else (),
        mounts=_mounts(machine.volume_attachments) if machine else (),
        volumes=tuple(VolumeView(name=each.name, source=_content(each)) for each in spec.volumes),
        networks=tuple(
            "/".join(filter(None, (each.network.namespace, each.network.name)))
            for each in spec.network_interfaces
        ),
        pull_secrets=tuple(each.name for each in sandbox.image_pull_secrets) if sandbox else (),
    )


def image_changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[ImageChange, ...]:
    """The containers whose image differs, in their order."""
    return tuple(
        ImageChange(container=name, before=before.get(name, ""), after=image)
        for name, image in after.items()
        if before.get(name) != image
    )


def _container(container: Container, *, show_values: bool) -> ContainerView:
    return ContainerView(
        name=container.name,
        image=container.image,
        command=container.command,
        args=container.args,
        ports=_ports(container.ports),
        variables=tuple(_variable(each, show_values=show_values) for each in container.env),
        mounts=_mounts(container.volume_attachments),
    )


def _variable(variable: EnvVar, *, show_values: bool) -> VariableView:
    source = _origin(variable.value_from) if variable.value_from else ""
    masked = not source and bool(variable.value) and not show_values
    value = None if source or masked else variable.value
    return VariableView(name=variable.name, value=value, source=source, masked=masked)


def _origin(source: EnvVarSource) -> str:
    """Where a value comes from, as a phrase."""
    if source.secret_key_ref:
        return f"secret {source.secret_key_ref.name}, key {source.secret_key_ref.key}"
    if source.config_map_key_ref:
        return f"configmap {source.config_map_key_ref.name}, key {source.config_map_key_ref.key}"
    if source.field_ref:
        return f"field {source.field_ref.field_path}"
    if source.resource_field_ref:
        return f"resource {source.resource_field_ref.resource}"
    return "a source that is not known here"


def _content(volume: Volume) -> str:
    if volume.config_map:
        return f"configmap {volume.config_map.name}"
    if volume.secret:
        return f"secret {volume.secret.secret_name}"
    if volume.disk is None:
        return "a source that is not known here"
    disk = volume.disk.template.spec
    size = disk.resources.requests.get("storage") if disk.resources else None
    image = disk.populator.image.name if disk.populator and disk.populator.image else ""
    return "disk" + (f" of {size}" if size else "") + (f" with {image}" if image else "")


def _ports(ports: Iterable[NamedPort]) -> tuple[PortView, ...]:
    return tuple(
        PortView(name=each.name, port=each.port, protocol=each.protocol or "TCP") for each in ports
    )


def _mounts(attachments: Iterable[VolumeAttachment]) -> tuple[MountView, ...]:
    return tuple(MountView(volume=each.name, path=each.mount_path) for each in attachments)
