"""A whole value against a node of a structural schema, with all members of both.

The order of the checks is that of Kubernetes. If no schema in ``anyOf`` or ``oneOf`` matches, the
errors of the best one are reported: the one with the most checks. So each result counts the checks, as
Kubernetes does.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, invalid, required
from kubekit.api.structural.correlation import Correlated
from kubekit.api.structural.formats import check_of
from kubekit.api.structural.nodes import Document, Schema, Spend, tokens, unlimited
from kubekit.api.structural.values import (
    Matcher,
    enum_error,
    format_error,
    is_plain,
    is_typed,
    number_errors,
    size_errors,
    text_error,
    type_error,
)

NOWHERE: Final = "<nil>"  # the path of errors about alternatives in Kubernetes
_ALWAYS: Final = 4  # the checks that every value takes: alternatives twice, enum, the end
_PRICE: Final = 8  # microseconds that the checks of one value take
_WORDS: Final = 4  # of an enum or of required names; checking them takes one more microsecond
_PLAIN_CHECKS: Final = {str: _ALWAYS + 3, bool: _ALWAYS + 2}


@dataclass(slots=True)
class ValidationResult:
    """The errors, each once, and the number of checks."""

    found: dict[tuple[str, str, str], FieldError] = field(default_factory=dict)
    checks: int = 0

    def add(self, errors: Iterable[FieldError | None]) -> None:
        for error in errors:
            if error is not None:
                self.found.setdefault((error.path, error.problem, error.detail), error)

    def merge(self, other: "ValidationResult") -> None:
        self.found = {**self.found, **other.found} if other.found else self.found
        self.checks += other.checks


@dataclass(frozen=True, slots=True)
class Judge:
    """Validates documents: how patterns are matched, whether integers have a width, and the limits.

    The validation ends after ``most`` errors, because a message about a million wrong items is useless.
    ``spend`` is called with the time of each step, and may raise to end it.
    """

    matches: Matcher
    native: bool = False
    most: int | None = None
    spend: Spend = unlimited

    def errors(
        self, document: object, schema: Schema, old: Correlated | None = None
    ) -> list[FieldError]:
        """The errors of a document, except those in parts unchanged since the ``old`` one."""
        found = [*self._ratcheted(Path(), document, schema, old).found.values()]
        return found[: self.most]

    def accepts(self, value: object, schema: Schema) -> bool:
        """Whether a part of a document is valid."""
        return not self._validated(Path("value"), value, schema, None).found

    def _ratcheted(
        self, path: Path, value: object, schema: Schema, old: Correlated | None
    ) -> ValidationResult:
        result = self._validated(path, value, schema, old)
        if result.found and old is not None and old.is_unchanged():
            result.found = {}
        return result

    def _validated(
        self, path: Path, value: object, schema: Schema, old: Correlated | None
    ) -> ValidationResult:
        words = len(schema.get("enum") or ()) + len(schema.get("required") or ())
        self.spend(_PRICE + words // _WORDS)
        wrong_type = type_error(path, value, schema, native=self.native)
        result = ValidationResult()
        result.add((wrong_type,))
        if value is None:
            result.add((enum_error(path, value, schema),))
            result.checks = wrong_type is None
            return result
        result.checks = _ALWAYS + (2 - (wrong_type is not None) if is_typed(schema) else 0)
        self._alternatives(result, path, value, schema, old)
        if isinstance(value, str):
            self._text(result, path, value, schema)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            result.add(number_errors(path, value, schema))
            result.checks += 2
        elif isinstance(value, list):
            self._items(result, path, value, schema, old)
        result.add((enum_error(path, value, schema),))
        if isinstance(value, dict):
            self._members(result, path, value, schema, old)
        return result

    def _text(self, result: ValidationResult, path: Path, value: str, schema: Schema) -> None:
        result.add((text_error(path, value, schema, self.matches),))
        result.add((format_error(path, value, schema),))
        result.checks += 1 + (check_of(schema.get("format")) is not None)

    def _items(
        self,
        result: ValidationResult,
        path: Path,
        value: list[Any],
        schema: Schema,
        old: Correlated | None,
    ) -> None:
        items = schema.get("items")
        if items is not None:
            for position, item in enumerate(value):
                if is_plain(item, items):
                    result.checks += _PLAIN_CHECKS[type(item)]
                    continue
                before = None if old is None else old.item(position)
                result.merge(self._ratcheted(path.at(position), item, items, before))
                if self._is_enough(result):
                    return
        result.add(size_errors(path, len(value), schema, "items"))
        if schema.get("uniqueItems") and len({(*tokens(item),) for item in value}) < len(value):
            detail = f"{path} in body shouldn't contain duplicates"
            result.add((invalid(path, "", detail),))
        result.checks += 2

    def _members(
        self,
        result: ValidationResult,
        path: Path,
        value: Document,
        schema: Schema,
        old: Correlated | None,
    ) -> None:
        result.checks += 1
        result.add(size_errors(path, len(value), schema, "properties"))
        named, others = schema.get("properties", {}), schema.get("additionalProperties")
        for name, member_value in value.items():
            inner = named.get(name, others)
            if inner is False:
                detail = f"{path}.{name} in body is a forbidden property"
                result.add((invalid(path, name, detail),))
            if inner is None or isinstance(inner, bool):
                continue
            if is_plain(member_value, inner):
                result.checks += _PLAIN_CHECKS[type(member_value)]
                continue
            before = None if old is None else old.member(name)
            result.merge(self._ratcheted(path.child(str(name)), member_value, inner, before))
            if self._is_enough(result):
                return
        result.add(required(path.child(n)) for n in schema.get("required", ()) if n not in value)

    def _is_enough(self, result: ValidationResult) -> bool:
        return self.most is not None and len(result.found) >= self.most

    def _alternatives(
        self,
        result: ValidationResult,
        path: Path,
        value: object,
        schema: Schema,
        old: Correlated | None,
    ) -> None:
        def validated(keyword: str) -> list[ValidationResult]:
            return [self._validated(path, value, inner, old) for inner in schema.get(keyword) or ()]

        if results := validated("anyOf"):
            _take_any(result, path, results)
        if results := validated("oneOf"):
            _take_one(result, path, results)
        if results := validated("allOf"):
            _take_all(result, path, results)
        refused = schema.get("not")
        if refused is not None and not self._validated(path, value, refused, old).found:
            result.add((_unfit(path, "must not validate the schema (not)"),))


def _take_any(result: ValidationResult, path: Path, results: list[ValidationResult]) -> None:
    valid = next((candidate for candidate in results if not candidate.found), None)
    if valid is None:
        result.add((_unfit(path, "must validate at least one schema (anyOf)"),))
    result.merge(valid or _best(results))


def _take_one(result: ValidationResult, path: Path, results: list[ValidationResult]) -> None:
    valid = [candidate for candidate in results if not candidate.found]
    if len(valid) == 1:
        result.merge(valid[0])
        return
    outcome = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
    result.add((_unfit(path, f"must validate one and only one schema (oneOf). {outcome}"),))
    if not valid:
        result.merge(_best(results))


def _take_all(result: ValidationResult, path: Path, results: list[ValidationResult]) -> None:
    for part in results:
        result.merge(part)
    unfit = sum(bool(part.found) for part in results)
    if unfit:
        none = ". None validated" if unfit == len(results) else ""
        result.add((_unfit(path, f"must validate all the schemas (allOf){none}"),))


def _best(results: list[ValidationResult]) -> ValidationResult:
    """The first result with the most checks."""
    return max(results, key=lambda candidate: candidate.checks)


def _unfit(path: Path, requirement: str) -> FieldError:
    return invalid(NOWHERE, "", f'"{path}" {requirement}')
