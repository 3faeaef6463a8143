"""Changing objects: update and patch, on the object, its status, its scale, a namespace's end.

Each is a function from what is there to what shall be. It is worked out again whenever another
change came first, until the store takes it or the client's own version no longer holds; so a
patch, and an update that names no version, never fail because somebody else was quicker.
"""

import dataclasses
from collections.abc import Callable
from typing import Final

import msgspec

from kubekit.api import errors, fields
from kubekit.api.errors import ApiError, BadRequest, Conflict, Invalid
from kubekit.client.transport import Document
from kubekit.plane.apply.entries import identity
from kubekit.plane.apply.server_side_apply import ApplyResult
from kubekit.plane.registry.context import ConflictDeadline, RegistryContext
from kubekit.plane.registry.encoding import Metadata, document_of, record_of, same, view_of
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.verbs import resource_versions
from kubekit.plane.registry.verbs.identity_checks import check_name, check_namespace, check_type
from kubekit.plane.registry.verbs.metadata import carried
from kubekit.plane.registry.verbs.metadata_decoder import Received, receive
from kubekit.plane.registry.verbs.namespace_lifecycle import STORAGE as NAMESPACES
from kubekit.plane.registry.verbs.preparation import Preparation, Prepared, Proposal
from kubekit.plane.registry.verbs.results import WriteResult
from kubekit.plane.registry.verbs.subresources import kept_back, part_of
from kubekit.plane.registry.verbs.targets import WriteTarget
from kubekit.plane.registry.verbs.validation import (
    UndecodableDocument,
    check_types,
    typed,
    warnings_of,
)
from kubekit.plane.store.records import ChangeType, Record
from kubekit.plane.store.store import RevisionConflict

_MODIFIED: Final = (
    "the object has been modified; please apply your changes to the latest version and try again"
)
# Built-in kinds that, like custom ones, take no update from a client that names no version.
_VERSIONED: Final = frozenset(
    {"apiextensions.k8s.io/customresourcedefinitions", "coordination.k8s.io/leases"}
)
_TIES: Final = ("labels", "ownerReferences", "finalizers")


class ObjectChange(msgspec.Struct, frozen=True):
    """What a client wants of one object. ``wanted`` makes the new document of the present one.

    ``part`` is the subresource that limits what may change; empty means the object itself. The
    subresource that the client came through may be another one: a Scale changes the object.
    """

    target: WriteTarget
    wanted: Callable[[Document], object]
    part: str
    by_patch: bool
    door: str = ""


class UpdateLoop:
    """The verbs update and patch of one plane."""

    def __init__(self, context: RegistryContext, preparation: Preparation) -> None:
        self._context = context
        self._preparation = preparation

    async def carry_out(self, change: ObjectChange) -> WriteResult:
        """The object after the change. Nothing is written when nothing changes."""
        target = change.target
        kind, key, race = target.kind, target.key, ConflictDeadline()
        while True:
            record = self._context.store.find(kind.storage, key)
            if record is None:
                _check_missing(change)
                raise errors.not_found(kind.resource, target.name)
            old = document_of(kind, record)
            prepared = await self._worked_out(change, record, old)
            new, warnings = prepared.document, prepared.warnings
            if _is_unchanged(old, new):
                return WriteResult(view_of(kind, record), warnings=warnings)
            if target.options.dry_run:
                return WriteResult(record_of(kind, key, record.revision, new), warnings=warnings)
            gone = may_go(kind, new)
            # What lets an object go is not stored: who watches sees it go as it was.
            step, state = (ChangeType.DELETED, old) if gone else (ChangeType.MODIFIED, new)
            alike = not gone and _keeps_ties(old["metadata"], new["metadata"])
            draft = self._context.draft(kind, key, record.revision, step, state, keeps_ties=alike)
            try:
                stored = view_of(kind, await self._context.commit(draft))
            except RevisionConflict:
                race.lost(kind, key)
                continue
            if gone:
                stored = record_of(kind, key, record.revision, new)
            return WriteResult(stored, warnings=warnings)

    async def _worked_out(self, change: ObjectChange, record: Record, old: Document) -> Prepared:
        """The object as the change wants it."""
        kind = change.target.kind
        made = change.wanted(old)
        managed = None
        if isinstance(made, ApplyResult):
            made, managed = made
        try:
            wanted, received = _read(change, made)
        except Invalid:  # it says that it is of another kind: whose it is comes first
            if isinstance(made, dict) and not change.by_patch:
                _check_subject(change, record, old["metadata"], receive(kind, made).given)
            raise
        try:
            _check_subject(change, record, old["metadata"], received.given)
        except (BadRequest, Conflict, Invalid):
            if managed is None:  # an apply has other things to tell first
                _check_readable(change, wanted, received)
            raise
        if change.part:
            before = old["metadata"].items()
            metadata = {name: value for name, value in before if name != "resourceVersion"}
            new = part_of(change.part, old, wanted, metadata)
        else:
            metadata = carried(old["metadata"], received.given)
            new = kept_back(kind, typed(kind, wanted, metadata, old), old)
        try:
            return await self._preparation.prepare(
                Proposal(
                    change.target,
                    new,
                    received,
                    old=old,
                    part=change.part,
                    door=change.door or change.part,
                    managed=managed,
                )
            )
        except UndecodableDocument as error:
            raise _fault(change, error) from error


def _read(change: ObjectChange, made: object) -> tuple[Document, Received]:
    """The document that is wanted, and its metadata."""
    try:
        wanted = check_type(change.target.kind, made)
        return wanted, receive(change.target.kind, wanted)
    except BadRequest as error:
        raise _fault(change, error) from error


def _check_missing(change: ObjectChange) -> None:
    """Refuse an update that cannot be read: it is read before it is known what it is about."""
    if change.by_patch or change.door:
        return
    target = change.target
    try:
        wanted, received = _read(change, change.wanted({}))
    except Invalid:  # it says that it is of another kind, which is not the first thing to tell
        return
    check_namespace(target.kind, target.namespace, received.given)
    check_name(target.name, received.given)
    _check_readable(change, wanted, received)


def _check_readable(change: ObjectChange, wanted: Document, received: Received) -> None:
    """Refuse what cannot be read, before anything else that is wrong with it."""
    target = change.target
    kind = target.kind
    conformed = kind.conform(typed(kind, wanted, {"name": target.name}, None))
    try:
        warnings_of(kind, target.options.field_validation, received, conformed)
        check_types(kind, conformed)
    except UndecodableDocument as error:
        raise _fault(change, error) from error


def _fault(change: ObjectChange, error: BadRequest) -> ApiError:
    """A document that nobody can read is a bad request; one that a patch made is a bad patch."""
    if not change.by_patch:
        return error
    fault = fields.FieldError("patch", fields.Problem.INVALID, error.message)
    return errors.invalid(change.target.kind.resource, change.target.name, [fault])


def _check_subject(change: ObjectChange, record: Record, old: Metadata, given: Metadata) -> None:
    """Refuse a document that is about another object, or about another version of this one."""
    kind, name = change.target.kind, change.target.name
    check_namespace(kind, change.target.namespace, given)
    check_name(name, given)
    uid = given.get("uid")
    if uid and not change.by_patch:
        check_uid(kind, name, uid, old["uid"])
    version = resource_versions.parse(given.get("resourceVersion", ""))
    if not version and (kind.custom or kind.storage in _VERSIONED):
        missing = fields.invalid("metadata.resourceVersion", 0, "must be specified for an update")
        # Here alone a refusal names the plural, not the kind, as a Kubernetes server does.
        named = dataclasses.replace(kind.resource, kind=kind.resource.plural)
        raise errors.invalid(named, name, [missing])
    if version and version != record.revision:
        raise errors.conflict(kind.resource, name, _MODIFIED)


def check_uid(kind: Kind, name: str, wanted: str, present: str) -> None:
    """Refuse a document that is about another object of the same name."""
    if wanted != present:
        why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {present}"
        raise errors.conflict(kind.resource, name, why)


def unborn(target: WriteTarget, document: Document) -> Document:
    """A document that was meant for an object which is not there, as one for a new object."""
    metadata = {**document["metadata"]}
    if uid := metadata.pop("uid", None):
        check_uid(target.kind, target.name, uid, "")
    resource_versions.parse(metadata.pop("resourceVersion", None) or "")
    return {**document, "metadata": metadata}


def _is_unchanged(old: Document, new: Document) -> bool:
    """Whether there is nothing to write.

    Managed fields that differ only in their times, and so in their order, are the same: a field was
    set to a value that admission or the schema made of it before.
    """
    before = {name: value for name, value in old["metadata"].items() if name != "resourceVersion"}
    after = new["metadata"]
    if before.get("managedFields") is not after.get("managedFields"):
        before, after = _without_times(before), _without_times(after)
    return same({**old, "metadata": before}, {**new, "metadata": after})


def _without_times(metadata: Metadata) -> Metadata:
    entries = metadata.get("managedFields") or ()
    timeless = [{name: value for name, value in e.items() if name != "time"} for e in entries]
    return {**metadata, "managedFields": sorted(timeless, key=identity)}


def _keeps_ties(old: Metadata, new: Metadata) -> bool:
    """Whether the very labels, owners and finalizers that were there are there."""
    return all(new.get(name) is old.get(name) for name in _TIES)


def may_go(kind: Kind, document: Document) -> bool:
    """Whether nothing holds an object any more whose deletion was asked for."""
    metadata = document["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    return kind.storage != NAMESPACES or not document.get("spec", {}).get("finalizers")
