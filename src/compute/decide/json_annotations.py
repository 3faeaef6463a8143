"""Annotations whose value is a JSON object.

Users can write them, so reading never fails: a controller that stopped at an unreadable value would
stop for every other reason too. Admission refuses such values (`validation.overrides`).
"""

from collections.abc import Mapping
from typing import Final

import msgspec

# A text that is nested too deeply is not read either.
UNREADABLE: Final = (ValueError, RecursionError)


def entries(annotations: Mapping[str, str], key: str) -> dict[str, object]:
    """The entries of the object; none if the annotation is absent or unreadable."""
    return read(annotations.get(key, "")) or {}


def texts(annotations: Mapping[str, str], key: str) -> dict[str, str]:
    """The entries of the object that are texts, and not empty."""
    found = entries(annotations, key)
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def read(text: str) -> dict[str, object] | None:
    """The object that a text contains; None if it contains none."""
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except UNREADABLE:
        return None


def write(value: Mapping[str, object]) -> str:
    """The text of an object: the same for equal objects, whatever the order of their entries."""
    return msgspec.json.encode({key: value[key] for key in sorted(value)}).decode()
