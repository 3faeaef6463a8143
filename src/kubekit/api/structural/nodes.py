"""The members of an object in a structural schema, and the comparison of values."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]
Document = dict[str, Any]
Spend = Callable[[float], None]
"""A function that is called with the microseconds that a step will take; it may raise to end it."""

EMBEDDED: Final = "x-kubernetes-embedded-resource"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
LIST_KEYS: Final = "x-kubernetes-list-map-keys"
LIST_TYPE: Final = "x-kubernetes-list-type"
PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_DEEPEST_SHOWN: Final = 20
OBJECT_FIELDS: Final = ("apiVersion", "kind", "metadata")


def unlimited(_microseconds: float) -> None:
    """Set no time limit."""


def describes_objects(schema: Schema) -> bool:
    """Whether the schema allows objects; without a type it allows any value."""
    return bool(schema.get("type", "object") == "object")


def member(schema: Schema, name: str) -> Schema | None:
    """The schema of a member; None if there is none."""
    named: Schema | None = schema.get("properties", {}).get(name)
    others = schema.get("additionalProperties")
    return others if named is None and isinstance(others, Mapping) else named


def default(schema: Schema | None) -> object:
    """The default, or None: a default of null does not count."""
    return None if schema is None else schema.get("default")


def is_stray_null(value: object, schema: Schema | None) -> bool:
    """Whether this is a null where none is allowed. Kubernetes treats it as an absent field."""
    return value is None and schema is not None and not schema.get("nullable")


def tokens(value: object) -> Iterator[object]:
    """The parts that identify a JSON value, flattened without recursion.

    In JSON true is not 1, and to Kubernetes 1 is not 1.0. The order of members does not matter.
    """
    todo: list[object] = [value]
    while todo:
        node = todo.pop()
        if not isinstance(node, dict | list):
            yield type(node), node
        elif isinstance(node, dict):
            yield dict, len(node)
            for name in sorted(node, key=str, reverse=True):
                todo += (node[name], name)
        else:
            yield list, len(node)
            todo += reversed(node)


def showable(value: object) -> object:
    """The value as an error shows it: an ellipsis if it is nested too deeply."""
    depth, level = 0, [value] if isinstance(value, dict | list) else []
    while level and depth <= _DEEPEST_SHOWN:
        members = (n.values() if isinstance(n, dict) else n for n in level)
        level = [m for part in members for m in part if isinstance(m, dict | list)]
        depth += 1
    return "..." if level else value


def same(one: object, other: object) -> bool:
    """Whether two JSON values are the same in every piece."""
    return all(a == b for a, b in zip(tokens(one), tokens(other), strict=False))


def has_more_values(document: Any, most: int) -> bool:  # noqa: ANN401 - any value
    """Whether a document has more values than may be visited in one step."""
    count = 0
    todo: list[Any] = [document]
    while todo:
        node = todo.pop()
        count += len(node)
        if count > most:
            return True
        members = node.values() if isinstance(node, dict) else node
        todo += [member for member in members if isinstance(member, dict | list)]
    return False
