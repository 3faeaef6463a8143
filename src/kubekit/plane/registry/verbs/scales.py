"""The scale subresource: one number of an object, in the shape that every scaler understands."""

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
_MOST: Final = 2**31 - 1


def scale_of(resource: Resource, document: Document) -> Document:
    """The object's autoscaling/v1 Scale. A number that the object does not have is zero."""
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
    """The object as the Scale wants it.

    A uid or version in the Scale takes the place of the object's own, so that writing the result
    fails if the Scale was read from another object or from an older one. The number goes where the
    definition says; no other part of the Scale has a meaning for the object.
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
    """The number at the path. What is no whole number there was never written through a scale."""
    found = _find(path, document)
    return found if type(found) is int else 0


def _selector(paths: Scale, document: Document) -> str:
    found = _find(paths.selector_path, document) if paths.selector_path else None
    return found if isinstance(found, str) else ""


def _find(path: str, document: Document) -> object:
    found: object = document
    for name in _names(path):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _names(path: str) -> tuple[str, ...]:
    """The fields on the way; `pathrules` takes no other paths."""
    return json_path.compile(path).fields


def _checked(scale: object) -> Document:
    """The Scale, if its parts have the types they must have."""
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
    if type(replicas) is not int or abs(replicas) > _MOST:
        raise BadRequest("spec.replicas must be a whole number of at most 32 bits")
    if replicas < 0:
        path = _paths(resource).spec_path
        error = fields.invalid(path, replicas, "should be a non-negative integer")
        raise errors.invalid(resource, document["metadata"]["name"], [error])
    return replicas


def _conditions(document: Document, wanted: Document) -> list[str]:
    """The names of what the Scale demands of the object that it is written to."""
    own, said = document["metadata"], wanted["metadata"]
    if not said.get("name"):
        raise BadRequest(
            f"the name of the object ({own['name']} based on URL) was undeterminable: "
            "name must be provided"
        )
    if said["name"] != own["name"]:
        raise BadRequest(
            f"the name of the object ({said['name']}) does not match the name on the URL "
            f"({own['name']})"
        )
    if said.get("namespace") and said["namespace"] != own.get("namespace", ""):
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    return [name for name in ("uid", "resourceVersion") if said.get(name)]
