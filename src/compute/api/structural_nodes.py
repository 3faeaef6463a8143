"""What a node of a structural schema says of the members of an object."""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
Document = dict[str, Any]


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
