"""Server-side apply: merges a configuration into the live object and updates the field owners.

    fields in the configuration   are set. If another manager owns one with another value, that is a
                                  conflict, which `force` overrides; with the same value both own it
    fields that the manager       are removed, unless another manager owns them
    applied before, now absent
    all other fields              stay

An entry of a list or map is removed with its last owner, including fields in it without an owner.
"""

from typing import Any, Final, NamedTuple

import msgspec

from kubekit.api.errors import BadRequest
from kubekit.api.structural.nodes import Document, has_more_values
from kubekit.plane.apply import config_errors, conflicts, last_applied
from kubekit.plane.apply.entries import (
    APPLY,
    Author,
    Entry,
    entry_of,
    fields_of,
    identity,
    identity_of,
    in_order,
)
from kubekit.plane.apply.field_nodes import Untrackable, equal
from kubekit.plane.apply.field_sets import FieldSet, contains, difference, intersection, union
from kubekit.plane.apply.managed_fields import first_applied_to
from kubekit.plane.apply.shapes import Shape
from kubekit.plane.apply.value_merge import fitted, merged, tidied, with_named, with_nulls, without

MOST_VALUES: Final = 100_000  # about a second, in which no other request is served

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode


class ApplyResult(NamedTuple):
    """The result of an apply. The document has no managed fields; the caller adds them.

    The document shares parts of the live one and none of the configuration. If nothing changed,
    ``managed_fields`` is the identical list.
    """

    document: Document
    managed_fields: list[Entry]


def applied(
    shape: Shape, live: Document | None, config: Document, author: Author, *, force: bool = False
) -> ApplyResult:
    """The document and its managed fields after an apply; without ``live`` it is a new one.

    `BadRequest` for a configuration whose fields are unclear, `Conflict` for one that conflicts
    with other managers. Names and versions are not compared here.
    """
    if has_more_values(config, MOST_VALUES) or has_more_values(live or {}, MOST_VALUES):
        raise BadRequest(
            f"an apply supports at most {MOST_VALUES} values, in the configuration and in the object"
        )
    try:
        check(shape, config)
        return _Apply(shape, live, config, author).outcome(force=force)
    except RecursionError:
        raise BadRequest("the applied configuration is nested too deep") from None
    except Untrackable:
        raise BadRequest(
            "the apply is not possible: the fields of the stored object do not match its schema"
        ) from None


def check(shape: Shape, config: Document) -> None:
    """Refuse a configuration whose fields are unclear."""
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise BadRequest("metadata.managedFields must be nil")
    if errors := config_errors.describe_errors(shape.whole, config):
        raise BadRequest(f"failed to create typed patch object ({_subject(config)}): {errors}")


class _Apply:
    """One apply, step by step."""

    def __init__(
        self, shape: Shape, live: Document | None, config: Document, author: Author
    ) -> None:
        self._shape = shape
        self._part = shape.part(author.subresource)
        self._author = author
        self._config: Document = _decode(_encode(self._part.only(config)))
        self._live = {} if live is None else _unmanaged(live)
        self._before = _entries(live)
        self._entries = self._before
        if live is not None and not self._entries:
            self._entries = first_applied_to(shape, self._live, author)
        self._fit()

    def outcome(self, *, force: bool) -> ApplyResult:
        own = identity_of(self._author, APPLY)
        last = next((entry for entry in self._entries if identity(entry) == own), None)
        others = [entry for entry in self._entries if entry is not last]
        owned = self._part.owned(self._config)
        document = self._pruned(self._merged(), last, others, owned)
        gained, lost = self._part.compared(self._live or self._shape.blank, document)
        contested = [
            (entry, both)
            for entry in others
            if (both := _contested(fields_of(entry), gained or {}))
        ]
        if not force and (refused := self._conflicts(contested)):
            raise conflicts.refusal(refused)
        kept = [self._left(entry, gained or {}, lost or {}) for entry in others]
        if self._author.manager == last_applied.MANAGER:
            document = last_applied.with_annotation(document, self._config)
        own_entry = self._own_entry(last, owned, changed=self._is_changed(document))
        return ApplyResult(document, self._listed([own_entry, *kept]))

    def _merged(self) -> Document:
        result: Document = merged(self._shape.whole, self._live, self._config)
        return result

    def _pruned(
        self, document: Document, last: Entry | None, others: list[Entry], owned: FieldSet
    ) -> Document:
        """The document without fields that only the applier owned and no longer applies."""
        if last is None or contains(owned, fields_of(last)):
            return document
        whole, part = self._shape.whole, self._part
        wanted = owned
        for entry in others:
            wanted = union(wanted, fields_of(entry))
        managed = with_named(whole, wanted)
        previous = with_named(whole, fields_of(last))
        present = part.fields_in(document)
        left: Document = without(whole, document, previous)
        left = without(whole, document, difference(present, union(part.fields_in(left), managed)))
        gone = difference(present, part.fields_in(left))
        left = without(whole, document, intersection(gone, previous))
        left = tidied(whole, document, left, wanted)
        result: Document = with_nulls(whole, left, self._config)
        return result

    def _conflicts(self, contested: list[tuple[Entry, FieldSet]]) -> list[tuple[Entry, FieldSet]]:
        """The conflicting fields, without those that kubectl applied client-side before."""
        if not contested or self._author.manager != last_applied.MANAGER:
            return contested
        unchanged = last_applied.unchanged_fields(self._part, self._live, self._author.api_version)
        return [(entry, left) for entry, both in contested if (left := difference(both, unchanged))]

    def _is_changed(self, document: Document) -> bool:
        if self._shape.whole.exact:
            return self._live != document
        return not equal(self._live, document)

    def _own_entry(self, last: Entry | None, owned: FieldSet, *, changed: bool) -> Entry | None:
        """The applier's entry. Its time is that of the last apply that changed the object."""
        if not owned:
            return None
        if last is not None and not changed and self._is_as_before(last, owned):
            return last
        entry = entry_of(self._author, APPLY, owned)
        if changed:
            return entry
        del entry["time"]
        return entry | {"time": last["time"]} if last is not None and "time" in last else entry

    def _is_as_before(self, last: Entry, owned: FieldSet) -> bool:
        return bool(fields_of(last) == owned and last["apiVersion"] == self._author.api_version)

    def _left(self, entry: Entry, gained: FieldSet, lost: FieldSet) -> Entry | None:
        before = fields_of(entry)
        now = difference(difference(before, gained), lost)
        if now is before:
            return entry
        return {**entry, "fieldsV1": now} if now else None

    def _listed(self, entries: list[Entry | None]) -> list[Entry]:
        ordered = in_order(entry for entry in entries if entry is not None)
        return self._before if ordered == self._before else ordered

    def _fit(self) -> None:
        served = self._shape.served
        self._entries = [
            {**entry, "fieldsV1": fields} if fields != fields_of(entry) else entry
            for entry in self._entries
            if not served or entry["apiVersion"] in served
            if (fields := fitted(self._shape.whole, fields_of(entry)))
        ]


def _contested(fields: FieldSet, gained: FieldSet) -> FieldSet:
    """The owned fields that another manager gains, or replaces by a value of another type."""
    return union(intersection(fields, gained), _replaced(fields, gained))


def _replaced(fields: FieldSet, gained: FieldSet) -> FieldSet:
    """The fields below gained leaves: an object becomes a number, for instance."""
    replaced: FieldSet = {}
    for step in fields.keys() & gained.keys():
        inner, other = fields[step], gained[step]
        if below := (_replaced(inner, other) if other else inner):
            replaced[step] = below
    return replaced


def _entries(live: Document | None) -> list[Entry]:
    entries: list[Entry] = [] if live is None else live["metadata"].get("managedFields") or []
    return entries


def _unmanaged(live: Document) -> Document:
    metadata: dict[str, Any] = live["metadata"]
    if "managedFields" not in metadata:
        return live
    rest = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**live, "metadata": rest}


def _subject(config: Document) -> str:
    """The object of a configuration, as in Kubernetes' messages."""
    metadata = config.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    key = f"{named.get('namespace') or ''}/{named.get('name') or ''}"
    version = str(config.get("apiVersion"))
    shown = version if "/" in version else f"/{version}"
    return f"{key}; {shown}, Kind={config.get('kind')}"
