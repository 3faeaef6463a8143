"""Deleting objects, one or many.

An object that nothing holds is gone at once. One that a finalizer holds is marked, and goes when
an update takes the last finalizer away (`updates`). How dependents are treated is written down as
a finalizer too, for the collector to act on.
"""

import asyncio
import dataclasses
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
    LASTING,
    STORAGE as NAMESPACES,
    NamespaceLifecycle,
)
from kubekit.plane.registry.verbs.results import DeleteResult, Page
from kubekit.plane.registry.verbs.update_loop import may_go
from kubekit.plane.store.records import ChangeType, Record
from kubekit.plane.store.store import RevisionConflict
from kubekit.plane.users import User

_AT_ONCE: Final = 256
_SHOWN: Final = frozenset({"/serviceaccounts"})  # once they are gone, as on a Kubernetes server
_BY_POLICY: Final[dict[Propagation, str]] = {
    "Orphan": ORPHAN,
    "Foreground": finalizers.FOREGROUND,
    "Background": "",
}


class DeleteTarget(msgspec.Struct, frozen=True):
    """An object that somebody wants gone."""

    kind: Kind
    namespace: str
    name: str
    options: DeleteOptions
    user: User


class DeleteHandler:
    """The verbs delete and deletecollection of one plane."""

    def __init__(self, context: RegistryContext, gate: NamespaceLifecycle) -> None:
        self._context = context
        self._gate = gate

    async def delete(self, doomed: DeleteTarget) -> DeleteResult:
        """The object as it was last, or as it waits for its finalizers."""
        check_delete(doomed.options)
        kind, name = doomed.kind, doomed.name
        if kind.storage == NAMESPACES and name in LASTING:
            raise Forbidden(
                f'namespaces "{name}" is forbidden: this namespace may not be deleted',
                StatusDetails(name=name, kind="namespaces"),
            )
        race = ConflictDeadline()
        with self._gate.closing(kind, name):
            while True:
                try:
                    return await self._try(doomed)
                except RevisionConflict:
                    race.lost(kind, kind.key(doomed.namespace, name))

    def check_collection(self, kind: Kind) -> None:
        """Refuse to delete all namespaces at once, as every server does."""
        if kind.storage == NAMESPACES:
            raise MethodNotAllowed(
                "the server does not allow this method on the requested resource"
            )

    async def delete_all(self, page: Page, every: DeleteTarget) -> Page:
        """Every object of a page, each as ``every`` says. Those that are gone are let be."""
        for start in range(0, len(page.records), _AT_ONCE):
            some = (self._delete_one(r, every) for r in page.records[start : start + _AT_ONCE])
            # All are waited for: nothing goes on behind the back of whoever is told of a refusal.
            for outcome in await asyncio.gather(*some, return_exceptions=True):
                if outcome is not None:
                    raise outcome
        return page

    async def _delete_one(self, record: Record, every: DeleteTarget) -> None:
        namespace, _, name = record.key.rpartition("/")
        with suppress(NotFound):
            await self.delete(replace(every, namespace=namespace, name=name))

    async def _try(self, doomed: DeleteTarget) -> DeleteResult:
        kind, options = doomed.kind, doomed.options
        key = kind.key(doomed.namespace, doomed.name)
        record = self._context.store.find(kind.storage, key)
        if record is None:
            raise errors.not_found(kind.resource, doomed.name)
        old = document_of(kind, record)
        _check_preconditions(kind, old["metadata"], options)
        await self._admit(doomed, old)
        new = self._marked(kind, old, options.propagation)
        gone = may_go(kind, new)
        if not gone and new == old:
            return DeleteResult(view_of(kind, record), gone=False)
        document = old if gone else new
        told = gone and kind.storage not in _SHOWN
        if options.dry_run:
            return DeleteResult(record_of(kind, key, record.revision, document), told)
        change = ChangeType.DELETED if gone else ChangeType.MODIFIED
        draft = self._context.draft(kind, key, record.revision, change, document)
        return DeleteResult(view_of(kind, await self._context.commit(draft)), told)

    async def _admit(self, doomed: DeleteTarget, old: Document) -> None:
        admission = self._context.admission
        if admission.mutating or admission.validating:
            attempt = _attempt(doomed, old)
            await admission.mutate(attempt)
            await admission.validate(attempt)

    def _marked(self, kind: Kind, old: Document, policy: Propagation) -> Document:
        """The object as it waits for its end."""
        metadata = {**old["metadata"]}
        metadata.pop("finalizers", None)
        if held := _finalizers(old["metadata"].get("finalizers", []), policy):
            metadata["finalizers"] = held
        if "deletionTimestamp" not in metadata:
            metadata["deletionTimestamp"] = self._context.stamp()
            if kind.storage != NAMESPACES:  # which take as long as they take
                metadata["deletionGracePeriodSeconds"] = 0
            if "generation" in metadata:
                metadata["generation"] += 1
        new = {**old, "metadata": metadata}
        if kind.storage == NAMESPACES:
            new["status"] = {**old.get("status", {}), "phase": "Terminating"}
        return new


def _attempt(doomed: DeleteTarget, old: Document) -> Attempt:
    return Attempt(
        verb="delete",
        kind=doomed.kind,
        namespace=doomed.namespace,
        name=doomed.name,
        old=old,
        user=doomed.user,
        options=doomed.options,
    )


def _finalizers(present: list[str], policy: Propagation) -> list[str]:
    """The finalizers once the policy is written among them. Without one, what is there counts."""
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


def _precondition(kind: Kind, name: str, word: str, told: tuple[str, str, str]) -> Conflict:
    """The refusal, in the words that a Kubernetes server has for namespaces and for all others."""
    wanted, present, why = told
    if kind.storage == NAMESPACES:
        found = f"{word} in precondition: {wanted}, {word} in object meta: {present}"
        return errors.conflict(kind.resource, name, f"Precondition failed: {found}")
    named = dataclasses.replace(kind.resource, plural=kind.resource.kind)
    return errors.conflict(
        named,
        name,
        f"the {word} in the precondition ({wanted}) does not match the {word} in record "
        f"({present}). The object might have been {why}",
    )
