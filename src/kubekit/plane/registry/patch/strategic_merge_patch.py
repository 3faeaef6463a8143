"""Strategic merge patches: merge patches that also know how the lists of a kind are merged.

Only built-in kinds take them, and kubectl writes them for `apply`, `edit` and `patch`. Beyond a
merge patch:

    "secrets": [{"name": "a"}]                       merged by the key of the list, here ``name``
    "secrets": [{"name": "a", "$patch": "delete"}]   an entry that goes
    "secrets": [{"$patch": "replace"}, ...]          the list becomes what else stands here
    "data": {"$patch": "replace" | "delete", ...}    the object becomes what else stands here, or {}
    "data": {"$retainKeys": ["a"], ...}              all other fields of the object go
    "$deleteFromPrimitiveList/finalizers": [...]     plain values that go
    "$setElementOrder/finalizers": [...]             the order of those that are named

A list without a key is replaced whole.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from kubekit.api.errors import BadRequest
from kubekit.api.excerpt import excerpt
from kubekit.api.fields import Path
from kubekit.api.kinds import admission
from kubekit.api.resource import Resource
from kubekit.client.transport import Document

SET: Final = ""  # a list of plain values, each at most once

Lists = Mapping[str, str]
"""Which lists are merged: the path (``metadata.finalizers``) and the key of an entry, or `SET`."""

_EVERY_KIND: Final = {"metadata.finalizers": SET, "metadata.ownerReferences": "uid"}
_WEBHOOKS: Final = {"webhooks": "name", "webhooks.matchConditions": "name"}
_BY_KIND: Final[Mapping[tuple[str, str], Lists]] = {
    ("", "Namespace"): {"status.conditions": "type"},
    ("", "ServiceAccount"): {"secrets": "name"},
    (admission.GROUP, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (admission.GROUP, "ValidatingWebhookConfiguration"): _WEBHOOKS,
}

_PATCH: Final = "$patch"
_RETAIN: Final = "$retainKeys"
_DELETE: Final = "$deleteFromPrimitiveList/"
_ORDER: Final = "$setElementOrder/"
_PATCHES: Final = ("replace", "delete")
_ABSENT: Final = object()


def lists_of(resource: Resource) -> Lists:
    """The lists of a kind that are merged."""
    return {**_EVERY_KIND, **_BY_KIND.get((resource.group, resource.kind), {})}


def apply(document: Document, patch: object, lists: Lists) -> Document:
    """The patched document.

    Neither argument is changed. The result may share parts of the document, and none of the patch.
    """
    if not isinstance(patch, dict):
        raise BadRequest("a strategic merge patch must be a JSON object with the fields to change")
    try:
        return _object(document, patch, _Place(lists))
    except RecursionError:
        raise BadRequest("the strategic merge patch is nested too deep") from None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the patch is at work, without the indexes of lists. ``lists`` are those from here on.

    The path is put together only when somebody has to be told: names may be long and fields many.
    """

    lists: Lists
    name: str = ""
    above: "_Place | None" = None

    def field(self, name: str) -> "_Place":
        inside = f"{name}."
        below = {
            path.removeprefix(inside) if path != name else "": key
            for path, key in self.lists.items()
            if path == name or path.startswith(inside)
        }
        return _Place(below if "." not in name else {}, name, self)

    @property
    def key(self) -> str | None:
        return self.lists.get("")

    def path(self) -> Path:
        return self.above.path().child(self.name) if self.above else Path()

    def refusal(self, why: str) -> BadRequest:
        return BadRequest(f"strategic merge patch, {self.path() or 'top level'}: {why}")


def _object(old: Document, patch: Document, place: _Place) -> Document:
    if directive := _directive(patch, place):
        kept = patch if directive == "replace" else {}
        return {name: _copy(value) for name, value in kept.items() if name != _PATCH}
    result = _retained(old, patch, place)
    for name in _touched(patch):
        change = patch.get(name, _ABSENT)
        if change is _ABSENT or isinstance(change, dict | list):
            result[name] = _field(old.get(name), patch, name, place.field(name))
        elif change is None:
            result.pop(name, None)
        else:
            result[name] = change
    return result


def _directive(patch: Document, place: _Place) -> str:
    """What ``$patch`` demands; empty when it is not there."""
    directive = patch.get(_PATCH, "")
    if _PATCH in patch and directive not in _PATCHES:
        raise place.refusal(f"{_PATCH} must be one of {', '.join(_PATCHES)}")
    return str(directive)


def _retained(old: Document, patch: Document, place: _Place) -> Document:
    """A copy of the old fields that may stay."""
    if _RETAIN not in patch:
        return dict(old)
    names = _values(patch[_RETAIN], _RETAIN, place)
    if extra := [name for name in _touched(patch) if name not in names]:
        raise place.refusal(f"{_RETAIN} must name {excerpt(extra[0])}, which the patch sets")
    return {name: value for name, value in old.items() if name in names}


def _touched(patch: Document) -> Iterable[str]:
    """The fields that the patch speaks of, each once, by itself or in a directive for a list."""
    names = (name.removeprefix(_DELETE).removeprefix(_ORDER) for name in patch)
    return dict.fromkeys(name for name in names if name != _RETAIN)


def _field(old: object, patch: Document, name: str, place: _Place) -> object:
    """The new value of a field that is an object or a list."""
    change = patch.get(name, _ABSENT)
    if isinstance(change, dict):
        return _object(old if isinstance(old, dict) else {}, change, place)
    if isinstance(change, list) and place.key is None:
        return _copy(change)
    return _list(old if isinstance(old, list) else [], patch, name, place)


def _list(old: list[Any], patch: Document, name: str, place: _Place) -> list[Any]:
    if place.key is None:
        raise place.refusal("its entries cannot be ordered or deleted, it is replaced whole")
    merge = _plain_values if place.key == SET else _entries
    return merge(old, patch.get(name, []), _Directives.of(patch, name, place))


@dataclass(frozen=True, slots=True)
class _Directives:
    """What stands beside a list in the patch."""

    place: _Place
    gone: Sequence[Any]
    order: Sequence[Any] | None

    @classmethod
    def of(cls, patch: Document, name: str, place: _Place) -> "_Directives":
        gone, order = patch.get(_DELETE + name, []), patch.get(_ORDER + name)
        for directive, value in ((_DELETE + name, gone), (_ORDER + name, order or [])):
            if not isinstance(value, list):
                raise place.refusal(f"{directive} must be a list")
        return cls(place, gone, order)


def _plain_values(old: list[Any], change: list[Any], beside: _Directives) -> list[Any]:
    gone = _values(beside.gone, _DELETE, beside.place)
    added = _values(change, "the list", beside.place)
    order = added if beside.order is None else _values(beside.order, _ORDER, beside.place)
    _must_follow(added, order, beside.place)
    kept = [value for value in old if value not in gone]
    return _in_order({value: value for value in (*kept, *added)}, old, order)


def _entries(old: list[Any], change: list[Any], beside: _Directives) -> list[Any]:
    place = beside.place
    if beside.gone:
        raise place.refusal(f"{_DELETE} is for plain values; give the entry {_PATCH}: delete")
    directives = [_directive(entry, place) for entry in _objects(change, place)]
    if "replace" in directives:
        return [_copy(entry) for entry in change if _PATCH not in entry]
    if not old and not any(directives) and beside.order is None:
        return [_copy(entry) for entry in change]  # there is nothing to tell them apart from
    keys = [_key(entry, place) for entry in change]
    paired = list(zip(keys, directives, change, strict=True))
    gone = {key for key, directive, _ in paired if directive}
    kept = [entry for entry in old if entry.get(place.key) not in gone]
    places = _told_apart(kept, str(place.key))
    result: dict[Hashable, Any] = dict(zip(places, kept, strict=True))
    added = [(key, entry) for key, directive, entry in paired if not directive]
    for key, entry in added:
        result[key] = _object(result.get(key, {}), entry, place)
    named = [key for key, _ in added]
    order = (
        named if beside.order is None else [_key(e, place) for e in _objects(beside.order, place)]
    )
    _must_follow(named, order, place)
    return _in_order(result, places, order)


def _told_apart(entries: list[Document], key: str) -> list[Hashable]:
    """What names each entry. One without a key, or with one that was there before, has no name."""
    names: dict[Hashable, None] = {}
    for entry in entries:
        name = entry.get(key)
        names[object() if name is None or name in names else name] = None
    return list(names)


def _in_order(
    entries: Mapping[Hashable, Any], before: Sequence[Hashable], order: Iterable[Hashable]
) -> list[Any]:
    """The entries that ``order`` names in that order, between them the others where they were.

    One of the others comes before a named one if it stood before it; a new one waits for nobody.
    """
    named = {name: None for name in order if name in entries}
    others = [name for name in entries if name not in named]
    positions = {name: position for position, name in enumerate(before)}
    result: list[Hashable] = []
    waiting = 0
    for name in named:
        until = positions.get(name, -1)
        while waiting < len(others) and positions[others[waiting]] < until:
            result.append(others[waiting])
            waiting += 1
        result.append(name)
    return [entries[name] for name in (*result, *others[waiting:])]


def _must_follow(named: Iterable[Hashable], order: Iterable[Hashable], place: _Place) -> None:
    """Whoever orders a list must order all that he puts into it."""
    remaining = iter(order)
    for name in dict.fromkeys(named):
        if name not in remaining:
            raise place.refusal(f"{_ORDER} does not name {excerpt(name)} in the place it has here")


def _objects(entries: Sequence[Any], place: _Place) -> Sequence[Document]:
    if not all(isinstance(entry, dict) for entry in entries):
        raise place.refusal("each entry must be a JSON object")
    return entries


def _key(entry: Document, place: _Place) -> str:
    key = entry.get(str(place.key))
    if not isinstance(key, str):
        raise place.refusal(f"each entry must say its {place.key}, a string")
    return key


def _values(values: object, what: str, place: _Place) -> dict[str, None]:
    """The texts, each once, in their order."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise place.refusal(f"{what} must be a list of strings")
    return dict.fromkeys(values)


def _copy(value: Any) -> Any:  # noqa: ANN401 -- the same type comes out
    return msgspec.json.decode(msgspec.json.encode(value))
