"""The template of every Instance of a Workload."""

from collections.abc import Iterator
from typing import Final

from compute.api import annotations
from compute.api.instance_spec import InstanceSpec, InstanceTemplate
from compute.decide.validation import ssh_keys
from compute.decide.validation.interfaces import check_interfaces
from compute.decide.validation.metadata import check_template_metadata
from compute.decide.validation.runtime import attachments_of, check_runtime
from compute.decide.validation.volumes import check_volumes
from kubekit.api import times
from kubekit.api.fields import FieldError, Path, forbidden, invalid, required

_SETTABLE: Final = (annotations.SSH_KEYS, annotations.RESTARTED_AT)


def check_template(path: Path, template: InstanceTemplate) -> Iterator[FieldError]:
    metadata = path.child("metadata")
    yield from check_template_metadata(metadata, template.metadata, _SETTABLE)
    yield from _check_restart(metadata, template)
    yield from _check_ssh_keys(metadata, template)
    yield from _check_spec(path.child("spec"), template.spec)


def template_warnings(path: Path, template: InstanceTemplate) -> Iterator[str]:
    has_keys = annotations.SSH_KEYS in template.metadata.annotations
    if has_keys and template.spec.runtime.virtual_machine is None:
        at = path.child("metadata", "annotations").key(annotations.SSH_KEYS)
        yield f"{at}: only virtual machines have logins; this is not used"


def _check_restart(path: Path, template: InstanceTemplate) -> Iterator[FieldError]:
    stamp = template.metadata.annotations.get(annotations.RESTARTED_AT)
    if stamp is not None and not _is_time(stamp):
        yield invalid(
            path.child("annotations").key(annotations.RESTARTED_AT),
            stamp,
            "must be a time in RFC 3339, such as 2026-06-01T12:00:00Z",
        )


def _is_time(text: str) -> bool:
    try:
        times.parse(text)
    except times.TimeError:
        return False
    return True


def _check_ssh_keys(path: Path, template: InstanceTemplate) -> Iterator[FieldError]:
    if template.spec.runtime.virtual_machine is None:
        return
    at = path.child("annotations").key(annotations.SSH_KEYS)
    keys = template.metadata.annotations.get(annotations.SSH_KEYS, "")
    if not keys.strip():
        yield required(at, "a virtual machine needs a login: give lines of user:publickey")
    for fault in ssh_keys.faults(keys):
        yield invalid(at, "(not shown)", fault)


def _check_spec(path: Path, spec: InstanceSpec) -> Iterator[FieldError]:
    volumes = {volume.name: volume for volume in reversed(spec.volumes)}
    attached = {attachment.name for attachment in attachments_of(spec.runtime)}
    yield from check_runtime(path.child("runtime"), spec.runtime, volumes)
    yield from check_interfaces(path.child("networkInterfaces"), spec.network_interfaces)
    yield from check_volumes(path.child("volumes"), spec.volumes, attached)
    for name, value in (("location", spec.location), ("controller", spec.controller)):
        if value is not None:
            yield forbidden(path.child(name), "only the controllers set this; remove it")
