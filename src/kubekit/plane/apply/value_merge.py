"""Merges a configuration into values, and removes fields from them."""

from collections import deque
from typing import Any, Final

from kubekit.plane.apply.field_nodes import FieldNode, Free, Granular, Keyed, Leaf
from kubekit.plane.apply.field_sets import LEAF, FieldSet, is_member, with_self
from kubekit.plane.apply.path_elements import SELF

_EMPTIED: Final = object()


def merged(node: FieldNode | None, live: Any, config: Any) -> Any:  # noqa: ANN401 -- whatever JSON holds
    """The live value with the configuration merged in.

    Neither is changed; the result shares both.
    """
    if isinstance(node, Free):
        return _merged_freely(node, live, config)
    if isinstance(node, Granular) and isinstance(live, dict):
        return _merged_object(node, live, config)
    if isinstance(node, Keyed) and isinstance(live, list):
        return _merged_list(node, live, config)
    return config


def without(node: FieldNode | None, value: Any, gone: FieldSet) -> Any:  # noqa: ANN401
    """The value without these fields and entries, including everything below them."""
    if isinstance(node, Free):
        node = node.of(value)
    if isinstance(node, Granular) and isinstance(value, dict):
        return _object_without(node, value, gone)
    if isinstance(node, Keyed) and isinstance(value, list):
        return _list_without(node, value, gone)
    return value


def tidied(node: FieldNode | None, before: Any, after: Any, wanted: FieldSet) -> Any:  # noqa: ANN401
    """The value without objects and lists that became empty, unless they are owned themselves."""
    if isinstance(node, Free):
        node = node.of(after)
    if after is before or not isinstance(node, Granular | Keyed):
        return after
    if isinstance(node, Keyed):
        was = {node.step(entry): entry for entry in before}
        steps = [(node.step(entry), entry) for entry in after]
        pairs = [(step, _left(node.entry, was[step], entry, wanted, step)) for step, entry in steps]
        return [left for _, left in pairs if left is not _EMPTIED]
    fields, element = node.fields, node.element
    remaining = {
        name: _left(fields.get(name, element), before[name], inner, wanted, f"f:{name}")
        for name, inner in after.items()
    }
    return {name: left for name, left in remaining.items() if left is not _EMPTIED}


def with_nulls(node: FieldNode | None, value: Any, config: Any) -> Any:  # noqa: ANN401
    """The value, with null where the configuration has null and the value was removed."""
    if config is None:
        return None if value in ({}, []) else value
    if isinstance(node, Free):
        node = node.of(value)
    if isinstance(node, Granular) and isinstance(value, dict) and isinstance(config, dict):
        configured = {name: inner for name, inner in config.items() if name in value}
        fields, element = node.fields, node.element
        return value | {
            name: with_nulls(fields.get(name, element), value[name], inner)
            for name, inner in configured.items()
        }
    if isinstance(node, Keyed) and node.keys and isinstance(value, list):
        wanted = node.indexed(config)
        return [with_nulls(node.entry, e, wanted.get(node.step(e), [e])[0]) for e in value]
    return value


def with_named(node: FieldNode | None, fields: FieldSet) -> FieldSet:
    """The set, including each enclosing object that the schema names.

    A manager that owns a field of such an object keeps the object; the entries of maps and lists
    have their own owners.
    """
    if isinstance(node, Free):
        node = node.as_object
    if isinstance(node, Granular):
        return {step: _named_field(node, step, below) for step, below in fields.items()}
    if isinstance(node, Keyed):
        return {step: with_named(node.entry, below) for step, below in fields.items()}
    return fields


def fitted(node: FieldNode | None, fields: FieldSet) -> FieldSet:
    """The set after a schema change: a value that is atomic now is owned as a whole."""
    if isinstance(node, Leaf):
        return LEAF
    if not isinstance(node, Granular | Keyed):
        return fields
    return {
        step: below if step == SELF else fitted(_child(node, step), below)
        for step, below in fields.items()
    }


def _merged_freely(node: Free, live: object, config: object) -> Any:  # noqa: ANN401
    if config is None and live:
        inner = node.of(live)
        return config if isinstance(inner, Leaf) else live
    inner = node.of(config)
    return merged(inner, live, config) if inner is node.of(live) else config


def _merged_object(node: Granular, live: dict[str, Any], config: Any) -> Any:  # noqa: ANN401
    if not config:
        return live or config
    result = dict(live)
    for name, value in config.items():
        below = node.fields.get(name, node.element)
        result[name] = merged(below, live[name], value) if name in live else value
    return result


def _merged_list(node: Keyed, live: list[Any], config: Any) -> Any:  # noqa: ANN401
    """The entries of both, in the order of the configuration.

    Entries that it does not name stay before the next entry that it names.
    """
    if not config:
        return live or config
    present = node.indexed(live)
    wanted = {node.step(entry): entry for entry in config}
    steps = [(node.step(entry), entry) for entry in live]
    shared = deque(step for step in wanted if step in present)
    result: list[Any] = []
    at = 0
    for step, entry in wanted.items():
        until = shared[0] if shared else None
        while at < len(steps) and steps[at][0] != until:
            if steps[at][0] not in wanted:
                result.append(steps[at][1])
            at += 1
        if step == until:
            shared.popleft()
            at += at < len(steps)
        same = present.get(step, ())
        result.append(merged(node.entry, same[0], entry) if len(same) == 1 else entry)
    return result + [entry for step, entry in steps[at:] if step not in wanted]


def _object_without(node: Granular, value: dict[str, Any], gone: FieldSet) -> dict[str, Any]:
    result = {}
    for name, inner in value.items():
        below = gone.get(f"f:{name}")
        if below is None:
            result[name] = inner
        elif not is_member(below):
            result[name] = without(node.fields.get(name, node.element), inner, below)
    return result


def _list_without(node: Keyed, value: list[Any], gone: FieldSet) -> list[Any]:
    result = []
    for entry in value:
        below = gone.get(node.step(entry))
        if below is None:
            result.append(entry)
        elif not is_member(below):
            result.append(without(node.entry, entry, below))
    return result


def _left(node: FieldNode | None, before: Any, after: Any, wanted: FieldSet, step: str) -> Any:  # noqa: ANN401
    """The rest of a field or entry; `_EMPTIED` if it became empty and is not owned itself."""
    below = wanted.get(step)
    left = tidied(node, before, after, below or LEAF)
    if left in ({}, []) and before not in ({}, []) and (below is None or not is_member(below)):
        return _EMPTIED
    return left


def _named_field(node: Granular, step: str, below: FieldSet) -> FieldSet:
    if not below:
        return below
    inner = with_named(_child(node, step), below)
    return with_self(inner) if step[2:] in node.fields else inner


def _child(node: Granular | Keyed, step: str) -> FieldNode | None:
    if isinstance(node, Keyed):
        return node.entry
    return node.fields.get(step[2:], node.element) if step.startswith("f:") else None
