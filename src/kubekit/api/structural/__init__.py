"""Raw documents against structural schemas: pruned, defaulted and validated as in Kubernetes.

A server takes a document through these steps: unknown fields are reported or dropped, defaults are
filled in, the metadata of embedded objects is read, and the result is validated. Each step walks the
schema and follows the document only as far as the schema reaches, so no document is nested too deeply
for it. No step changes its input.

Rules in CEL are part of the schema and evaluated elsewhere.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from kubekit.api.fields import FieldError
from kubekit.api.structural.correlation import Correlated
from kubekit.api.structural.defaults import with_defaults
from kubekit.api.structural.embedded_objects import Coerced, coerced, embedded_errors
from kubekit.api.structural.lists import list_errors
from kubekit.api.structural.nodes import Document, Schema
from kubekit.api.structural.pruning import prune, unknown_fields
from kubekit.api.structural.validation import Judge
from kubekit.api.structural.values import Matcher

__all__ = [
    "Coerced",
    "Document",
    "Judge",
    "Matcher",
    "Schema",
    "coerced",
    "exact",
    "faults",
    "found",
    "prune",
    "unknown_fields",
    "validate",
    "with_defaults",
]


def found(pattern: str, text: str) -> bool:
    """The matcher for patterns that we wrote ourselves.

    A pattern from a foreign CRD needs a matcher without catastrophic backtracking. Python's ``$`` also
    matches before a final newline; that of Kubernetes does not.
    """
    return re.search(exact(pattern), text, re.ASCII) is not None


@cache
def exact(pattern: str) -> str:
    """The pattern with a true end for each ``$`` that is an anchor: not escaped, not in a class."""
    parts = re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", pattern, re.DOTALL)
    return "".join(r"\Z" if part == "$" else part for part in parts)


def validate(
    document: object, schema: Schema, *, matches: Matcher = found, most: int | None = None
) -> list[FieldError]:
    """Everything that is wrong with the document, in the order of Kubernetes.

    Defaults are applied first: a field with a default is never missing, and a null where none is
    allowed counts as an absent field. With ``most`` the validation ends after so many errors.
    """
    complete = with_defaults(document, schema) if isinstance(document, dict) else document
    return faults(complete, schema, Judge(matches, most=most))


def faults(
    document: object, schema: Schema, judge: Judge, old: Document | None = None
) -> list[FieldError]:
    """Everything that is wrong with a complete document.

    An error in a part that did not change since the ``old`` document is not reported, because it is not
    the fault of this change. Errors in the identity of embedded objects are always reported. Duplicate
    items are reported only if the old document had none anywhere.
    """
    correlated = None if old is None else Correlated(document, old, schema, root=True)
    errors = judge.errors(document, schema, correlated)
    errors += islice(_embedded_and_list_errors(document, schema, old), judge.most)
    return errors[: judge.most]


def _embedded_and_list_errors(
    document: object, schema: Schema, old: Document | None
) -> Iterator[FieldError]:
    yield from embedded_errors(document, schema)
    if old is None or next(list_errors(old, schema), None) is None:
        yield from list_errors(document, schema)
