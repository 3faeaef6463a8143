"""What creates and updates do to the managed fields.

    created    all that is there belongs to the creator
    updated    what was added or changed goes to the updater and leaves everybody else; what was
               removed leaves everybody

The answers are lists of entries for ``metadata.managedFields``; both run for every write. What an
answer holds must not be changed, since it is shared with other answers.
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
_FEW: Final = 10  # entries among which there cannot be too many updaters


def created(shape: Shape, document: Document, author: Author, said: object = None) -> list[Entry]:
    """The managed fields of a new document. ``said`` is what its creator sent as such."""
    base = _said(shape, said, [])
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
    shape: Shape, old: Document, new: Document, author: Author, said: object = None
) -> list[Entry]:
    """The managed fields after a change; the very list that was there if nothing becomes of them.

    ``said`` is what the client sent as managed fields. What nobody can read counts as nothing, and
    a subresource does not take any. Where there are none, none begin: only an apply can tell whose
    the fields were.
    """
    live: list[Entry] = old["metadata"].get("managedFields") or []
    base = live if author.subresource else _said(shape, said, live)
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
    """Whether somebody owns one of the fields: who scales takes over, and does not begin."""
    return any(intersection(fields_of(entry), fields) for entry in entries)


def rewritten(
    shape: Shape, entries: list[Entry], author: Author, gained: FieldSet, lost: FieldSet
) -> list[Entry]:
    """The entries after somebody gained fields for himself and fields were lost to all."""
    own = identity_of(author, UPDATE)
    mine: Entry | None = None
    rest: list[Entry] = []
    for entry in entries:
        if identity(entry) == own:
            mine = entry
        elif (left := _left(shape, entry, gained, lost)) is not None:
            rest.append(left)
    if mine is not None or gained:
        now = _mine(mine, author, gained, lost)
        if now is not None:
            rest.append(now)
    if len(rest) == len(entries) and all(map(_is, rest, entries)):
        return entries
    ordered = in_order(rest)
    return in_order(capped(ordered)) if len(ordered) > _FEW else ordered


def first_applied_to(shape: Shape, live: Document, author: Author) -> list[Entry]:
    """The entry that stands for all who wrote an object before anybody kept count."""
    before = author._replace(manager=_BEFORE)
    try:
        owned = _all_of(shape, shape.blank, live, before)
    except (Untrackable, RecursionError):
        return []
    return [entry_of(before, UPDATE, owned)] if owned else []


def _all_of(shape: Shape, blank: Document, document: Document, author: Author) -> FieldSet:
    part = shape.part(author.subresource)
    if not blank:
        return part.there(document)
    return part.compared(blank, document)[0] or {}


def _said(shape: Shape, said: object, live: list[Entry]) -> list[Entry]:
    if said is None or said == [{**entry, "fieldsV1": fields_of(entry)} for entry in live]:
        return live  # most clients send back what they read
    if is_reset(said, custom=shape.custom):
        return []
    try:
        return sent(said) or live
    except BadEntries:
        return live


def _left(shape: Shape, entry: Entry, gained: FieldSet, lost: FieldSet) -> Entry | None:
    """The entry of somebody else; None when nothing of it is left."""
    if shape.served and entry["apiVersion"] not in shape.served:
        return None
    before = fields_of(entry)
    now = difference(difference(before, gained), lost)
    if now is before:
        return entry
    return {**entry, "fieldsV1": now} if now else None


def _mine(entry: Entry | None, author: Author, gained: FieldSet, lost: FieldSet) -> Entry | None:
    """The entry of the one who writes. Its time is that of the last field that he set."""
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
