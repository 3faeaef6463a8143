"""Checks that a document matches its request: version, kind, namespace, name."""

import msgspec

from kubekit.api import errors, fields
from kubekit.api.errors import ApiError, BadRequest
from kubekit.api.excerpt import excerpt
from kubekit.client.transport import Document
from kubekit.plane.registry.encoding import Metadata
from kubekit.plane.registry.kinds import Kind


def check_type(kind: Kind, document: object) -> Document:
    """The document, if it is of this kind. Built-in kinds may omit apiVersion and kind."""
    if not isinstance(document, dict):
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {kind.resource.kind})"
        )
    resource = kind.resource
    version, name = document.get("apiVersion"), document.get("kind")
    if version == resource.api_version and name == resource.kind:
        return document
    if not kind.custom:
        version, name = version or resource.api_version, name or resource.kind
    if version != resource.api_version:
        raise BadRequest(
            f"the API version in the data ({_shown(version)}) does not match the expected API "
            f"version ({resource.api_version})"
        )
    if not name:
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {resource.kind}): "
            "Object 'Kind' is missing"
        )
    if name != resource.kind:
        raise _wrong_kind(kind, name, document)
    return document


def check_namespace(kind: Kind, namespace: str, sent: Metadata) -> None:
    named = sent.get("namespace")
    if kind.resource.namespaced and named and named != namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def check_name(name: str, sent: Metadata) -> None:
    named = sent.get("name")
    if not named:
        raise BadRequest(
            f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )
    if named != name:
        raise BadRequest(
            f"the name of the object ({_shown(named)}) does not match the name on the URL ({name})"
        )


def _wrong_kind(kind: Kind, named: object, document: Document) -> ApiError:
    resource = kind.resource
    if not isinstance(named, str):
        return BadRequest(
            f"the object provided is unrecognized (must be of type {resource.kind}): "
            "its kind must be text"
        )
    if not kind.custom:
        return BadRequest(
            f'{_shown(named)} in version "{resource.version}" cannot be handled as a {resource.kind}'
        )
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    wrong = fields.invalid("kind", named, f"must be {resource.kind}")
    return errors.invalid(
        msgspec.structs.replace(resource, kind=named),
        name if isinstance(name, str) else "",
        [wrong],
    )


def _shown(value: object) -> str:
    return excerpt(value).strip("'\"") if isinstance(value, str) else "" if value is None else "..."
