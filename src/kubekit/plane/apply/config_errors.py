"""Validates an applied configuration, with the errors of Kubernetes.

It reports only errors that make the owned fields unclear: types, unknown fields, list entries
without a unique identity. The merged object is validated by its schema later.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kubekit.plane.apply.field_nodes import FieldNode, Free, Granular, Keyed, Leaf, Untrackable
from kubekit.plane.apply.path_elements import shown, shown_value, spelled

_MOST: Final = 100
_LONGEST: Final = 512  # characters of one

_Spell = Callable[[Any], str]
_Path = tuple["_Path", _Spell, Any] | None
"""The path to a value, step by step. It is formatted only for an error."""

Faults = Iterator[tuple[_Path, str]]


def describe_errors(node: FieldNode, document: object) -> str:
    """The errors, each with the path of its field; empty if there are none."""
    errors = []
    for path, message in _of(node, document, None):
        field = _spelled_path(path)
        errors.append(f"{field[:_LONGEST]}: {message[:_LONGEST]}" if field else message)
        if len(errors) == _MOST:
            break
    if len(errors) <= 1:
        return "".join(errors)
    return "\n".join(["errors:", *(f"  {error}" for error in errors)])


def _of(node: FieldNode | None, value: Any, path: _Path) -> Faults:  # noqa: ANN401 -- whatever JSON holds
    if value is None:
        return
    match node:
        case Free():
            yield from _of(node.of(value), value, path)
        case Granular():
            yield from _of_object(node, value, path)
        case Keyed():
            yield from _of_list(node, value, path)
        case Leaf():
            yield from _of_leaf(node, value, path)
        case _:
            pass


def _of_object(node: Granular, value: Any, path: _Path) -> Faults:  # noqa: ANN401
    if not isinstance(value, dict):
        yield path, f"expected map, got &{{{_plain(value)}}}"
        return
    for name, inner in value.items():
        below = node.fields.get(name, node.element)
        if below is None:
            yield (path, _field, name), "field not declared in schema"
        else:
            yield from _of(below, inner, (path, _field, name))


def _of_list(node: Keyed, value: Any, path: _Path) -> Faults:  # noqa: ANN401
    if not isinstance(value, list):
        yield path, f"expected list, got &{{{_plain(value)}}}"
        return
    seen = set()
    for at, entry in enumerate(value):
        try:
            step = node.step(entry)
        except Untrackable:
            yield path, f"element {at}: {_nameless(node, entry)}"
            return
        if step in seen:
            yield path, f"duplicate entries for key {shown(step)}"
        seen.add(step)
        yield from _of(node.entry, entry, (path, shown, step))


def _nameless(node: Keyed, entry: object) -> str:
    """The reason why an entry has no identity."""
    if node.keys:
        if entry is None:
            return "associative list with keys may not have a null element"
        if not isinstance(entry, dict):
            return "associative list with keys may not have non-map elements"
        keys = " ".join(map(shown_value, node.keys))
        return (
            f"associative list with keys has an element that omits all key fields [{keys}] "
            "(and doesn't have default values for any key fields)"
        )
    if isinstance(entry, list):
        return "not supported: associative list with lists as elements"
    what = "an explicit null" if entry is None else "a map type"
    return f"associative list without keys has an element that's {what}"


def _of_leaf(node: Leaf, value: Any, path: _Path) -> Faults:  # noqa: ANN401
    expected, message = _KINDS[node.kind]
    if not expected(value):
        yield path, message(value)
    elif isinstance(value, list) and node.inner is not None:
        for at, entry in enumerate(value):
            yield from _of(node.inner, entry, (path, _index, at))
    elif node.inner is not None:
        yield from _of(node.inner, value, path)


def _spelled_path(path: _Path) -> str:
    steps = []
    while path is not None:
        path, spell, step = path
        steps.append(spell(step))
    return "".join(reversed(steps))


def _field(name: str) -> str:
    return f".{name}"


def _index(at: int) -> str:
    return f"[{at}]"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _anything(_value: object) -> bool:
    return True


_KINDS: Final[Mapping[str, tuple[Callable[[object], bool], Callable[[object], str]]]] = {
    "numeric": (_is_number, lambda v: f"expected numeric (int or float), got {_type(v)}"),
    "string": (
        lambda v: isinstance(v, str),
        lambda v: f"expected string, got &value.valueUnstructured{{Value:{_literal(v)}}}",
    ),
    "boolean": (lambda v: isinstance(v, bool), lambda v: f"expected boolean, got &{{{_plain(v)}}}"),
    "untyped": (_anything, str),
    "any": (_anything, str),
    "map": (lambda v: isinstance(v, dict), lambda v: f"expected map, got &{{{_plain(v)}}}"),
    "list": (lambda v: isinstance(v, list), lambda v: f"expected list, got &{{{_plain(v)}}}"),
}


def _type(value: object) -> str:
    """The Go type of a value."""
    names = ((str, "string"), (bool, "bool"), (dict, "map[string]interface {}"))
    return next((name for kind, name in names if isinstance(value, kind)), "[]interface {}")


def _plain(value: Any) -> str:  # noqa: ANN401
    """A value as Go prints it in running text."""
    if isinstance(value, dict):
        members = sorted(value.items())
        return f"map[{' '.join(f'{name}:{_plain(inner)}' for name, inner in members)}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_plain, value))}]"
    if value is None:
        return "<nil>"
    return value if isinstance(value, str) else spelled(value)


def _literal(value: Any) -> str:  # noqa: ANN401
    """A value as a Go program would write it."""
    if isinstance(value, dict):
        members = sorted(value.items())
        inner = ", ".join(f"{shown_value(name)}:{_literal(inner)}" for name, inner in members)
        return f"map[string]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_literal, value))}}}"
    return "interface {}(nil)" if value is None else shown_value(value)
