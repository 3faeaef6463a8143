"""The rules of a schema, applied to documents.

The rules are compiled once. A document is walked only where its schema has rules.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, Problem
from kubekit.cel.errors import CompileError, CostExceeded, EvaluationError, NoSuchOverload
from kubekit.cel.operations.views import MISSING
from kubekit.cel.programs import Budget, Program
from kubekit.cel.schema_types import Declared, declared, is_embedded
from kubekit.cel.schemas.compiled import Compiled, compiled_rules
from kubekit.cel.schemas.correlation import CorrelatedValue, Schema, keyed, old_item
from kubekit.cel.values import NONE, Value, some

KEYWORD: Final = "x-kubernetes-validations"
_MOST_ERRORS: Final = 100  # more would not be read
_LONGEST_MESSAGE: Final = 5 * 1024  # bytes
_BLOCKING: Final = frozenset(
    {Problem.REQUIRED, Problem.TOO_LONG, Problem.TOO_MANY, Problem.TYPE_INVALID}
)
_PROBLEMS: Final = {
    problem.value: problem for problem in (Problem.DUPLICATE, Problem.FORBIDDEN, Problem.REQUIRED)
}
_SPENT: Final = "failed due to running out of cost budget, no further validation rules will be run"


def rules_of(schema: Schema) -> "Rules | None":
    """The rules of the schema of a kind; None if it has none at any depth."""
    root = _node(schema, declared(schema, is_root=True) if _has_rules(schema) else None)
    return None if root is None else Rules(root)


def unchecked(errors: list[FieldError]) -> FieldError | None:
    """The error in place of the rules, if the document is too malformed for them to run."""
    if not any(error.problem in _BLOCKING for error in errors):
        return None
    return FieldError(
        "<nil>",
        Problem.INVALID,
        "some validation rules were not checked because the object was invalid; correct the "
        "existing errors to complete validation",
    )


class Rules:
    """The rules of one kind."""

    def __init__(self, root: "_Node") -> None:
        self._root = root

    def errors(
        self,
        document: Value,
        old: Value = None,
        budget: Budget | None = None,
    ) -> list[FieldError]:
        """The errors that the rules find in the document.

        With an ``old`` document, rules that compare with it run too, and an error in an unchanged
        value is not reported: the value was accepted before.
        """
        walk = _Walk(budget or Budget())
        link = None if old is None else CorrelatedValue(document, old, self._root.schema)
        walk.visit(self._root, _Location(document, old, (link, None)))
        return walk.errors


@dataclass(slots=True)
class _Node:
    """The rules of a schema node, and the nodes below that have any."""

    schema: Schema
    rules: list[Compiled]
    wrap: Value
    members: dict[str, "_Node"] = field(default_factory=dict)
    values: "_Node | None" = None
    items: "_Node | None" = None
    all_of: list["_Node"] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.rules or self.members or self.values or self.items or self.all_of)


class _Location:
    """A value of the document, and its path.

    Most rules hold, so the path is assembled only for an error. ``parent`` is the nearest correlated
    value above.
    """

    __slots__ = ("_above", "_step", "link", "old", "parent", "value")

    def __init__(
        self,
        value: Value,
        old: Value,
        links: "tuple[CorrelatedValue | None, CorrelatedValue | None]",
        above: "_Location | None" = None,
        step: "_Step | None" = None,
    ) -> None:
        self.value = value
        self.old = old
        self.link, self.parent = links
        self._above = above
        self._step = step

    @property
    def path(self) -> Path:
        if self._above is None or self._step is None:
            return Path()
        extend, name = self._step
        return extend(self._above.path, name)

    def beside(self) -> "_Location":
        """The same position for other rules, without the correlation of its own value."""
        return _Location(self.value, self.old, (None, self.parent), self._above, self._step)

    def is_unchanged(self) -> bool:
        link = self.link or self.parent
        return link is not None and link.unchanged()


_Step = tuple[Callable[[Path, Any], Path], Any]


class _Stop(Exception):
    """The budget is spent, or there are enough errors."""


class _Walk:
    def __init__(self, budget: Budget) -> None:
        self.errors: list[FieldError] = []
        self._budget = budget

    def visit(self, node: _Node, location: _Location) -> None:
        try:
            self._visit(node, location)
        except _Stop:
            return

    def _visit(self, node: _Node, location: _Location) -> None:
        value = location.value
        if value is None:
            return
        if node.rules:
            self._run_rules(node, location)
        for other in node.all_of:
            self._visit(other, location.beside())
        if type(value) is dict:
            if node.members:
                self._members(node.members, location)
            if node.values is not None:
                self._values(node.values, location)
        elif type(value) is list and node.items is not None:
            self._items(node.items, node, location)

    def _members(self, members: dict[str, _Node], location: _Location) -> None:
        old = location.old if type(location.old) is dict else {}
        for key, inner in members.items():
            value = location.value.get(key)
            if value is not None:
                links, step = _member_links(location, key), (Path.child, key)
                self._visit(inner, _Location(value, old.get(key), links, location, step))

    def _values(self, inner: _Node, location: _Location) -> None:
        old = location.old if type(location.old) is dict else {}
        for key, value in location.value.items():
            links, step = _member_links(location, key), (Path.key, key)
            self._visit(inner, _Location(value, old.get(key), links, location, step))

    def _items(self, inner: _Node, node: _Node, location: _Location) -> None:
        old = keyed(node.schema, location.old)
        for position, value in enumerate(location.value):
            links = (location.link, location.parent)
            if location.link is not None:
                links = (location.link.item(position), location.link)
            before = old_item(node.schema, old, value)
            self._visit(inner, _Location(value, before, links, location, (Path.at, position)))

    def _run_rules(self, node: _Node, location: _Location) -> None:
        if self._budget.remaining <= 0:
            raise self._spent(location, node)
        if len(self.errors) >= _MOST_ERRORS:
            raise _Stop
        view = node.wrap(location.value)
        before = MISSING if location.old is None else node.wrap(location.old)
        for rule in node.rules:
            if isinstance(rule.program, CompileError):
                self._add(location, node, f"rule compile error: {rule.error}")
            elif rule.program is not None:
                self._run_rule(rule, node, location, (view, before))

    def _run_rule(
        self, rule: Compiled, node: _Node, location: _Location, views: tuple[Any, Any]
    ) -> None:
        values = _values(rule, views)
        if values is None:
            return
        assert isinstance(rule.program, Program)
        try:
            holds = rule.program.run(values, self._budget)
        except CostExceeded as error:
            raise self._stopped(rule, node, location, error) from error
        except EvaluationError as error:
            self._add(location, node, _failure_words(rule, error))
            return
        if holds is not True:
            refusal = self._refusal(rule, node, location, values)
            if rule.uses_old or not location.is_unchanged():
                self.errors.append(refusal)

    def _refusal(
        self, rule: Compiled, node: _Node, location: _Location, values: tuple[Any, ...]
    ) -> FieldError:
        path = _shown(location.path)
        if rule.field_path:
            path = f"{location.path}.{rule.field_path}".removeprefix(".")
        try:
            detail = self._message(rule, values)
        except CostExceeded as error:
            detail = f"messageExpression evaluation {_SPENT}"
            if not error.budget:
                detail = (
                    "no further validation rules will be run due to call cost exceeds limit for "
                    f'messageExpression: "{rule.source.get("messageExpression", "")}"'
                )
            self.errors.append(FieldError(path, Problem.INVALID, detail, _type_word(node)))
            raise _Stop from error
        problem = _PROBLEMS.get(rule.source.get("reason", ""), Problem.INVALID)
        return FieldError(
            path, problem, "" if problem is Problem.DUPLICATE else detail, _type_word(node)
        )

    def _message(self, rule: Compiled, values: tuple[Any, ...]) -> str:
        """The message of the rule: the value of its message expression, if it is valid."""
        if rule.message is not None:
            try:
                message = str(rule.message.run(values, self._budget)).strip()
            except EvaluationError:
                return rule.message_text
            if message and "\n" not in message and len(message.encode()) <= _LONGEST_MESSAGE:
                return message
        return rule.message_text

    def _add(self, location: _Location, node: _Node, detail: str) -> None:
        error = FieldError(_shown(location.path), Problem.INVALID, detail, _type_word(node))
        self.errors.append(error)

    def _stopped(
        self, rule: Compiled, node: _Node, location: _Location, error: CostExceeded
    ) -> _Stop:
        if error.budget:
            return self._spent(location, node)
        self._add(
            location,
            node,
            f"'{error}': no further validation rules will be run due to call cost exceeds limit "
            f"for rule: {rule.name}",
        )
        return _Stop()

    def _spent(self, location: _Location, node: _Node) -> _Stop:
        self._add(location, node, f"validation {_SPENT}")
        return _Stop()


def _values(rule: Compiled, views: tuple[Any, Any]) -> tuple[Any, Any] | None:
    """The values of ``self`` and ``oldSelf``; None if the rule needs an old value and there is none."""
    view, before = views
    if rule.is_optional:
        return view, NONE if before is MISSING else some(before)
    return None if rule.uses_old and before is MISSING else (view, before)


def _failure_words(rule: Compiled, error: EvaluationError) -> str:
    if isinstance(error, NoSuchOverload):
        return (
            f"'{error}': call arguments did not match a supported operator, function or macro "
            f"signature for rule: {rule.name}"
        )
    return f"{error} evaluating rule: {rule.name}"


def _member_links(
    location: _Location, key: str
) -> tuple[CorrelatedValue | None, CorrelatedValue | None]:
    link = location.link
    if link is None:
        return None, location.parent
    if location.parent is None and key in ("apiVersion", "kind"):
        return None, None
    return link.member(key), link


def _shown(path: Path) -> str:
    """The path as Kubernetes shows it; the path of the whole object is ``<nil>``."""
    return path or "<nil>"


def _type_word(node: _Node) -> str:
    return str(node.schema.get("type", ""))


def _has_rules(schema: Schema) -> bool:
    return bool(schema.get(KEYWORD)) or any(_has_rules(inner) for inner in _inside(schema))


def _inside(schema: Schema) -> Iterator[Schema]:
    yield from schema.get("properties", {}).values()
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), Mapping):
            yield schema[keyword]


def _node(schema: Schema, kind: Declared | None, extra: Schema | None = None) -> _Node | None:
    """The node with its rules. For ``extra``, a part of an ``allOf``, it has the rules of that part."""
    if kind is None:
        return None
    source = schema if extra is None else extra
    node = _Node(schema, compiled_rules(source.get(KEYWORD, ()), kind, schema), kind.wrap)
    for key, inner in source.get("properties", {}).items():
        child = _member(schema, kind, key, None if extra is None else inner)
        if child is not None:
            node.members[key] = child
    node.items = _element(schema, kind, source, "items")
    node.values = _element(schema, kind, source, "additionalProperties")
    for part in source.get("allOf", ()):
        child = _node(schema, kind, part)
        if child is not None:
            node.all_of.append(child)
    return None if node.is_empty else node


def _member(schema: Schema, kind: Declared, key: str, extra: Schema | None) -> _Node | None:
    inner = schema.get("properties", {}).get(key)
    if inner is None or not (_has_rules(inner) if extra is None else True):
        return None
    member_kind = kind.member(key)
    if member_kind is None:
        member_kind = declared(inner, is_root=is_embedded(inner))
    return _node(inner, member_kind, extra)


def _element(schema: Schema, kind: Declared, source: Schema, keyword: str) -> _Node | None:
    inner, extra = schema.get(keyword), source.get(keyword)
    if not isinstance(inner, Mapping) or not isinstance(extra, Mapping):
        return None
    return _node(inner, kind.element, None if source is schema else extra)
