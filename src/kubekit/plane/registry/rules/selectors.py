"""Validates a label selector in a document."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, forbidden, invalid, required
from kubekit.api.selectors import label_syntax

_OF_SETS: Final = frozenset({"In", "NotIn"})
_OF_PRESENCE: Final = frozenset({"Exists", "DoesNotExist"})


def selector_errors(selector: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    """One error for each invalid label, operator or value."""
    labels = path.child("matchLabels")
    for key, value in (selector.get("matchLabels") or {}).items():
        yield from _key_errors(key, labels)
        yield from _value_errors(value, labels)
    expressions = path.child("matchExpressions")
    for position, expression in enumerate(selector.get("matchExpressions") or ()):
        yield from _expression_errors(expression, expressions.at(position))


def _expression_errors(expression: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    operator, values = expression["operator"], expression.get("values") or ()
    if operator in _OF_SETS and not values:
        message = "must be specified when `operator` is 'In' or 'NotIn'"
        yield required(path.child("values"), message)
    elif operator in _OF_PRESENCE and values:
        message = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield forbidden(path.child("values"), message)
    elif operator not in _OF_SETS | _OF_PRESENCE:
        yield invalid(path.child("operator"), operator, "not a valid selector operator")
    yield from _key_errors(expression["key"], path.child("key"))
    for position, value in enumerate(values):
        yield from _value_errors(value, path.child("values").at(position))


def _key_errors(key: str, path: Path) -> Iterator[FieldError]:
    if fault := label_syntax.key_fault(key):
        yield invalid(path, key, fault)


def _value_errors(value: str, path: Path) -> Iterator[FieldError]:
    if fault := label_syntax.value_fault(value):
        yield invalid(path, value, fault)
