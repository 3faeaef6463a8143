"""Whether a document is what its request says it is: version, kind, namespace, name."""

import dataclasses

from kubekit.api import errors, fields
from kubekit.api.errors import ApiError, BadRequest
from kubekit.api.excerpt import excerpt
from kubekit.client.transport import Document
from kubekit.plane.registry.encoding import Metadata
from kubekit.plane.registry.kinds import Kind


def check_type(kind: Kind, document: object) -> Document:
    """The document, of this kind. Built-in kinds may leave out to say what they are."""
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
            f"the API version in the data ({_said(version)}) does not match the expected API "
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


def check_namespace(kind: Kind, namespace: str, given: Metadata) -> None:
    said = given.get("namespace")
    if kind.resource.namespaced and said and said != namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def check_name(name: str, given: Metadata) -> None:
    said = given.get("name")
    if not said:
        raise BadRequest(
            f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )
    if said != name:
        raise BadRequest(
            f"the name of the object ({_said(said)}) does not match the name on the URL ({name})"
        )


def _wrong_kind(kind: Kind, said: object, document: Document) -> ApiError:
    resource = kind.resource
    if not isinstance(said, str):
        return BadRequest(
            f"the object provided is unrecognized (must be of type {resource.kind}): "
            "its kind must be text"
        )
    if not kind.custom:
        return BadRequest(
            f'{_said(said)} in version "{resource.version}" cannot be handled as a {resource.kind}'
        )
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    wrong = fields.invalid("kind", said, f"must be {resource.kind}")
    return errors.invalid(
        dataclasses.replace(resource, kind=said), name if isinstance(name, str) else "", [wrong]
    )


def _said(value: object) -> str:
    return excerpt(value).strip("'\"") if isinstance(value, str) else "" if value is None else "..."
