"""The verb create."""

from typing import Final

from msgspec.structs import replace

from kubekit.api import errors
from kubekit.api.errors import AlreadyExists, BadRequest
from kubekit.api.status import StatusDetails
from kubekit.client.transport import Document
from kubekit.plane.apply.entries import Entry
from kubekit.plane.registry.context import RegistryContext
from kubekit.plane.registry.encoding import record_of, view_of
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.ownership import is_deleting
from kubekit.plane.registry.rules.object_names import generated
from kubekit.plane.registry.rules.request_options import check_write
from kubekit.plane.registry.verbs.identity_checks import check_namespace, check_type
from kubekit.plane.registry.verbs.metadata import new_metadata
from kubekit.plane.registry.verbs.metadata_decoder import Received, receive
from kubekit.plane.registry.verbs.namespace_lifecycle import NamespaceLifecycle
from kubekit.plane.registry.verbs.preparation import Preparation, Proposal
from kubekit.plane.registry.verbs.results import WriteResult
from kubekit.plane.registry.verbs.targets import WriteTarget
from kubekit.plane.registry.verbs.validation import typed
from kubekit.plane.store.records import ChangeType, Record
from kubekit.plane.store.store import RevisionConflict

_TRIES: Final = 8  # generated names before giving up


class CreateHandler:
    """The verb create of one plane."""

    def __init__(
        self, context: RegistryContext, lifecycle: NamespaceLifecycle, preparation: Preparation
    ) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._preparation = preparation

    async def create(
        self, target: WriteTarget, document: Document, managed: list[Entry] | None = None
    ) -> WriteResult:
        """The new object. A generated name that is already in use is generated again.

        ``managed`` are the managed fields of a document that an apply made.
        """
        check_write(target.options)
        kind, namespace = target.kind, target.namespace
        received = receive(kind, check_type(kind, document))
        name = used_name = received.metadata.get("name", "")
        for _ in range(1 if name else _TRIES):
            self._lifecycle.check(kind, namespace, name)
            proposal = self._proposal(target, document, received)
            proposal.managed = managed
            prepared = await self._preparation.prepare(proposal)
            record = await self._stored(target, prepared.document)
            if record is not None:
                return WriteResult(record, created=True, warnings=prepared.warnings)
            used_name = prepared.document["metadata"]["name"]
        raise self._taken(target, used_name, by_prefix=bool(received.metadata.get("generateName")))

    def _taken(self, target: WriteTarget, name: str, *, by_prefix: bool) -> AlreadyExists:
        """The refusal of a name in use. It says whether the other object is being deleted."""
        kind = target.kind
        refusal = errors.already_exists(kind.resource, name)
        if by_prefix:
            reason = "the server was not able to generate a unique name for the object"
            details = replace(refusal.details or StatusDetails(), retry_after_seconds=1)
            refusal = AlreadyExists(f"{refusal.message}, {reason}", details)
        record = self._context.store.find(kind.storage, kind.key(target.namespace, name))
        if record is None or not is_deleting(record):
            return refusal
        return AlreadyExists(f"object is being deleted: {refusal.message}", refusal.details)

    def _proposal(self, target: WriteTarget, document: Document, received: Received) -> Proposal:
        kind, sent = target.kind, received.metadata
        check_namespace(kind, target.namespace, sent)
        if sent.get("resourceVersion"):
            raise BadRequest("resourceVersion should not be set on objects to be created")
        prefix = sent.get("generateName", "")
        chance = self._context.environment.chance
        name = sent.get("name") or (generated(prefix, chance) if prefix else "")
        metadata = new_metadata(kind, target.namespace, name, sent, self._context)
        return Proposal(target, typed(kind, document, metadata, None), received)

    async def _stored(self, target: WriteTarget, document: Document) -> Record | None:
        """The new record; None when the name is taken."""
        kind: Kind = target.kind
        key = kind.key(target.namespace, document["metadata"]["name"])
        if self._context.store.find(kind.storage, key) is not None:
            return None
        # Admission may take time: the kind may have been removed meanwhile.
        self._lifecycle.check_kind(kind, document["metadata"]["name"])
        if target.options.dry_run:
            return record_of(kind, key, 0, document)
        draft = self._context.draft(kind, key, 0, ChangeType.ADDED, document)
        try:
            return view_of(kind, await self._context.commit(draft))
        except RevisionConflict:
            return None
