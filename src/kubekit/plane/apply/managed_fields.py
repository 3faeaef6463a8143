"""Managed fields on creates and updates.

    created    the creator owns all fields
    updated    the updater alone owns the added and changed fields; removed fields have no owner

The results are lists of entries for ``metadata.managedFields``. A result must not be modified, since
its parts are shared with other results.
"""

from typing import Any, Final

from kubekit.api.structural.nodes import Document
from kubekit.plane.apply.entries import (
    UPDATE,
    Author,
    BadEntries,
    Entry,
    capped,
    entry_of,
    fields_of,
    identity,
    identity_of,
    in_order,
    is_reset,
    sent,
)
from kubekit.plane.apply.field_nodes import Untrackable
from kubekit.plane.apply.field_sets import FieldSet, difference, intersection, union
from kubekit.plane.apply.shapes import Shape

_BEFORE: Final = "before-first-apply"
_SCALE: Final = "scale"
_FEW: Final = 10  # with this many entries there are never too many updaters


def created(shape: Shape, document: Document, author: Author, given: object = None) -> list[Entry]:
    """The managed fields of a new document. ``given`` are those that its creator sent."""
    base = _given_entries(shape, given, [])
    try:
        gained = _all_of(shape, shape.newborn, document, author)
    except (Untrackable, RecursionError):
        return base
    if not gained:
        return base
    if not base:
        return [entry_of(author, UPDATE, gained)]
    return rewritten(shape, base, author, gained, {})


def updated(
    shape: Shape, old: Document, new: Document, author: Author, given: object = None
) -> list[Entry]:
    """The managed fields after an update; the identical list if they do not change.

    ``given`` are the managed fields that the client sent. Invalid ones are ignored, and a
    subresource accepts none. An object without entries gets none: only an apply starts tracking.
    """
    live: list[Entry] = old["metadata"].get("managedFields") or []
    base = live if author.subresource else _given_entries(shape, given, live)
    if not base:
        return base
    try:
        gained, lost = shape.part(author.subresource).compared(old, new)
    except (Untrackable, RecursionError):
        return base
    if gained is None and lost is None and not shape.served:
        return base
    if author.subresource == _SCALE and not _is_owned(base, gained or {}):
        return base
    return rewritten(shape, base, author, gained or {}, lost or {})


def _is_owned(entries: list[Entry], fields: FieldSet) -> bool:
    """Whether a manager owns one of the fields: a scale only takes over owned fields."""
    return any(intersection(fields_of(entry), fields) for entry in entries)


def rewritten(
    shape: Shape, entries: list[Entry], author: Author, gained: FieldSet, lost: FieldSet
) -> list[Entry]:
    """The entries after the author gained fields and all managers lost fields."""
    own = identity_of(author, UPDATE)
    own_entry: Entry | None = None
    rest: list[Entry] = []
    for entry in entries:
        if identity(entry) == own:
            own_entry = entry
        elif (left := _left(shape, entry, gained, lost)) is not None:
            rest.append(left)
    if own_entry is not None or gained:
        now = _author_entry(own_entry, author, gained, lost)
        if now is not None:
            rest.append(now)
    if len(rest) == len(entries) and all(map(_is, rest, entries)):
        return entries
    ordered = in_order(rest)
    return in_order(capped(ordered)) if len(ordered) > _FEW else ordered


def first_applied_to(shape: Shape, live: Document, author: Author) -> list[Entry]:
    """The entry that owns all fields which were written before managed fields were tracked."""
    before = author._replace(manager=_BEFORE)
    try:
        owned = _all_of(shape, shape.blank, live, before)
    except (Untrackable, RecursionError):
        return []
    return [entry_of(before, UPDATE, owned)] if owned else []


def _all_of(shape: Shape, blank: Document, document: Document, author: Author) -> FieldSet:
    part = shape.part(author.subresource)
    if not blank:
        return part.fields_in(document)
    return part.compared(blank, document)[0] or {}


def _given_entries(shape: Shape, given: object, live: list[Entry]) -> list[Entry]:
    if given is None or given == [{**entry, "fieldsV1": fields_of(entry)} for entry in live]:
        return live  # most clients send back what they read
    if is_reset(given, custom=shape.custom):
        return []
    try:
        return sent(given) or live
    except BadEntries:
        return live


def _left(shape: Shape, entry: Entry, gained: FieldSet, lost: FieldSet) -> Entry | None:
    """The entry of another manager; None if it owns no fields any more."""
    if shape.served and entry["apiVersion"] not in shape.served:
        return None
    before = fields_of(entry)
    now = difference(difference(before, gained), lost)
    if now is before:
        return entry
    return {**entry, "fieldsV1": now} if now else None


def _author_entry(
    entry: Entry | None, author: Author, gained: FieldSet, lost: FieldSet
) -> Entry | None:
    """The entry of the author. Its time is that of the last field that it set."""
    if entry is None:
        return entry_of(author, UPDATE, gained)
    before = fields_of(entry)
    now = union(difference(before, lost), gained)
    if not now:
        return None
    time: Any = author.time if gained else entry.get("time")
    if now is before and time == entry.get("time"):
        return entry
    return {**entry, "fieldsV1": now} | ({"time": time} if time else {})


def _is(one: object, other: object) -> bool:
    return one is other
