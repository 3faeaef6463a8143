"""Validation of a document before it is stored: unknown fields, types, rules."""

from kubekit import cel
from kubekit.api import errors
from kubekit.api.errors import BadRequest
from kubekit.api.fields import FieldError, Problem
from kubekit.client.options import FieldValidation
from kubekit.client.transport import Document
from kubekit.plane.registry.encoding import Metadata
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.schema.conformance import Conformed
from kubekit.plane.registry.verbs.metadata_decoder import Received


class UndecodableDocument(BadRequest):
    """A document that does not decode as its kind: a value of another type, or an unknown field."""

    @classmethod
    def of(cls, kind: Kind, why: str) -> "UndecodableDocument":
        name = kind.resource.kind
        version = kind.resource.version
        return cls(f'{name} in version "{version}" cannot be handled as a {name}: {why}')


def typed(kind: Kind, document: Document, metadata: Metadata, old: Document | None) -> Document:
    """A copy of the client's document with its type and the registry's metadata.

    For a kind with a status subresource, the status stays that of the old document.
    """
    resource = kind.resource
    whole = {
        **document,
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": metadata,
    }
    if resource.status:
        whole.pop("status", None)
        if old is not None and "status" in old:
            whole["status"] = old["status"]
    return whole


def warnings_of(
    kind: Kind, mode: FieldValidation, received: Received, conformed: Conformed
) -> list[str]:
    """The warnings about unknown fields; with ``Strict`` they are a refusal."""
    if mode == "Ignore" or not (received.unknown or conformed.unknown):
        return []
    unknown = (*received.unknown, *(error.path for error in conformed.unknown))
    warnings = [f'unknown field "{path}"' for path in unknown]
    if mode != "Strict":
        return warnings
    raise UndecodableDocument.of(kind, f"strict decoding error: {', '.join(warnings)}")


def check_types(kind: Kind, conformed: Conformed) -> None:
    """Refuse a document that does not decode as its kind, before any other error in it."""
    _check_readable(kind, conformed)
    if kind.prepare is not None and not kind.custom and not conformed.errors:
        _check_own_types(kind, kind.prepare(conformed.document, None))


def checked(
    kind: Kind, conformed: Conformed, old: Document | None, known: list[FieldError]
) -> Document:
    """The document as it would be stored. ``known`` are errors that were found before.

    All errors are reported at once; the kind's own rules run only on what the schema accepts.
    """
    document = conformed.document
    _check_readable(kind, conformed)
    problems = known + conformed.errors
    rules = kind.rules
    if rules is not None:
        skipped = cel.unchecked(conformed.errors)
        problems += rules.errors(document, old) if skipped is None else [skipped]
    if kind.prepare is not None and not problems:
        problems = kind.prepare(document, old)
        _check_own_types(kind, problems)
    if problems:
        raise errors.invalid(kind.resource, document["metadata"]["name"], problems)
    return document


def _check_readable(kind: Kind, conformed: Conformed) -> None:
    if conformed.unreadable:
        raise UndecodableDocument.of(kind, conformed.unreadable)


def _check_own_types(kind: Kind, problems: list[FieldError]) -> None:
    """Some types of built-in kinds, such as base64, are checked only by the kind's own rules."""
    for problem in problems:
        if not kind.custom and problem.problem is Problem.TYPE_INVALID:
            raise UndecodableDocument.of(kind, str(problem))
