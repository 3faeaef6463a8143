"""Whether the rules of a schema are valid, checked when it is defined."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, forbidden, invalid, not_supported, required
from kubekit.cel.costs.estimates import estimate
from kubekit.cel.costs.ranges import MOST
from kubekit.cel.programs import Program
from kubekit.cel.schema_types import REQUEST_BYTES, Declared, declared, is_embedded
from kubekit.cel.schemas.compiled import Compiled, compiled_rules
from kubekit.cel.schemas.correlation import Schema, is_keyed
from kubekit.cel.schemas.field_paths import BadPath, field_path
from kubekit.cel.schemas.rules import KEYWORD
from kubekit.cel.values import Value

RULE_LIMIT: Final = 10_000_000
SCHEMA_LIMIT: Final = 100_000_000

_REASONS: Final = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
_MOST_NAMED: Final = 4  # of the expensive rules
_NOTABLE: Final = SCHEMA_LIMIT // 100
_ADVICE: Final = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)"
)


def definition_errors(schema: Schema, path: Path) -> list[FieldError]:
    """The errors of the rules at any depth of a kind's schema.

    The schema itself must be valid: it is checked before, elsewhere.
    """
    check = _DefinitionCheck()
    check.visit(_Position(schema, path, lambda: declared(schema, is_root=True), 1))
    return [*check.errors, *check.total_errors(path)]


@dataclass(frozen=True, slots=True)
class _Position:
    """A node of the schema.

    ``most`` is how often values of it may occur in an object; None if there is no limit.
    ``uncorrelated`` is the path of a list above whose items have no identity, so that there is no old
    value for them.
    """

    schema: Schema
    path: Path
    kind: Value
    most: int | None
    uncorrelated: Path | None = None


@dataclass(slots=True)
class _DefinitionCheck:
    errors: list[FieldError] = field(default_factory=list)
    total: int = 0
    costs: list[tuple[int, Path]] = field(default_factory=list)

    def visit(self, position: _Position) -> bool:
        """Whether the rules are well-formed, here and below: only then are they compiled."""
        is_valid = not [inner for inner in _below(position) if not self.visit(inner)]
        rules = position.schema.get(KEYWORD) or ()
        form_errors = list(_form_errors(rules, position))
        self.errors += form_errors
        if rules and is_valid and not form_errors:
            self._compile(rules, position)
        return is_valid and not form_errors

    def total_errors(self, path: Path) -> Iterator[FieldError]:
        if self.total <= SCHEMA_LIMIT:
            return
        detail = (
            "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 "
            "schema"
        )
        for _, rule_path in sorted(self.costs, key=lambda cost: -cost[0])[:_MOST_NAMED]:
            yield forbidden(rule_path, detail)
        name = f"{KEYWORD} estimated rule cost total for entire OpenAPIv3 schema"
        yield forbidden(path, _cost_detail(name, self.total, SCHEMA_LIMIT))

    def _compile(self, rules: list[Schema], position: _Position) -> None:
        here = position.path.child(KEYWORD)
        kind = position.kind()
        if kind is None:
            detail = (
                "failed to construct type information for x-kubernetes-validations rules: unable "
                "to convert structural schema to CEL declarations"
            )
            self.errors.append(invalid(here, "", detail))
            return
        for index, rule in enumerate(compiled_rules(rules, kind, position.schema)):
            self._check_rule(rule, here.at(index), position, kind)

    def _check_rule(self, rule: Compiled, path: Path, position: _Position, kind: Declared) -> None:
        rule_path = path.child("rule")
        if isinstance(rule.program, Program):
            most = REQUEST_BYTES // (kind.smallest + 1) if position.most is None else position.most
            cost = estimate(rule.program.tree, kind).high * most
            self._observe("estimated rule cost", min(cost, MOST), rule_path)
        if rule.error:
            self.errors.append(invalid(rule_path, _quoted(rule.source), rule.error))
        if rule.message_error:
            message_path = path.child("messageExpression")
            self.errors.append(invalid(message_path, _quoted(rule.source), rule.message_error))
        elif rule.message is not None:
            cost = estimate(rule.message.tree, kind).high
            self._observe("estimated messageExpression cost", cost, path.child("messageExpression"))
        self.errors += _old_errors(rule, path, position)

    def _observe(self, name: str, cost: int, path: Path) -> None:
        if cost > RULE_LIMIT:
            self.errors.append(forbidden(path, _cost_detail(name, cost, RULE_LIMIT)))
        self.total = min(self.total + cost, MOST)
        if cost >= _NOTABLE:
            self.costs.append((cost, path))


def _quoted(rule: Schema) -> dict[str, Any]:
    """The rule as Kubernetes quotes it."""
    texts = {f"{name[0].upper()}{name[1:]}": rule.get(name, "") for name in _TEXTS}
    reason = rule.get("reason")
    return texts | {"Reason": reason, "OptionalOldSelf": rule.get("optionalOldSelf")}


def _old_errors(rule: Compiled, path: Path, position: _Position) -> Iterator[FieldError]:
    if not rule.uses_old:
        if rule.source.get("optionalOldSelf") is not None:
            option_path = path.child("optionalOldSelf")
            detail = "may not be set if oldSelf is not used in rule"
            yield invalid(option_path, rule.source["optionalOldSelf"], detail)
    elif position.uncorrelated is not None:
        detail = (
            "oldSelf cannot be used on the uncorrelatable portion of the schema within "
            f"{position.uncorrelated}"
        )
        yield invalid(path.child("rule"), rule.source["rule"], detail)


def _cost_detail(name: str, cost: int, limit: int) -> str:
    factor = cost / limit
    shown = "more than 100x" if factor > 100 else f"{factor:.1f}x"  # noqa: PLR2004 - in the text
    if factor < 1.5:  # noqa: PLR2004 - "1.0x" would not say that it is too much
        shown = f"{factor:f}x"
    return f"{name} exceeds budget by factor of {shown} {_ADVICE}"


def _below(position: _Position) -> Iterator[_Position]:
    """The nodes directly below, each with how often it may occur."""
    schema, path = position.schema, position.path
    most = _multiplied(position)
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        inner_path = path.child("additionalProperties")
        yield _Position(values, inner_path, _kind_of(values), most, position.uncorrelated)
    for name, inner in schema.get("properties", {}).items():
        inner_path = path.child("properties").key(name)
        yield _Position(inner, inner_path, _kind_of(inner), most, position.uncorrelated)
    items = schema.get("items")
    if isinstance(items, Mapping):
        uncorrelated = position.uncorrelated
        if uncorrelated is None and not is_keyed(schema):
            uncorrelated = path
        yield _Position(items, path.child("items"), _kind_of(items), most, uncorrelated)


def _kind_of(schema: Schema) -> Value:
    return lambda: declared(schema, is_root=is_embedded(schema))


def _multiplied(position: _Position) -> int | None:
    """How often values of the nodes below may occur."""
    schema = position.schema
    if schema.get("type") == "array":
        limit = schema.get("maxItems")
    elif schema.get("type") == "object" and schema.get("additionalProperties") is not None:
        limit = schema.get("maxProperties")
    else:
        limit = 1
    if position.most is None or limit is None:
        return None
    return min(position.most * max(int(limit), 0), MOST)


def _form_errors(rules: Value, position: _Position) -> Iterator[FieldError]:
    here = position.path.child(KEYWORD)
    if not isinstance(rules, list | tuple) or not all(isinstance(r, Mapping) for r in rules):
        yield invalid(here, rules, "must be a list of rules")
        return
    for index, rule in enumerate(rules):
        path = here.at(index)
        not_texts = [name for name in _TEXTS if not isinstance(rule.get(name, ""), str)]
        for name in not_texts:
            yield invalid(path.child(name), rule[name], "must be a string")
        if not not_texts:
            yield from _rule_errors(rule, path)
            yield from _field_path_errors(rule, path, position.schema)


_TEXTS: Final = ("rule", "message", "messageExpression", "reason", "fieldPath")


def _rule_errors(rule: Schema, path: Path) -> Iterator[FieldError]:
    message = rule.get("message", "")
    if not rule.get("rule", "").strip():
        yield required(path.child("rule"), "rule is not specified")
    elif message and not message.strip():
        yield invalid(path.child("message"), message, "must be non-empty if specified")
    elif _has_breaks(message.strip()):
        yield invalid(path.child("message"), message, "must not contain line breaks")
    elif _has_breaks(rule["rule"].strip()) and not message:
        detail = "message must be specified if rule contains line breaks"
        yield required(path.child("message"), detail)
    expression = rule.get("messageExpression", "")
    if expression and not expression.strip():
        detail = "messageExpression must be non-empty if specified"
        yield required(path.child("messageExpression"), detail)
    if rule.get("reason") is not None and rule["reason"] not in _REASONS:
        yield not_supported(path.child("reason"), rule["reason"], _REASONS)


def _field_path_errors(rule: Schema, path: Path, schema: Schema) -> Iterator[FieldError]:
    text, here = rule.get("fieldPath", ""), path.child("fieldPath")
    if text and not text.strip():
        yield invalid(here, text, "must be non-empty if specified")
    if _has_breaks(text):
        yield invalid(here, text, "must not contain line breaks")
    try:
        field_path(text, schema)
    except BadPath:
        yield invalid(here, text, "must be a valid path")


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
