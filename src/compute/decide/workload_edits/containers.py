"""Image, command, environment, ports and files of one container."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from compute.api.instance_spec import (
    Container,
    InstanceSpec,
    NamedPort,
    Volume,
    VolumeAttachment,
)
from compute.decide.workload_edits.deploy_flags import (
    Assignment,
    DeployFlags,
    EnvironmentSource,
    FileSource,
    FlagError,
    PortEdit,
)
from kubekit.api.kinds.value_sources import (
    ConfigMapVolumeSource,
    EnvVar,
    EnvVarSource,
    KeySelector,
    SecretVolumeSource,
)
from kubekit.api.meta import LocalRef

APP: Final = "app"
_VARIABLE: Final = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


def with_container(spec: InstanceSpec, flags: DeployFlags) -> InstanceSpec:
    """The spec with the container that the flags are about changed."""
    sandbox = spec.runtime.sandbox
    if sandbox is None:
        raise FlagError(_first_flag(flags), "the workload is a virtual machine without containers")
    position = _position(sandbox.containers, flags)
    if not flags.edits_container:
        raise FlagError("--container", "give what to change there, such as --image or --env")
    container = _edited(sandbox.containers[position], flags)
    volumes = spec.volumes
    for source in flags.files:
        volumes, container = _with_files(volumes, container, source)
    others = [*sandbox.containers[:position], *sandbox.containers[position + 1 :]]
    kept = _attached(volumes, [*others, container], spec.volumes)
    containers = (
        *sandbox.containers[:position],
        container,
        *sandbox.containers[position + 1 :],
    )
    runtime = replace(spec.runtime, sandbox=replace(sandbox, containers=containers))
    return replace(spec, runtime=runtime, volumes=kept)


def with_pull_secrets(spec: InstanceSpec, edits: Iterable[Assignment]) -> InstanceSpec:
    """The spec with these Secrets for private registries added or removed."""
    sandbox = spec.runtime.sandbox
    if sandbox is None:
        raise FlagError("--image-pull-secret", "the workload is a virtual machine without images")
    known = dict.fromkeys(secret.name for secret in sandbox.image_pull_secrets)
    for edit in edits:
        known.pop(edit.key, None) if edit.value is None else known.setdefault(edit.key)
    secrets = tuple(LocalRef(name=name) for name in known)
    changed = replace(sandbox, image_pull_secrets=secrets)
    return replace(spec, runtime=replace(spec.runtime, sandbox=changed))


def _first_flag(flags: DeployFlags) -> str:
    given = (
        ("--image", flags.image is not None),
        ("--command", flags.command is not None),
        ("--args", flags.args is not None),
        ("--env", bool(flags.env or flags.env_from)),
        ("--port", bool(flags.ports)),
    )
    return next((flag for flag, is_given in given if is_given), "--container")


def _position(containers: Sequence[Container], flags: DeployFlags) -> int:
    """The container that is meant: the named one, else ``app``, else the only one."""
    by_name = {container.name: i for i, container in enumerate(containers)}
    known = ", ".join(by_name)
    if flags.container:
        if flags.container not in by_name:
            raise FlagError("--container", f'there is no "{flags.container}"; there are: {known}')
        return by_name[flags.container]
    if len(containers) == 1:
        return 0
    if APP not in by_name:
        problem = f"the workload has the containers {known}; say which one with --container"
        raise FlagError(_first_flag(flags), problem)
    return by_name[APP]


def _edited(container: Container, flags: DeployFlags) -> Container:
    env = container.env
    for source in flags.env_from:
        env = _with_source(env, source)
    return replace(
        container,
        image=container.image if flags.image is None else flags.image,
        command=container.command if flags.command is None else flags.command,
        args=container.args if flags.args is None else flags.args,
        env=_with_variables(env, flags.env),
        ports=_with_ports(container.ports, flags.ports),
    )


def _with_variables(env: Sequence[EnvVar], edits: Iterable[Assignment]) -> tuple[EnvVar, ...]:
    variables = {variable.name: variable for variable in env}
    for edit in edits:
        if edit.value is None:
            variables.pop(edit.key, None)
        else:
            variables[edit.key] = EnvVar(name=edit.key, value=edit.value)
    return tuple(variables.values())


def _with_source(env: Sequence[EnvVar], source: EnvironmentSource) -> tuple[EnvVar, ...]:
    """The variables with those of a source. They keep their order, which is part of the template."""
    stays = {v.name: v for v in env if not _is_stale(v, source)}
    if source.removed:
        return tuple(stays.values())
    return tuple((stays | dict(_variables(source))).values())


def _is_stale(variable: EnvVar, source: EnvironmentSource) -> bool:
    """Whether a variable is of this source, and its key is not wanted any more."""
    ref = _reference(variable, source)
    if ref is None or ref.name != source.name:
        return False
    is_generated = variable.name == source.prefix + ref.key
    return source.removed or (is_generated and ref.key not in source.keys)


def _reference(variable: EnvVar, source: EnvironmentSource) -> KeySelector | None:
    if variable.value_from is None:
        return None
    if source.kind == "Secret":
        return variable.value_from.secret_key_ref
    return variable.value_from.config_map_key_ref


def _variables(source: EnvironmentSource) -> Iterator[tuple[str, EnvVar]]:
    """A variable for each key. A key that no variable can have as its name is left out."""
    for key in source.keys:
        name = source.prefix + key
        if not _VARIABLE.fullmatch(name):
            continue
        ref = KeySelector(name=source.name, key=key)
        is_secret = source.kind == "Secret"
        origin = EnvVarSource(
            secret_key_ref=ref if is_secret else None,
            config_map_key_ref=None if is_secret else ref,
        )
        yield name, EnvVar(name=name, value_from=origin)


def _with_ports(ports: Sequence[NamedPort], edits: Iterable[PortEdit]) -> tuple[NamedPort, ...]:
    by_name = {port.name: port for port in ports}
    for edit in edits:
        if edit.number is None:
            by_name.pop(edit.name, None)
        elif not _is_port(by_name.get(edit.name), edit):
            made = NamedPort(name=edit.name, port=edit.number, protocol=edit.protocol)
            by_name[edit.name] = made
    return tuple(by_name.values())


def _is_port(port: NamedPort | None, edit: PortEdit) -> bool:
    """Whether the port is as asked already; without a protocol it is one of TCP."""
    return port is not None and (port.port, port.protocol or "TCP") == (edit.number, edit.protocol)


def _with_files(
    volumes: tuple[Volume, ...], container: Container, source: FileSource
) -> tuple[tuple[Volume, ...], Container]:
    """The volumes and the container with the files of a source mounted, or not any more."""
    known = next((v for v in volumes if _is_source(v, source)), None)
    if source.path is None:
        name = known.name if known else ""
        left = tuple(a for a in container.volume_attachments if a.name != name)
        return volumes, replace(container, volume_attachments=left)
    if known is None:
        known = _volume(source, {volume.name for volume in volumes})
        volumes = (*volumes, known)
    attachments = {a.name: a for a in container.volume_attachments}
    attachments[known.name] = VolumeAttachment(name=known.name, mount_path=source.path)
    return volumes, replace(container, volume_attachments=tuple(attachments.values()))


def _is_source(volume: Volume, source: FileSource) -> bool:
    if source.kind == "Secret":
        return volume.secret is not None and volume.secret.secret_name == source.name
    return volume.config_map is not None and volume.config_map.name == source.name


def _volume(source: FileSource, taken: set[str]) -> Volume:
    """A volume that is named after its source. Names of objects may have dots, those of volumes not."""
    name = source.name.replace(".", "-")
    name = f"{name}-{source.kind.lower()}" if name in taken else name
    if source.kind == "Secret":
        return Volume(name=name, secret=SecretVolumeSource(secret_name=source.name))
    return Volume(name=name, config_map=ConfigMapVolumeSource(name=source.name))


def _attached(
    volumes: Sequence[Volume], containers: Iterable[Container], before: Sequence[Volume]
) -> tuple[Volume, ...]:
    """The volumes without those whose last attachment was removed: no server accepts such a one."""
    used = {a.name for container in containers for a in container.volume_attachments}
    if tuple(volumes) == tuple(before) and all(volume.name in used for volume in volumes):
        return tuple(before)
    return tuple(volume for volume in volumes if volume.name in used)
