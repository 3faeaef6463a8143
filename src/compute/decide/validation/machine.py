"""A virtual machine: what it boots from, what it sees, what it listens on."""

from collections.abc import Iterator, Mapping

from compute.api.instance_spec import VirtualMachine, Volume
from compute.decide.validation.attachments import check_attachments
from compute.decide.validation.ports import check_ports
from kubekit.api.fields import FieldError, Path, invalid, required


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
