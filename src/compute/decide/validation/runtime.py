"""What an Instance runs, a sandbox of containers or a virtual machine, and its size."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from compute.api.instance_spec import (
    Container,
    InstanceResources,
    Runtime,
    Sandbox,
    VirtualMachine,
    Volume,
    VolumeAttachment,
)
from compute.decide.validation.attachments import check_attachments
from compute.decide.validation.grammar import Taken, check_label, check_object_name
from compute.decide.validation.ports import check_ports
from kubekit.api.fields import FieldError, Path, forbidden, invalid, not_supported, required
from kubekit.api.kinds.value_sources import EnvVar, EnvVarSource, KeySelector

INSTANCE_TYPES: Final = ("datumcloud/d1-standard-2",)

_SOURCES = "configMapKeyRef, secretKeyRef, fieldRef or resourceFieldRef"


def check_runtime(
    path: Path, runtime: Runtime, volumes: Mapping[str, Volume]
) -> Iterator[FieldError]:
    yield from _check_size(path.child("resources"), runtime.resources)
    if runtime.sandbox is None and runtime.virtual_machine is None:
        yield required(path, "say what to run: set sandbox or virtualMachine")
    if runtime.sandbox is not None:
        yield from check_sandbox(path.child("sandbox"), runtime.sandbox, volumes)
    if runtime.sandbox is not None and runtime.virtual_machine is not None:
        yield forbidden(path.child("virtualMachine"), "sandbox is set too; keep one of the two")
    if runtime.virtual_machine is not None:
        yield from check_machine(path.child("virtualMachine"), runtime.virtual_machine, volumes)


def attachments_of(runtime: Runtime) -> Iterator[VolumeAttachment]:
    """Every attachment of a volume, of a container or a machine."""
    if runtime.sandbox is not None:
        for container in runtime.sandbox.containers:
            yield from container.volume_attachments
    if runtime.virtual_machine is not None:
        yield from runtime.virtual_machine.volume_attachments


def _check_size(path: Path, resources: InstanceResources) -> Iterator[FieldError]:
    if resources.instance_type not in INSTANCE_TYPES:
        yield not_supported(path.child("instanceType"), resources.instance_type, INSTANCE_TYPES)
    if resources.requests:
        yield forbidden(
            path.child("requests"), "the instance type decides the size; remove this field"
        )


def check_machine(
    path: Path, machine: VirtualMachine, volumes: Mapping[str, Volume]
) -> Iterator[FieldError]:
    attachments = path.child("volumeAttachments")
    if not machine.volume_attachments:
        yield required(attachments, "attach at least the disk to boot from")
    for first in machine.volume_attachments[:1]:
        volume = volumes.get(first.name)
        if volume is not None and not _boots(volume):
            yield invalid(
                attachments.at(0).child("name"),
                first.name,
                "a machine boots from its first volume: this must be a disk filled from an image, "
                "by disk.template.spec.populator.image",
            )
    yield from check_attachments(attachments, machine.volume_attachments, volumes)
    yield from check_ports(path.child("ports"), machine.ports)


def _boots(volume: Volume) -> bool:
    populator = volume.disk.template.spec.populator if volume.disk else None
    return populator is not None and populator.image is not None


def check_sandbox(
    path: Path, sandbox: Sandbox, volumes: Mapping[str, Volume]
) -> Iterator[FieldError]:
    containers = path.child("containers")
    if not sandbox.containers:
        yield required(containers, "name at least one container")
    names = Taken()
    for position, container in enumerate(sandbox.containers):
        at = containers.at(position)
        yield from check_label(at.child("name"), container.name)
        yield from names.check(at.child("name"), container.name)
        yield from _check_container(at, container, volumes)
    for position, secret in enumerate(sandbox.image_pull_secrets):
        yield from check_object_name(
            path.child("imagePullSecrets").at(position).child("name"), secret.name
        )


def _check_container(
    path: Path, container: Container, volumes: Mapping[str, Volume]
) -> Iterator[FieldError]:
    yield from _check_image(path.child("image"), container.image)
    yield from check_environment(path.child("env"), container.env)
    yield from check_ports(path.child("ports"), container.ports)
    yield from check_attachments(
        path.child("volumeAttachments"), container.volume_attachments, volumes
    )
    if container.resources is not None:
        yield forbidden(
            path.child("resources"), "the instance type decides the size; remove this field"
        )


def _check_image(path: Path, image: str) -> Iterator[FieldError]:
    if not image:
        yield required(path, "name the image to run")
    elif " " in image or not image.isprintable():
        yield invalid(path, image, "must not contain spaces, line breaks or control characters")


def check_environment(path: Path, variables: Sequence[EnvVar]) -> Iterator[FieldError]:
    names = Taken()
    for position, variable in enumerate(variables):
        at = path.at(position)
        yield from _check_name(at.child("name"), variable.name)
        yield from names.check(at.child("name"), variable.name)
        if variable.value_from is not None:
            yield from _check_source(at.child("valueFrom"), variable.value_from)
        if variable.value_from is not None and variable.value:
            yield forbidden(at.child("valueFrom"), "value is set too; keep one of the two")


def _check_name(path: Path, name: str) -> Iterator[FieldError]:
    if not name:
        yield required(path, "name the variable")
    elif "=" in name or not name.isprintable():
        yield invalid(path, name, "must not contain '=' or control characters")


def _check_source(path: Path, source: EnvVarSource) -> Iterator[FieldError]:
    keys = (
        ("configMapKeyRef", source.config_map_key_ref),
        ("secretKeyRef", source.secret_key_ref),
    )
    from_keys = [ref for _, ref in keys if ref is not None]
    others = [ref for ref in (source.field_ref, source.resource_field_ref) if ref is not None]
    if not from_keys and not others:
        yield required(path, f"set one of {_SOURCES}")
    if len(from_keys) + len(others) > 1:
        yield forbidden(path, f"set only one of {_SOURCES}")
    for name, ref in keys:
        if ref is not None:
            yield from _check_key(path.child(name), ref)


def _check_key(path: Path, ref: KeySelector) -> Iterator[FieldError]:
    yield from check_object_name(path.child("name"), ref.name)
    if not ref.key:
        yield required(path.child("key"), "say which key")
