"""The changes of two clients to one document, made into one where they do not collide.

Both started from the same base. A field that only one of them changed has the value of that one. Lists
whose items have names are compared by name, so that two containers can be changed by two clients; any
other list is one value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

Document = dict[str, object]
_ABSENT: Final = object()
_NAME: Final = "name"


@dataclass(frozen=True, slots=True)
class DocumentMerge:
    """The merged document, and the fields that both clients changed, each in another way."""

    document: Document
    conflicts: tuple[str, ...] = ()


@dataclass(slots=True)
class _Merger:
    conflicts: list[str] = field(default_factory=list)

    def merge(self, base: object, mine: object, theirs: object, path: str) -> object:
        if theirs in (base, mine):
            return mine
        if mine == base:
            return theirs
        present = [value for value in (base, mine, theirs) if value is not _ABSENT]
        is_list = all(isinstance(value, list) for value in present)
        read = _by_name if is_list else _as_map
        maps = [read(value) for value in (base, mine, theirs)]
        parts = [each for each in maps if each is not None]
        if len(parts) < len(maps):
            self.conflicts.append(path)
            return mine
        merged = self._merge_maps(parts, path)
        return [merged[key] for key in _order(*parts) if key in merged] if is_list else merged

    def _merge_maps(self, maps: Sequence[Mapping[str, object]], path: str) -> Document:
        base, mine, theirs = maps
        merged: Document = {}
        for key in dict.fromkeys((*theirs, *mine)):
            below = f"{path}.{key}" if path else key
            value = self.merge(
                base.get(key, _ABSENT), mine.get(key, _ABSENT), theirs.get(key, _ABSENT), below
            )
            if value is not _ABSENT:
                merged[key] = value
        return merged


def merged(base: Document, mine: Document, theirs: Document) -> DocumentMerge:
    """The document with the changes of both. Where they collide it has mine."""
    merger = _Merger()
    document = merger.merge(base, mine, theirs, "")
    assert isinstance(document, dict)  # a document is never absent
    return DocumentMerge(document, tuple(merger.conflicts))


def merge_patch(before: Mapping[str, object], after: Mapping[str, object]) -> Document:
    """The JSON merge patch from one document to another; empty if they are equal."""
    patch: Document = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key, _ABSENT)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            inner = merge_patch(old, value)
            if inner:
                patch[key] = inner
        elif old != value:
            patch[key] = value
    return patch


def _order(
    base: Mapping[str, object], mine: Mapping[str, object], theirs: Mapping[str, object]
) -> dict[str, None]:
    """The names in the order of the other client, unless mine has moved some."""
    before, after = [key for key in base if key in mine], [key for key in mine if key in base]
    return dict.fromkeys((*theirs, *mine) if before == after else (*mine, *theirs))


def _as_map(value: object) -> Mapping[str, object] | None:
    if value is _ABSENT:
        return {}
    return value if isinstance(value, Mapping) else None


def _by_name(value: object) -> Mapping[str, object] | None:
    """A list of objects by their names; None if one has no name of its own."""
    items = value if isinstance(value, list) else []
    named = {item[_NAME]: item for item in items if isinstance(item, Mapping) and _NAME in item}
    return named if len(named) == len(items) else None
