"""The scale subresource: the replica count of an object as an autoscaling/v1 Scale."""

from typing import Any, Final

from kubekit.api import errors, fields
from kubekit.api.errors import BadRequest
from kubekit.api.resource import AGE, Column, Resource, Scale
from kubekit.client.transport import Document
from kubekit.plane.registry import json_path
from kubekit.plane.registry.patch import merge_patch

RESOURCE: Final = Resource(
    group="autoscaling",
    version="v1",
    kind="Scale",
    plural="scales",
    columns=(
        Column("Desired", ".spec.replicas", "integer"),
        Column("Available", ".status.replicas", "integer"),
        AGE,
    ),
)

_SHARED: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_LARGEST: Final = 2**31 - 1


def scale_of(resource: Resource, document: Document) -> Document:
    """The object's autoscaling/v1 Scale. A missing number is zero."""
    paths = _paths(resource)
    desired = _number(paths.spec_path, document)
    status: Document = {"replicas": _number(paths.status_path, document)}
    if selector := _selector(paths, document):
        status["selector"] = selector
    metadata = document["metadata"]
    return {
        "kind": RESOURCE.kind,
        "apiVersion": RESOURCE.api_version,
        "metadata": {name: metadata[name] for name in _SHARED if name in metadata},
        "spec": {"replicas": desired} if desired else {},
        "status": status,
    }


def with_scale(resource: Resource, document: Document, scale: object) -> Document:
    """The object, changed to the replicas of the Scale.

    A uid or version in the Scale replaces the object's own, so that the write fails if the Scale
    was read from another object or from an older version. The number is set at the path of the
    definition; the rest of the Scale is ignored.
    """
    wanted = _checked(scale)
    replicas = _replicas(resource, document, wanted)
    metadata = {name: wanted["metadata"][name] for name in _conditions(document, wanted)}
    change: Any = replicas
    for name in reversed(_names(_paths(resource).spec_path)):
        change = {name: change}
    return merge_patch.apply(document, {"metadata": metadata} | change)


def _paths(resource: Resource) -> Scale:
    if resource.scale is None:
        raise errors.NotFound(f"{resource.plural} have no scale subresource")
    return resource.scale


def _number(path: str, document: Document) -> int:
    """The number at the path.

    Any other value was not written through a Scale, and counts as zero.
    """
    value = _find(path, document)
    return value if type(value) is int else 0


def _selector(paths: Scale, document: Document) -> str:
    value = _find(paths.selector_path, document) if paths.selector_path else None
    return value if isinstance(value, str) else ""


def _find(path: str, document: Document) -> object:
    value: object = document
    for name in _names(path):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _names(path: str) -> tuple[str, ...]:
    """The fields of the path: `path_rules` refuses paths of any other form."""
    return json_path.compile(path).fields


def _checked(scale: object) -> Document:
    """The Scale, if its parts have the right types."""
    if not isinstance(scale, dict):
        raise BadRequest("a Scale must be a JSON object")
    for name, right in (("apiVersion", RESOURCE.api_version), ("kind", RESOURCE.kind)):
        if scale.get(name, right) != right:
            raise BadRequest(f"{name} must be {right}")
    parts = {name: _object(scale, name) for name in ("metadata", "spec")}
    for name in ("name", "namespace", "uid", "resourceVersion"):
        if not isinstance(parts["metadata"].get(name, ""), str):
            raise BadRequest(f"metadata.{name} must be a string")
    return parts


def _object(scale: Document, name: str) -> Document:
    part = scale.get(name)
    if part is None:
        return {}
    if not isinstance(part, dict):
        raise BadRequest(f"{name} must be a JSON object")
    return part


def _replicas(resource: Resource, document: Document, wanted: Document) -> int:
    replicas = wanted["spec"].get("replicas")
    if replicas is None:
        return 0
    if type(replicas) is not int or abs(replicas) > _LARGEST:
        raise BadRequest("spec.replicas must be a whole number of at most 32 bits")
    if replicas < 0:
        path = _paths(resource).spec_path
        error = fields.invalid(path, replicas, "should be a non-negative integer")
        raise errors.invalid(resource, document["metadata"]["name"], [error])
    return replicas


def _conditions(document: Document, wanted: Document) -> list[str]:
    """The metadata fields of the Scale that are preconditions of the write."""
    own, sent = document["metadata"], wanted["metadata"]
    if not sent.get("name"):
        raise BadRequest(
            f"the name of the object ({own['name']} based on URL) was undeterminable: "
            "name must be provided"
        )
    if sent["name"] != own["name"]:
        raise BadRequest(
            f"the name of the object ({sent['name']}) does not match the name on the URL "
            f"({own['name']})"
        )
    if sent.get("namespace") and sent["namespace"] != own.get("namespace", ""):
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    return [name for name in ("uid", "resourceVersion") if sent.get(name)]
