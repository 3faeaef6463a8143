"""A whole value against a node of a structural schema, and all that lies inside both.

Everything is judged in the order in which Kubernetes does it. Of the schemas in ``anyOf`` and
``oneOf`` that do not fit, the errors of the one that fits best are told: that which made the most
checks. So each verdict counts the checks, as Kubernetes counts them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, invalid, required
from kubekit.api.structural.correlation import Correlated
from kubekit.api.structural.formats import check_of
from kubekit.api.structural.nodes import Document, Schema, Spend, freely, tokens
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

NOWHERE: Final = "<nil>"  # where Kubernetes says that alternatives do not fit
_ALWAYS: Final = 4  # the checks that every value takes: alternatives twice, enum, the end
_PRICE: Final = 8  # microseconds that the checks of one value take
_WORDS: Final = 4  # of an enum, or of required names, that are looked for in one more
_PLAIN_CHECKS: Final = {str: _ALWAYS + 3, bool: _ALWAYS + 2}


@dataclass(slots=True)
class ValidationResult:
    """What is wrong, each thing once, and how many checks were made."""

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
    """How patterns are matched, whether integers have so many bits, and when to stop looking.

    Whoever has ``most`` errors is told no more: a list of a million wrong items takes long to
    tell, and nobody reads it. ``spend`` hears how long it takes, and may raise to end it.
    """

    matches: Matcher
    native: bool = False
    most: int | None = None
    spend: Spend = freely

    def errors(
        self, document: object, schema: Schema, old: Correlated | None = None
    ) -> list[FieldError]:
        """What is wrong with a document, but for what was so in the ``old`` one already."""
        found = [*self._ratcheted(Path(), document, schema, old).found.values()]
        return found[: self.most]

    def accepts(self, value: object, schema: Schema) -> bool:
        """Whether nothing is wrong with a part of a document."""
        return not self._judged(Path("value"), value, schema, None).found

    def _ratcheted(
        self, path: Path, value: object, schema: Schema, old: Correlated | None
    ) -> ValidationResult:
        verdict = self._judged(path, value, schema, old)
        if verdict.found and old is not None and old.is_unchanged():
            verdict.found = {}
        return verdict

    def _judged(
        self, path: Path, value: object, schema: Schema, old: Correlated | None
    ) -> ValidationResult:
        words = len(schema.get("enum") or ()) + len(schema.get("required") or ())
        self.spend(_PRICE + words // _WORDS)
        wrong_type = type_error(path, value, schema, native=self.native)
        verdict = ValidationResult()
        verdict.add((wrong_type,))
        if value is None:
            verdict.add((enum_error(path, value, schema),))
            verdict.checks = wrong_type is None
            return verdict
        verdict.checks = _ALWAYS + (2 - (wrong_type is not None) if is_typed(schema) else 0)
        self._alternatives(verdict, path, value, schema, old)
        if isinstance(value, str):
            self._text(verdict, path, value, schema)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            verdict.add(number_errors(path, value, schema))
            verdict.checks += 2
        elif isinstance(value, list):
            self._items(verdict, path, value, schema, old)
        verdict.add((enum_error(path, value, schema),))
        if isinstance(value, dict):
            self._members(verdict, path, value, schema, old)
        return verdict

    def _text(self, verdict: ValidationResult, path: Path, value: str, schema: Schema) -> None:
        verdict.add((text_error(path, value, schema, self.matches),))
        verdict.add((format_error(path, value, schema),))
        verdict.checks += 1 + (check_of(schema.get("format")) is not None)

    def _items(
        self,
        verdict: ValidationResult,
        path: Path,
        value: list[Any],
        schema: Schema,
        old: Correlated | None,
    ) -> None:
        items = schema.get("items")
        if items is not None:
            for position, item in enumerate(value):
                if is_plain(item, items):
                    verdict.checks += _PLAIN_CHECKS[type(item)]
                    continue
                before = None if old is None else old.item(position)
                verdict.merge(self._ratcheted(path.at(position), item, items, before))
                if self._is_enough(verdict):
                    return
        verdict.add(size_errors(path, len(value), schema, "items"))
        if schema.get("uniqueItems") and len({(*tokens(item),) for item in value}) < len(value):
            detail = f"{path} in body shouldn't contain duplicates"
            verdict.add((invalid(path, "", detail),))
        verdict.checks += 2

    def _members(
        self,
        verdict: ValidationResult,
        path: Path,
        value: Document,
        schema: Schema,
        old: Correlated | None,
    ) -> None:
        verdict.checks += 1
        verdict.add(size_errors(path, len(value), schema, "properties"))
        named, others = schema.get("properties", {}), schema.get("additionalProperties")
        for name, given in value.items():
            inner = named.get(name, others)
            if inner is False:
                detail = f"{path}.{name} in body is a forbidden property"
                verdict.add((invalid(path, name, detail),))
            if inner is None or isinstance(inner, bool):
                continue
            if is_plain(given, inner):
                verdict.checks += _PLAIN_CHECKS[type(given)]
                continue
            before = None if old is None else old.member(name)
            verdict.merge(self._ratcheted(path.child(str(name)), given, inner, before))
            if self._is_enough(verdict):
                return
        verdict.add(required(path.child(n)) for n in schema.get("required", ()) if n not in value)

    def _is_enough(self, verdict: ValidationResult) -> bool:
        return self.most is not None and len(verdict.found) >= self.most

    def _alternatives(
        self,
        verdict: ValidationResult,
        path: Path,
        value: object,
        schema: Schema,
        old: Correlated | None,
    ) -> None:
        def judged(keyword: str) -> list[ValidationResult]:
            return [self._judged(path, value, inner, old) for inner in schema.get(keyword) or ()]

        if tried := judged("anyOf"):
            _take_any(verdict, path, tried)
        if tried := judged("oneOf"):
            _take_one(verdict, path, tried)
        if tried := judged("allOf"):
            _take_all(verdict, path, tried)
        refused = schema.get("not")
        if refused is not None and not self._judged(path, value, refused, old).found:
            verdict.add((_unfit(path, "must not validate the schema (not)"),))


def _take_any(verdict: ValidationResult, path: Path, tried: list[ValidationResult]) -> None:
    fitting = next((one for one in tried if not one.found), None)
    if fitting is None:
        verdict.add((_unfit(path, "must validate at least one schema (anyOf)"),))
    verdict.merge(fitting or _best(tried))


def _take_one(verdict: ValidationResult, path: Path, tried: list[ValidationResult]) -> None:
    fitting = [one for one in tried if not one.found]
    if len(fitting) == 1:
        verdict.merge(fitting[0])
        return
    how_many = f"Found {len(fitting)} valid alternatives" if fitting else "Found none valid"
    verdict.add((_unfit(path, f"must validate one and only one schema (oneOf). {how_many}"),))
    if not fitting:
        verdict.merge(_best(tried))


def _take_all(verdict: ValidationResult, path: Path, tried: list[ValidationResult]) -> None:
    for one in tried:
        verdict.merge(one)
    unfit = sum(bool(one.found) for one in tried)
    if unfit:
        none = ". None validated" if unfit == len(tried) else ""
        verdict.add((_unfit(path, f"must validate all the schemas (allOf){none}"),))


def _best(tried: list[ValidationResult]) -> ValidationResult:
    """The first of those that made the most checks."""
    return max(tried, key=lambda one: one.checks)


def _unfit(path: Path, words: str) -> FieldError:
    return invalid(NOWHERE, "", f'"{path}" {words}')
