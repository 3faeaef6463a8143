"""What an Instance runs, and how large it is."""

from collections.abc import Iterator, Mapping
from typing import Final

from compute.api.instance_spec import InstanceResources, Runtime, Volume, VolumeAttachment
from compute.decide.validation.containers import check_sandbox
from compute.decide.validation.machine import check_machine
from kubekit.api.fields import FieldError, Path, forbidden, not_supported, required

INSTANCE_TYPES: Final = ("datumcloud/d1-standard-2",)


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
    """Every attachment of a volume, whoever makes it."""
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
