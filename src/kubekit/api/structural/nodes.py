"""What a node of a structural schema says of the members of an object, and how values compare."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]
Document = dict[str, Any]
Spend = Callable[[float], None]
"""Hears how many microseconds something is about to take, and may raise to end it."""

EMBEDDED: Final = "x-kubernetes-embedded-resource"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
LIST_KEYS: Final = "x-kubernetes-list-map-keys"
LIST_TYPE: Final = "x-kubernetes-list-type"
PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_DEEPEST_TOLD: Final = 20
OBJECT_FIELDS: Final = ("apiVersion", "kind", "metadata")


def freely(_microseconds: float) -> None:
    """Nobody minds how long it takes."""


def describes_objects(schema: Schema) -> bool:
    """Whether objects are what belongs here; where no type is named, anything may."""
    return bool(schema.get("type", "object") == "object")


def member(schema: Schema, name: str) -> Schema | None:
    """The schema of a member; None where nothing is said of it."""
    named: Schema | None = schema.get("properties", {}).get(name)
    others = schema.get("additionalProperties")
    return others if named is None and isinstance(others, Mapping) else named


def default(schema: Schema | None) -> object:
    """The default, or None: a default of null is none."""
    return None if schema is None else schema.get("default")


def is_stray_null(value: object, schema: Schema | None) -> bool:
    """Whether this is a null where none may be. Kubernetes takes it for an absent field."""
    return value is None and schema is not None and not schema.get("nullable")


def tokens(value: object) -> Iterator[object]:
    """What tells a JSON value from every other, piece by piece and without an end to its depth.

    In JSON true is not 1, and to Kubernetes 1 is not 1.0. The order of members says nothing.
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


def tellable(value: object) -> object:
    """The value as an error may show it: of what is nested too deeply, nothing but that it is."""
    depth, level = 0, [value] if isinstance(value, dict | list) else []
    while level and depth <= _DEEPEST_TOLD:
        members = (n.values() if isinstance(n, dict) else n for n in level)
        level = [m for part in members for m in part if isinstance(m, dict | list)]
        depth += 1
    return "..." if level else value


def same(one: object, other: object) -> bool:
    """Whether two JSON values are the same in every piece."""
    return all(a == b for a, b in zip(tokens(one), tokens(other), strict=False))


def has_more_values(document: Any, most: int) -> bool:  # noqa: ANN401 - any value
    """Whether a document has more values than can be looked at one by one while others wait."""
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
