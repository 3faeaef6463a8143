"""Everything that is wrong with a document of any kind before it is sent to a server.

A server drops a field that it does not know. A user who misspelled one must learn it, so unknown
fields are errors here.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, Final

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide.validation import review_document
from kubekit.api import structural
from kubekit.api.fields import FieldError, Path, forbidden, required
from kubekit.api.meta import Object, ObjectMeta
from kubekit.api.schema import schema_of

_MADE: Final = (WorkloadDeployment, Instance)
_METADATA: Final = Path("metadata")
_NAME: Final = _METADATA.child("name")
_WRONG_TYPE: Final = re.compile(r" in body (must be of type \w+): \"\w+\"(.*)")
_SERVER_OWNED: Final = frozenset({"managedFields", "selfLink"})


def document_errors(
    kind: type[Object],
    document: Mapping[str, Any],
    *,
    cities: Collection[str] = (),
    old: Workload | None = None,
) -> tuple[FieldError, ...]:
    """The errors of a document without a status. ``cities`` and ``old`` are for a Workload."""
    if kind in _MADE:
        problem = f"the platform makes each {kind.RESOURCE.kind} from a Workload; write that"
        return (forbidden("kind", problem),)
    unknown = [*structural.unknown_fields(dict(document), _schema(kind)), *_in_metadata(document)]
    if kind is Workload:
        errors = review_document(document, cities=cities, old=old).errors
    else:
        errors = (*_nameless(document), *structural.validate(dict(document), _schema(kind)))
    return (*unknown, *errors)


def sentence(error: FieldError) -> str:
    """The error with its field, which the wording of Kubernetes sometimes names twice."""
    if error.detail.startswith("unknown field"):
        return error.detail
    wrong_type = _WRONG_TYPE.search(error.detail)
    if wrong_type:
        return f"{error.path}: {wrong_type[1]}{wrong_type[2]}"
    return str(error)


def _in_metadata(document: Mapping[str, Any]) -> list[FieldError]:
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        return []
    submitted = {name: value for name, value in metadata.items() if name not in _SERVER_OWNED}
    return structural.unknown_fields(submitted, _schema(ObjectMeta), _METADATA)


def _nameless(document: Mapping[str, Any]) -> list[FieldError]:
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return [] if name else [required(_NAME, "name the object")]


@cache
def _schema(shape: type[Object | ObjectMeta]) -> structural.Schema:
    return schema_of(shape, _undocumented)


def _undocumented(_: type) -> Mapping[str, str]:
    return {}
