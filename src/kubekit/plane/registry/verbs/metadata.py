"""The metadata of an object, when it is created and when it is updated.

Clients own labels, annotations, finalizers and owner references, and choose the name. The registry
owns identity, times and generation. `preparation` adds the managed fields at the end.
"""

from collections.abc import Iterator
from typing import Final

from kubekit.api import fields
from kubekit.api.fields import FieldError
from kubekit.plane.registry.context import RegistryContext
from kubekit.plane.registry.encoding import Metadata, encode
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.rules import metadata_rules
from kubekit.plane.registry.rules.object_names import name_fault, prefix_fault

_CLIENT_FIELDS: Final = ("labels", "annotations", "ownerReferences", "finalizers")
_PRESERVED: Final = (
    "namespace",
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_IMMUTABLE: Final = ("uid", "deletionGracePeriodSeconds")


def new_metadata(
    kind: Kind, namespace: str, name: str, sent: Metadata, context: RegistryContext
) -> Metadata:
    """The metadata of a new object."""
    metadata: Metadata = {"name": name}
    if prefix := sent.get("generateName"):
        metadata["generateName"] = prefix
    if kind.resource.namespaced:
        metadata["namespace"] = namespace
    metadata["uid"] = context.environment.uid()
    metadata["creationTimestamp"] = context.stamp()
    if kind.custom:
        metadata["generation"] = 1
    return _with_client_fields(metadata, sent)


def creation_errors(kind: Kind, metadata: Metadata) -> list[FieldError]:
    """The errors in the metadata of a new object, including its name."""
    problems: list[FieldError] = []
    prefix = metadata.get("generateName")
    if prefix and (fault := prefix_fault(kind, prefix)):
        problems.append(fields.invalid("metadata.generateName", prefix, fault))
    if not metadata["name"]:
        problems.append(fields.required("metadata.name", "name or generateName is required"))
    elif fault := name_fault(kind, metadata["name"]):
        problems.append(fields.invalid("metadata.name", metadata["name"], fault))
    return problems + metadata_rules.errors(kind, metadata)


def updated_metadata(old: Metadata, sent: Metadata) -> Metadata:
    """The metadata of an object after an update: only the fields of the client are replaced."""
    metadata: Metadata = {"name": old["name"]}
    if prefix := sent.get("generateName"):
        metadata["generateName"] = prefix
    for name in _PRESERVED:
        if name in old:
            metadata[name] = old[name]
    return _with_client_fields(metadata, sent)


def update_errors(kind: Kind, old: Metadata, sent: Metadata) -> list[FieldError]:
    """The errors in a client's change of the metadata.

    An omitted field means no change. A changed immutable field is refused. A changed
    deletionTimestamp is ignored, because the same time has several spellings.
    """
    deleting = "deletionTimestamp" in old
    fixed = _IMMUTABLE if deleting else (*_IMMUTABLE, "deletionTimestamp")
    problems = [
        fields.invalid(f"metadata.{name}", sent[name], "field is immutable")
        for name in fixed
        if sent.get(name) not in (None, "", old.get(name))
    ]
    prefix = sent.get("generateName")
    if prefix and not kind.custom and (fault := prefix_fault(kind, prefix)):
        problems.append(fields.invalid("metadata.generateName", prefix, fault))
    if deleting:
        problems += _late_finalizers(old, sent)
    return problems + metadata_rules.errors(kind, _with_client_fields({}, sent))


def _late_finalizers(old: Metadata, sent: Metadata) -> Iterator[FieldError]:
    present = old.get("finalizers", ())
    late = [name for name in sent.get("finalizers", ()) if name not in present]
    if late:
        yield fields.forbidden(
            "metadata.finalizers",
            "no new finalizers can be added if the object is being deleted, "
            f"found new finalizers {', '.join(late)}",
        )


def _with_client_fields(metadata: Metadata, sent: Metadata) -> Metadata:
    """The metadata with the fields that the client owns; empty ones are left out."""
    for name in _CLIENT_FIELDS:
        if value := sent.get(name):
            metadata[name] = (
                _distinct(value) if name == "ownerReferences" and len(value) > 1 else value
            )
    return metadata


def _distinct(owners: list[Metadata]) -> list[Metadata]:
    """The references without duplicates, so that clients that repeat theirs do not grow the list."""
    return list({encode(sorted(owner.items())): owner for owner in owners}.values())
