"""The values of a ConfigMap or a Secret, and changes of some of them.

A Secret has all values in base64. A ConfigMap has texts as they are, and everything that is not UTF-8 in
base64 in a second map. A change names keys; the others stay as they are, whatever they are meanwhile.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from kubekit.api.kinds.core import ConfigMap, Secret

Store = ConfigMap | Secret
S = TypeVar("S", ConfigMap, Secret)

SIZE_LIMIT: Final = 1024 * 1024  # bytes of all values together
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
_KEY_LIMIT: Final = 253
_KEY_RULE: Final = "use letters, digits, '-', '_' and '.'"


@dataclass(frozen=True, slots=True)
class ValueChange:
    """Values to set, and keys to remove."""

    values: Mapping[str, bytes]
    removed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        assert not self.removed & self.values.keys()  # the same key would be set and removed


def key_fault(key: str) -> str:
    """What is wrong with a key; empty if it can be used. A key is also the name of a file."""
    if not key:
        return "it is empty"
    if len(key) > _KEY_LIMIT:
        return f"it is longer than {_KEY_LIMIT} characters"
    if _KEY.fullmatch(key) is None:
        return _KEY_RULE
    return "it must not start with '..' or be '.'" if key == "." or key.startswith("..") else ""


def values_of(store: Store | None) -> dict[str, bytes]:
    """The values by key, as they were before they were encoded."""
    if store is None:
        return {}
    if isinstance(store, Secret):
        return {key: _decoded(text) for key, text in store.data.items()}
    texts = {key: text.encode(errors="surrogatepass") for key, text in store.data.items()}
    return texts | {key: _decoded(text) for key, text in store.binary_data.items()}


def changed_keys(store: Store | None, change: ValueChange) -> frozenset[str]:
    """The keys whose value the change makes another one."""
    present = values_of(store)
    set_ = {key for key, value in change.values.items() if present.get(key) != value}
    return frozenset(set_ | (change.removed & present.keys()))


def refusal(store: Store | None, change: ValueChange) -> str:
    """Why the change cannot be made, after the name of the object; empty if it can."""
    if store is not None and store.immutable:
        return (
            "is immutable: its values can never be changed. "
            "Set them under another name, and name that in the workloads"
        )
    present = values_of(store)
    kept = {key: value for key, value in present.items() if key not in change.removed}
    after = kept | dict(change.values)
    size = sum(map(len, after.values()))
    if size <= SIZE_LIMIT:
        return ""
    largest = max(after, key=lambda key: len(after[key]))
    return (
        f"would have {size} bytes of values, and the most is {SIZE_LIMIT} (1 MiB); "
        f"the largest is {largest} with {len(after[largest])}"
    )


def merge_patch(kind: type[Store], change: ValueChange) -> dict[str, Any]:
    """The merge patch that sets and removes the keys of the change, and no others."""
    gone: dict[str, str | None] = dict.fromkeys(sorted(change.removed))
    if kind is Secret:
        return {"data": gone | {key: _encoded(value) for key, value in change.values.items()}}
    texts, binaries = dict(gone), dict(gone)
    for key, value in change.values.items():
        text = _text(value)
        texts[key], binaries[key] = text, None if text is not None else _encoded(value)
    return {"data": texts, "binaryData": binaries}


def with_values(store: S, change: ValueChange) -> S:
    """A new object with the values of the change."""
    patch = merge_patch(type(store), change)
    given = {name: {k: v for k, v in part.items() if v is not None} for name, part in patch.items()}
    if isinstance(store, Secret):
        return replace(store, data=given["data"])
    return replace(store, data=given["data"], binary_data=given["binaryData"])


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _decoded(text: str) -> bytes:
    """The bytes of base64. A server keeps no other text, so one that cannot be read counts as it is."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return text.encode(errors="surrogatepass")
