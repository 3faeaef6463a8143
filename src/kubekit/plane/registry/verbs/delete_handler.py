"""The verbs delete and deletecollection.

An object without finalizers is removed at once. One with finalizers is marked as deleting, and is
removed when an update removes the last finalizer (`update_loop`). The propagation policy is stored
as a finalizer too, which the garbage collector processes.
"""

import asyncio
from contextlib import suppress
from typing import Final

import msgspec
from msgspec.structs import replace

from kubekit.api import errors, finalizers
from kubekit.api.errors import Conflict, Forbidden, MethodNotAllowed, NotFound
from kubekit.api.status import StatusDetails
from kubekit.client.options import DeleteOptions, Propagation
from kubekit.client.transport import Document
from kubekit.plane.registry.admission import Attempt
from kubekit.plane.registry.context import ConflictDeadline, RegistryContext
from kubekit.plane.registry.encoding import Metadata, document_of, record_of, view_of
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.rules.metadata_rules import ORPHAN
from kubekit.plane.registry.rules.request_options import check_delete
from kubekit.plane.registry.verbs.namespace_lifecycle import (
    PROTECTED,
    STORAGE as NAMESPACES,
    NamespaceLifecycle,
)
from kubekit.plane.registry.verbs.results import DeleteResult, Page
from kubekit.plane.registry.verbs.update_loop import is_removable
from kubekit.plane.store.records import ChangeType, Record
from kubekit.plane.store.store import RevisionConflict
from kubekit.plane.users import User

_AT_ONCE: Final = 256
# The response is the removed object, not a Status, as on a Kubernetes server.
_RETURNED_KINDS: Final = frozenset({"/serviceaccounts"})
_BY_POLICY: Final[dict[Propagation, str]] = {
    "Orphan": ORPHAN,
    "Foreground": finalizers.FOREGROUND,
    "Background": "",
}


class DeleteTarget(msgspec.Struct, frozen=True):
    """An object to delete, the options, and the user."""

    kind: Kind
    namespace: str
    name: str
    options: DeleteOptions
    user: User


class DeleteHandler:
    """The verbs delete and deletecollection of one plane."""

    def __init__(self, context: RegistryContext, lifecycle: NamespaceLifecycle) -> None:
        self._context = context
        self._lifecycle = lifecycle

    async def delete(self, target: DeleteTarget) -> DeleteResult:
        """The last state of the removed object, or its new state if finalizers hold it."""
        check_delete(target.options)
        kind, name = target.kind, target.name
        if kind.storage == NAMESPACES and name in PROTECTED:
            raise Forbidden(
                f'namespaces "{name}" is forbidden: this namespace may not be deleted',
                StatusDetails(name=name, kind="namespaces"),
            )
        deadline = ConflictDeadline()
        with self._lifecycle.closing(kind, name):
            while True:
                try:
                    return await self._try(target)
                except RevisionConflict:
                    deadline.conflict(kind, kind.key(target.namespace, name))

    def check_collection(self, kind: Kind) -> None:
        """Refuse to delete all namespaces at once, as a Kubernetes server does."""
        if kind.storage == NAMESPACES:
            raise MethodNotAllowed(
                "the server does not allow this method on the requested resource"
            )

    async def delete_all(self, page: Page, every: DeleteTarget) -> Page:
        """Delete every object of a page, with the options and the user of ``every``.

        Objects that are gone are skipped.
        """
        for start in range(0, len(page.records), _AT_ONCE):
            some = (self._delete_one(r, every) for r in page.records[start : start + _AT_ONCE])
            # Wait for all, so that no deletion is still running when the caller gets a refusal.
            for outcome in await asyncio.gather(*some, return_exceptions=True):
                if outcome is not None:
                    raise outcome
        return page

    async def _delete_one(self, record: Record, every: DeleteTarget) -> None:
        namespace, _, name = record.key.rpartition("/")
        with suppress(NotFound):
            await self.delete(replace(every, namespace=namespace, name=name))

    async def _try(self, target: DeleteTarget) -> DeleteResult:
        kind, options = target.kind, target.options
        key = kind.key(target.namespace, target.name)
        record = self._context.store.find(kind.storage, key)
        if record is None:
            raise errors.not_found(kind.resource, target.name)
        old = document_of(kind, record)
        _check_preconditions(kind, old["metadata"], options)
        await self._admit(target, old)
        new = self._marked(kind, old, options.propagation)
        gone = is_removable(kind, new)
        if not gone and new == old:
            return DeleteResult(view_of(kind, record), gone=False)
        document = old if gone else new
        is_name_only = gone and kind.storage not in _RETURNED_KINDS
        if options.dry_run:
            return DeleteResult(record_of(kind, key, record.revision, document), is_name_only)
        change = ChangeType.DELETED if gone else ChangeType.MODIFIED
        draft = self._context.draft(kind, key, record.revision, change, document)
        return DeleteResult(view_of(kind, await self._context.commit(draft)), is_name_only)

    async def _admit(self, target: DeleteTarget, old: Document) -> None:
        admission = self._context.admission
        if admission.mutating or admission.validating:
            attempt = _attempt(target, old)
            await admission.mutate(attempt)
            await admission.validate(attempt)

    def _marked(self, kind: Kind, old: Document, policy: Propagation) -> Document:
        """The object, marked as deleting."""
        metadata = {**old["metadata"]}
        metadata.pop("finalizers", None)
        if held := _finalizers(old["metadata"].get("finalizers", []), policy):
            metadata["finalizers"] = held
        if "deletionTimestamp" not in metadata:
            metadata["deletionTimestamp"] = self._context.stamp()
            if kind.storage != NAMESPACES:  # their deletion has no time limit
                metadata["deletionGracePeriodSeconds"] = 0
            if "generation" in metadata:
                metadata["generation"] += 1
        new = {**old, "metadata": metadata}
        if kind.storage == NAMESPACES:
            new["status"] = {**old.get("status", {}), "phase": "Terminating"}
        return new


def _attempt(target: DeleteTarget, old: Document) -> Attempt:
    return Attempt(
        verb="delete",
        kind=target.kind,
        namespace=target.namespace,
        name=target.name,
        old=old,
        user=target.user,
        options=target.options,
    )


def _finalizers(present: list[str], policy: Propagation) -> list[str]:
    """The finalizers with the one of the policy. Without a policy they are unchanged."""
    if not policy:
        return present
    wanted = _BY_POLICY[policy]
    others = [name for name in present if name == wanted or name not in _BY_POLICY.values()]
    return others if not wanted or wanted in others else [*others, wanted]


def _check_preconditions(kind: Kind, metadata: Metadata, options: DeleteOptions) -> None:
    for word, wanted, present, why in (
        ("UID", options.uid, metadata["uid"], "deleted and then recreated"),
        ("ResourceVersion", options.resource_version, metadata["resourceVersion"], "modified"),
    ):
        if wanted and wanted != present:
            raise _precondition(kind, metadata["name"], word, (wanted, present, why))


def _precondition(kind: Kind, name: str, word: str, values: tuple[str, str, str]) -> Conflict:
    """The refusal, in the text of a Kubernetes server, which differs for namespaces."""
    wanted, present, why = values
    if kind.storage == NAMESPACES:
        mismatch = f"{word} in precondition: {wanted}, {word} in object meta: {present}"
        return errors.conflict(kind.resource, name, f"Precondition failed: {mismatch}")
    named = msgspec.structs.replace(kind.resource, plural=kind.resource.kind)
    return errors.conflict(
        named,
        name,
        f"the {word} in the precondition ({wanted}) does not match the {word} in record "
        f"({present}). The object might have been {why}",
    )
