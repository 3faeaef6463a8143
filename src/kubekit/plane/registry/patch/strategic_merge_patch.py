"""Strategic merge patches: merge patches that also merge the lists of a kind.

Only built-in kinds accept them, and kubectl writes them for `apply`, `edit` and `patch`. Beyond a
merge patch:

    "secrets": [{"name": "a"}]                       merged by the key of the list, here ``name``
    "secrets": [{"name": "a", "$patch": "delete"}]   removes the entry
    "secrets": [{"$patch": "replace"}, ...]          replaces the list with the other entries here
    "data": {"$patch": "replace" | "delete", ...}    replaces the object with the rest, or with {}
    "data": {"$retainKeys": ["a"], ...}              removes all other fields of the object
    "$deleteFromPrimitiveList/finalizers": [...]     removes plain values
    "$setElementOrder/finalizers": [...]             orders the named entries

A list without a key is replaced as a whole.
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
        return _object(document, patch, _Position(lists))
    except RecursionError:
        raise BadRequest("the strategic merge patch is nested too deep") from None


@dataclass(frozen=True, slots=True)
class _Position:
    """The position in the document, without the indexes of lists. ``lists`` are those below it.

    The path is built only for an error: names may be long and fields many.
    """

    lists: Lists
    name: str = ""
    above: "_Position | None" = None

    def field(self, name: str) -> "_Position":
        inside = f"{name}."
        below = {
            path.removeprefix(inside) if path != name else "": key
            for path, key in self.lists.items()
            if path == name or path.startswith(inside)
        }
        return _Position(below if "." not in name else {}, name, self)

    @property
    def key(self) -> str | None:
        return self.lists.get("")

    def path(self) -> Path:
        return self.above.path().child(self.name) if self.above else Path()

    def refusal(self, why: str) -> BadRequest:
        return BadRequest(f"strategic merge patch, {self.path() or 'top level'}: {why}")


def _object(old: Document, patch: Document, position: _Position) -> Document:
    if directive := _directive(patch, position):
        kept = patch if directive == "replace" else {}
        return {name: _copy(value) for name, value in kept.items() if name != _PATCH}
    result = _retained(old, patch, position)
    for name in _touched(patch):
        change = patch.get(name, _ABSENT)
        if change is _ABSENT or isinstance(change, dict | list):
            result[name] = _field(old.get(name), patch, name, position.field(name))
        elif change is None:
            result.pop(name, None)
        else:
            result[name] = change
    return result


def _directive(patch: Document, position: _Position) -> str:
    """The value of ``$patch``; empty when it is absent."""
    directive = patch.get(_PATCH, "")
    if _PATCH in patch and directive not in _PATCHES:
        raise position.refusal(f"{_PATCH} must be one of {', '.join(_PATCHES)}")
    return str(directive)


def _retained(old: Document, patch: Document, position: _Position) -> Document:
    """A copy of the old fields that the patch does not remove."""
    if _RETAIN not in patch:
        return dict(old)
    names = _values(patch[_RETAIN], _RETAIN, position)
    if extra := [name for name in _touched(patch) if name not in names]:
        raise position.refusal(f"{_RETAIN} must name {excerpt(extra[0])}, which the patch sets")
    return {name: value for name, value in old.items() if name in names}


def _touched(patch: Document) -> Iterable[str]:
    """The fields that the patch names, each once, directly or in a directive for a list."""
    names = (name.removeprefix(_DELETE).removeprefix(_ORDER) for name in patch)
    return dict.fromkeys(name for name in names if name != _RETAIN)


def _field(old: object, patch: Document, name: str, position: _Position) -> object:
    """The new value of a field that is an object or a list."""
    change = patch.get(name, _ABSENT)
    if isinstance(change, dict):
        return _object(old if isinstance(old, dict) else {}, change, position)
    if isinstance(change, list) and position.key is None:
        return _copy(change)
    return _list(old if isinstance(old, list) else [], patch, name, position)


def _list(old: list[Any], patch: Document, name: str, position: _Position) -> list[Any]:
    if position.key is None:
        raise position.refusal(
            "its entries cannot be ordered or deleted, it is replaced as a whole"
        )
    merge = _plain_values if position.key == SET else _entries
    return merge(old, patch.get(name, []), _Directives.of(patch, name, position))


@dataclass(frozen=True, slots=True)
class _Directives:
    """The directives for one list of the patch."""

    position: _Position
    gone: Sequence[Any]
    order: Sequence[Any] | None

    @classmethod
    def of(cls, patch: Document, name: str, position: _Position) -> "_Directives":
        gone, order = patch.get(_DELETE + name, []), patch.get(_ORDER + name)
        for directive, value in ((_DELETE + name, gone), (_ORDER + name, order or [])):
            if not isinstance(value, list):
                raise position.refusal(f"{directive} must be a list")
        return cls(position, gone, order)


def _plain_values(old: list[Any], change: list[Any], beside: _Directives) -> list[Any]:
    gone = _values(beside.gone, _DELETE, beside.position)
    added = _values(change, "the list", beside.position)
    order = added if beside.order is None else _values(beside.order, _ORDER, beside.position)
    _must_follow(added, order, beside.position)
    kept = [value for value in old if value not in gone]
    return _in_order({value: value for value in (*kept, *added)}, old, order)


def _entries(old: list[Any], change: list[Any], beside: _Directives) -> list[Any]:
    position = beside.position
    if beside.gone:
        raise position.refusal(f"{_DELETE} is for plain values; give the entry {_PATCH}: delete")
    directives = [_directive(entry, position) for entry in _objects(change, position)]
    if "replace" in directives:
        return [_copy(entry) for entry in change if _PATCH not in entry]
    if not old and not any(directives) and beside.order is None:
        return [_copy(entry) for entry in change]  # there are no old entries to merge with
    keys = [_key(entry, position) for entry in change]
    paired = list(zip(keys, directives, change, strict=True))
    gone = {key for key, directive, _ in paired if directive}
    kept = [entry for entry in old if entry.get(position.key) not in gone]
    identities = _identities(kept, str(position.key))
    result: dict[Hashable, Any] = dict(zip(identities, kept, strict=True))
    added = [(key, entry) for key, directive, entry in paired if not directive]
    for key, entry in added:
        result[key] = _object(result.get(key, {}), entry, position)
    named = [key for key, _ in added]
    order = (
        named
        if beside.order is None
        else [_key(e, position) for e in _objects(beside.order, position)]
    )
    _must_follow(named, order, position)
    return _in_order(result, identities, order)


def _identities(entries: list[Document], key: str) -> list[Hashable]:
    """The identity of each entry. One without a key, or with a duplicate key, has a unique one."""
    names: dict[Hashable, None] = {}
    for entry in entries:
        name = entry.get(key)
        names[object() if name is None or name in names else name] = None
    return list(names)


def _in_order(
    entries: Mapping[Hashable, Any], before: Sequence[Hashable], order: Iterable[Hashable]
) -> list[Any]:
    """The entries named by ``order`` in that order, with the others at their old positions.

    Another entry comes before a named one if it was before it; a new one follows at once.
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


def _must_follow(named: Iterable[Hashable], order: Iterable[Hashable], position: _Position) -> None:
    """A patch that orders a list must order every entry that it adds."""
    remaining = iter(order)
    for name in dict.fromkeys(named):
        if name not in remaining:
            raise position.refusal(
                f"{_ORDER} does not name {excerpt(name)} in the position it has here"
            )


def _objects(entries: Sequence[Any], position: _Position) -> Sequence[Document]:
    if not all(isinstance(entry, dict) for entry in entries):
        raise position.refusal("each entry must be a JSON object")
    return entries


def _key(entry: Document, position: _Position) -> str:
    key = entry.get(str(position.key))
    if not isinstance(key, str):
        raise position.refusal(f"each entry must say its {position.key}, a string")
    return key


def _values(values: object, what: str, position: _Position) -> dict[str, None]:
    """The texts without duplicates, in order."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise position.refusal(f"{what} must be a list of strings")
    return dict.fromkeys(values)


def _copy(value: Any) -> Any:  # noqa: ANN401 -- the same type comes out
    return msgspec.json.decode(msgspec.json.encode(value))
