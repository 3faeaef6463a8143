"""Words that are kept by the thousand: names, labels, messages. Who keeps one keeps it in common.

What is read from a plane comes in words of its own, for each object and for each who reads it.
"""

from collections.abc import Mapping
from sys import intern
from typing import Any, TypeVar

from msgspec.structs import replace

from kubekit.api.meta import Condition, Object

K = TypeVar("K", bound=Object)


def interned(word: str) -> str:
    """The word as all others have it who keep it. A member of an enum is there once anyway."""
    return intern(word) if type(word) is str else word


def with_interned_strings(obj: K) -> K:
    """The object in shared words, where many objects say the same: in labels and conditions."""
    parts: dict[str, Any] = {"metadata": replace(obj.metadata, labels=_map(obj.metadata.labels))}
    status: Any = getattr(obj, "status", None)
    if conditions := getattr(status, "conditions", ()):
        parts["status"] = replace(status, conditions=tuple(map(_condition, conditions)))
    return replace(obj, **parts)


def _map(words: Mapping[str, str]) -> dict[str, str]:
    return {key: interned(word) for key, word in words.items()}


def _condition(said: Condition) -> Condition:
    return replace(
        said, type=interned(said.type), reason=interned(said.reason), message=interned(said.message)
    )
