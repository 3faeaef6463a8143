"""Raw documents against structural schemas: cleaned, completed and judged as Kubernetes would.

A server takes a document through these steps: fields the schema does not know are named or
dropped, defaults are filled in, metadata of embedded objects is read, what is left is judged. Each
step walks the schema and follows the document only as far as the schema reaches, so that no
document is nested too deeply for it. No step changes the document it was given.

Rules in CEL are carried by the schema and evaluated elsewhere.
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

    A pattern from a stranger's CRD needs one that cannot be made to run for ever. Python's ``$``
    also stands before a last newline; that of Kubernetes does not.
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
    """Everything that is wrong with the document, in the order in which Kubernetes judges it.

    A document is judged by what it would become: a field with a default is never missing, and a
    null where none may be is the same as no field at all. With ``most`` the search ends after so
    many errors.
    """
    complete = with_defaults(document, schema) if isinstance(document, dict) else document
    return faults(complete, schema, Judge(matches, most=most))


def faults(
    document: object, schema: Schema, judge: Judge, old: Document | None = None
) -> list[FieldError]:
    """Everything that is wrong with a complete document.

    What is wrong with a part that is as it was in the ``old`` document is not told: whoever changes
    something else cannot help it. That embedded objects are objects is always told. Items that are
    there twice are told only where the old document had none such anywhere.
    """
    correlated = None if old is None else Correlated(document, old, schema, root=True)
    told = judge.errors(document, schema, correlated)
    told += islice(_more(document, schema, old), judge.most)
    return told[: judge.most]


def _more(document: object, schema: Schema, old: Document | None) -> Iterator[FieldError]:
    yield from embedded_errors(document, schema)
    if old is None or next(list_errors(old, schema), None) is None:
        yield from list_errors(document, schema)
