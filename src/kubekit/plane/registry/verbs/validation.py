"""What a document becomes before it is stored, or why it is refused."""

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
    """A document that is none of its kind: a value of another type, or a field nobody knows."""

    @classmethod
    def of(cls, kind: Kind, why: str) -> "UndecodableDocument":
        name = kind.resource.kind
        version = kind.resource.version
        return cls(f'{name} in version "{version}" cannot be handled as a {name}: {why}')


def typed(kind: Kind, document: Document, metadata: Metadata, old: Document | None) -> Document:
    """What a client wants stored: his document with our metadata, a document of its own.

    Where the kind has a status subresource, the status is not his to change here.
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
    """The warnings about fields that nobody knows; with ``Strict`` they are a refusal."""
    if mode == "Ignore" or not (received.unknown or conformed.unknown):
        return []
    unknown = (*received.unknown, *(error.path for error in conformed.unknown))
    told = [f'unknown field "{path}"' for path in unknown]
    if mode != "Strict":
        return told
    raise UndecodableDocument.of(kind, f"strict decoding error: {', '.join(told)}")


def check_types(kind: Kind, conformed: Conformed) -> None:
    """Refuse a document that is no document of its kind at all, whatever else is wrong with it."""
    _check_readable(kind, conformed)
    if kind.prepare is not None and not kind.custom and not conformed.errors:
        _check_own_types(kind, kind.prepare(conformed.document, None))


def checked(
    kind: Kind, conformed: Conformed, old: Document | None, found: list[FieldError]
) -> Document:
    """The document as it would be stored. ``found`` is what is wrong already.

    All that is wrong is told at once; the kind's own rules see only what the schema lets pass.
    """
    document = conformed.document
    _check_readable(kind, conformed)
    problems = found + conformed.errors
    rules = kind.rules
    if rules is not None:
        unasked = cel.unchecked(conformed.errors)
        problems += rules.errors(document, old) if unasked is None else [unasked]
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
    """Some types of built-in kinds, such as base64, only the kind's own rules can tell."""
    for problem in problems:
        if not kind.custom and problem.problem is Problem.TYPE_INVALID:
            raise UndecodableDocument.of(kind, str(problem))
