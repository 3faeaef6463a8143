"""The retry loop of update and patch, for objects and their subresources.

A change is a function from the stored document to the wanted one. After a write conflict it is
computed again, until the store accepts it or the client's resourceVersion is outdated. So a patch,
and an update without resourceVersion, do not fail because of concurrent writes.
"""

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
from kubekit.plane.registry.verbs.metadata import updated_metadata
from kubekit.plane.registry.verbs.metadata_decoder import Received, receive
from kubekit.plane.registry.verbs.namespace_lifecycle import STORAGE as NAMESPACES
from kubekit.plane.registry.verbs.preparation import Preparation, Prepared, Proposal
from kubekit.plane.registry.verbs.results import WriteResult
from kubekit.plane.registry.verbs.subresources import with_part, with_protected_fields
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
# Built-in kinds that, like custom ones, accept no update without a resourceVersion.
_VERSIONED: Final = frozenset(
    {"apiextensions.k8s.io/customresourcedefinitions", "coordination.k8s.io/leases"}
)
_LINKS: Final = ("labels", "ownerReferences", "finalizers")


class ObjectChange(msgspec.Struct, frozen=True):
    """A requested change of one object. ``wanted`` computes the new document from the stored one.

    ``part`` is the subresource that limits what may change; empty means the object itself.
    ``subresource`` is the one in the request, if it differs: a write to ``scale`` changes the object.
    """

    target: WriteTarget
    wanted: Callable[[Document], object]
    part: str
    by_patch: bool
    subresource: str = ""


class UpdateLoop:
    """The verbs update and patch of one plane."""

    def __init__(self, context: RegistryContext, preparation: Preparation) -> None:
        self._context = context
        self._preparation = preparation

    async def run(self, change: ObjectChange) -> WriteResult:
        """The object after the change. Nothing is written when nothing changes."""
        target = change.target
        kind, key, deadline = target.kind, target.key, ConflictDeadline()
        while True:
            record = self._context.store.find(kind.storage, key)
            if record is None:
                _check_missing(change)
                raise errors.not_found(kind.resource, target.name)
            old = document_of(kind, record)
            prepared = await self._prepared(change, record, old)
            new, warnings = prepared.document, prepared.warnings
            if _is_unchanged(old, new):
                return WriteResult(view_of(kind, record), warnings=warnings)
            if target.options.dry_run:
                return WriteResult(record_of(kind, key, record.revision, new), warnings=warnings)
            gone = is_removable(kind, new)
            # A change that removes the last finalizer deletes the object. The event has the old state.
            kind_of_change, state = (
                (ChangeType.DELETED, old) if gone else (ChangeType.MODIFIED, new)
            )
            keeps_links = not gone and _keeps_links(old["metadata"], new["metadata"])
            draft = self._context.draft(
                kind, key, record.revision, kind_of_change, state, keeps_links=keeps_links
            )
            try:
                stored = view_of(kind, await self._context.commit(draft))
            except RevisionConflict:
                deadline.conflict(kind, key)
                continue
            if gone:
                stored = record_of(kind, key, record.revision, new)
            return WriteResult(stored, warnings=warnings)

    async def _prepared(self, change: ObjectChange, record: Record, old: Document) -> Prepared:
        """The object after the change, prepared for storage."""
        kind = change.target.kind
        result = change.wanted(old)
        managed = None
        if isinstance(result, ApplyResult):
            result, managed = result
        try:
            wanted, received = _read(change, result)
        except Invalid:  # the document names another kind: check its identity first
            if isinstance(result, dict) and not change.by_patch:
                _check_subject(change, record, old["metadata"], receive(kind, result).metadata)
            raise
        try:
            _check_subject(change, record, old["metadata"], received.metadata)
        except (BadRequest, Conflict, Invalid):
            if managed is None:  # an apply reports other errors first
                _check_readable(change, wanted, received)
            raise
        if change.part:
            before = old["metadata"].items()
            metadata = {name: value for name, value in before if name != "resourceVersion"}
            new = with_part(change.part, old, wanted, metadata)
        else:
            metadata = updated_metadata(old["metadata"], received.metadata)
            new = with_protected_fields(kind, typed(kind, wanted, metadata, old), old)
        try:
            return await self._preparation.prepare(
                Proposal(
                    change.target,
                    new,
                    received,
                    old=old,
                    part=change.part,
                    subresource=change.subresource or change.part,
                    managed=managed,
                )
            )
        except UndecodableDocument as error:
            raise _fault(change, error) from error


def _read(change: ObjectChange, result: object) -> tuple[Document, Received]:
    """The wanted document, and its metadata."""
    try:
        wanted = check_type(change.target.kind, result)
        return wanted, receive(change.target.kind, wanted)
    except BadRequest as error:
        raise _fault(change, error) from error


def _check_missing(change: ObjectChange) -> None:
    """Refuse an unreadable update of a missing object: it is decoded before the object is read."""
    if change.by_patch or change.subresource:
        return
    target = change.target
    try:
        wanted, received = _read(change, change.wanted({}))
    except Invalid:  # the document names another kind, which is not the first error to report
        return
    check_namespace(target.kind, target.namespace, received.metadata)
    check_name(target.name, received.metadata)
    _check_readable(change, wanted, received)


def _check_readable(change: ObjectChange, wanted: Document, received: Received) -> None:
    """Refuse a document that cannot be decoded, before any other error in it."""
    target = change.target
    kind = target.kind
    conformed = kind.conform(typed(kind, wanted, {"name": target.name}, None))
    try:
        warnings_of(kind, target.options.field_validation, received, conformed)
        check_types(kind, conformed)
    except UndecodableDocument as error:
        raise _fault(change, error) from error


def _fault(change: ObjectChange, error: BadRequest) -> ApiError:
    """The error of an undecodable document: BadRequest, or Invalid if a patch produced it."""
    if not change.by_patch:
        return error
    fault = fields.FieldError("patch", fields.Problem.INVALID, error.message)
    return errors.invalid(change.target.kind.resource, change.target.name, [fault])


def _check_subject(change: ObjectChange, record: Record, old: Metadata, sent: Metadata) -> None:
    """Refuse a document of another object, or of another version of this one."""
    kind, name = change.target.kind, change.target.name
    check_namespace(kind, change.target.namespace, sent)
    check_name(name, sent)
    uid = sent.get("uid")
    if uid and not change.by_patch:
        check_uid(kind, name, uid, old["uid"])
    version = resource_versions.parse(sent.get("resourceVersion", ""))
    if not version and (kind.custom or kind.storage in _VERSIONED):
        missing = fields.invalid("metadata.resourceVersion", 0, "must be specified for an update")
        # Only this refusal names the plural and not the kind, as a Kubernetes server does.
        named = msgspec.structs.replace(kind.resource, kind=kind.resource.plural)
        raise errors.invalid(named, name, [missing])
    if version and version != record.revision:
        raise errors.conflict(kind.resource, name, _MODIFIED)


def check_uid(kind: Kind, name: str, wanted: str, present: str) -> None:
    """Refuse a document of another object with the same name."""
    if wanted != present:
        why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {present}"
        raise errors.conflict(kind.resource, name, why)


def as_new_object(target: WriteTarget, document: Document) -> Document:
    """The document of an update or apply, as the document of a create."""
    metadata = {**document["metadata"]}
    if uid := metadata.pop("uid", None):
        check_uid(target.kind, target.name, uid, "")
    resource_versions.parse(metadata.pop("resourceVersion", None) or "")
    return {**document, "metadata": metadata}


def _is_unchanged(old: Document, new: Document) -> bool:
    """Whether there is nothing to write.

    Managed fields may differ only in their times, and so in their order. Then they count as equal:
    the client set a field to the value that it had from admission or from the schema.
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


def _keeps_links(old: Metadata, new: Metadata) -> bool:
    """Whether labels, owners and finalizers are the identical objects as before."""
    return all(new.get(name) is old.get(name) for name in _LINKS)


def is_removable(kind: Kind, document: Document) -> bool:
    """Whether an object is being deleted and no finalizer holds it."""
    metadata = document["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    return kind.storage != NAMESPACES or not document.get("spec", {}).get("finalizers")
