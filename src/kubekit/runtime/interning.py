"""Interned strings for names, labels and messages that caches keep by the thousand.

Decoding makes a new string for each object and each reader; interning makes them share one.
"""

from collections.abc import Mapping
from sys import intern
from typing import Any, TypeVar

from msgspec.structs import replace

from kubekit.api.meta import Condition, Object

K = TypeVar("K", bound=Object)


def interned(text: str) -> str:
    """The string, interned. A member of an enum exists only once anyway."""
    return intern(text) if type(text) is str else text


def with_interned_strings(obj: K) -> K:
    """The object with interned labels and conditions, whose strings many objects share."""
    parts: dict[str, Any] = {"metadata": replace(obj.metadata, labels=_map(obj.metadata.labels))}
    status: Any = getattr(obj, "status", None)
    if conditions := getattr(status, "conditions", ()):
        parts["status"] = replace(status, conditions=tuple(map(_condition, conditions)))
    return replace(obj, **parts)


def _map(strings: Mapping[str, str]) -> dict[str, str]:
    return {key: interned(text) for key, text in strings.items()}


def _condition(condition: Condition) -> Condition:
    return replace(
        condition,
        type=interned(condition.type),
        reason=interned(condition.reason),
        message=interned(condition.message),
    )
