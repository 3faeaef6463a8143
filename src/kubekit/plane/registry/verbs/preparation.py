"""Prepares a requested document for storage, for a create and for an update.

conform     the schema prunes, defaults and validates the document
mutate      mutating admission may change it; the schema validates it again
check       metadata, CEL rules, the kind's own rules
track       managed fields are updated; defaulted fields have no manager
validate    validating admission may refuse
"""

from typing import Final

import msgspec

from kubekit.client.transport import Document
from kubekit.plane.apply import managed_fields
from kubekit.plane.apply.entries import Author, Entry
from kubekit.plane.registry.admission import Attempt
from kubekit.plane.registry.context import RegistryContext
from kubekit.plane.registry.encoding import same
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.rules import metadata_rules
from kubekit.plane.registry.schema.conformance import Conformed
from kubekit.plane.registry.verbs.metadata import creation_errors, update_errors, updated_metadata
from kubekit.plane.registry.verbs.metadata_decoder import Received, receive
from kubekit.plane.registry.verbs.subresources import with_part
from kubekit.plane.registry.verbs.targets import WriteTarget
from kubekit.plane.registry.verbs.validation import checked, typed, warnings_of

_UNKNOWN: Final = "unknown"  # a writer that names no field manager


class Proposal(msgspec.Struct):
    """A requested document.

    ``document`` has its final metadata. ``part`` is the subresource that limits what changes;
    ``subresource`` is the one in the request: a write to ``scale`` changes the object. ``old`` is
    None for a new object. ``managed`` are the managed fields if an apply made the document.
    """

    target: WriteTarget
    document: Document
    received: Received
    old: Document | None = None
    part: str = ""
    subresource: str = ""
    managed: list[Entry] | None = None


class Prepared(msgspec.Struct, frozen=True):
    """An object as it will be stored, and the warnings about it."""

    document: Document
    warnings: tuple[str, ...] = ()


class Preparation:
    """Runs the steps for one plane."""

    def __init__(self, context: RegistryContext) -> None:
        self._context = context

    async def prepare(self, proposal: Proposal) -> Prepared:
        """The object to store. Raises an `ApiError` to refuse."""
        target, old = proposal.target, proposal.old
        kind, admission = target.kind, self._context.admission
        conformed = kind.conform(proposal.document, old)
        warnings = warnings_of(kind, target.options.field_validation, proposal.received, conformed)
        attempt, is_tracked = None, False
        if admission.mutating or admission.validating:
            attempt = _attempt(proposal, conformed.document)
        if attempt is not None and admission.mutating:
            conformed = await self._mutated(proposal, conformed, attempt)
            # Fields set by admission have no manager. Fields set by the kind's own rules belong to
            # the client, and these rules have not run yet.
            is_tracked = attempt.changed or kind.prepare is None
        stored = _checked(proposal, conformed)
        if not is_tracked:
            self._track(proposal, stored)
        if attempt is not None:
            attempt.document = stored
            await admission.validate(attempt)
            warnings += attempt.warnings
        before = {} if old is None else old["metadata"]
        warnings += metadata_rules.warnings(kind, stored["metadata"], before)
        return Prepared(stored, tuple(warnings))

    def _track(self, proposal: Proposal, document: Document) -> None:
        """Write the managed fields into the metadata."""
        target, metadata = proposal.target, document["metadata"]
        entries = proposal.managed
        if entries is None:
            kind, sent = target.kind, proposal.received.metadata.get("managedFields")
            manager = target.options.field_manager or _UNKNOWN
            author = Author(
                manager, kind.resource.api_version, self._context.stamp(), proposal.subresource
            )
            if proposal.old is None:
                entries = managed_fields.created(kind.shape, document, author, sent)
            else:
                entries = managed_fields.updated(kind.shape, proposal.old, document, author, sent)
        if entries:
            metadata["managedFields"] = entries
        else:
            metadata.pop("managedFields", None)

    async def _mutated(
        self, proposal: Proposal, conformed: Conformed, attempt: Attempt
    ) -> Conformed:
        """The document after mutating admission. The plugins get their own copy of the metadata."""
        document = conformed.document
        if not conformed.errors:  # an invalid document has no reliable fields
            self._track(proposal, document)
        attempt.document = {**document, "metadata": {**document["metadata"]}}
        await self._context.admission.mutate(attempt)
        return _conformed_again(proposal, attempt) if attempt.changed else conformed


def _attempt(proposal: Proposal, document: Document) -> Attempt:
    target = proposal.target
    return Attempt(
        verb="create" if proposal.old is None else "update",
        kind=target.kind,
        namespace=target.namespace,
        name=document["metadata"]["name"],
        subresource=proposal.subresource,
        document=document,
        old=proposal.old,
        user=target.user,
        options=target.options,
    )


def _conformed_again(proposal: Proposal, attempt: Attempt) -> Conformed:
    """The mutated document, conformed to its schema again.

    Admission cannot change the identity, nor more than the request itself may.
    """
    kind, old = proposal.target.kind, proposal.old
    document = attempt.document or {}
    metadata = proposal.document["metadata"]
    if proposal.part and old is not None:
        return kind.conform(with_part(proposal.part, old, document, metadata), old)
    proposal.received = receive(kind, document)
    owners = metadata.get("managedFields")
    metadata = updated_metadata(metadata, proposal.received.metadata)
    if owners:
        metadata["managedFields"] = owners
    return kind.conform(typed(kind, document, metadata, old), old)


def _checked(proposal: Proposal, conformed: Conformed) -> Document:
    kind, old = proposal.target.kind, proposal.old
    metadata = conformed.document["metadata"]
    if old is None:
        return checked(kind, conformed, None, creation_errors(kind, metadata))
    if proposal.part:
        return checked(kind, conformed, old, [])
    wrong = update_errors(kind, old["metadata"], proposal.received.metadata)
    stored = checked(kind, conformed, old, wrong)
    if kind.custom and not _is_same_content(kind, old, stored):
        metadata["generation"] = metadata.get("generation", 0) + 1
    return stored


def _is_same_content(kind: Kind, old: Document, new: Document) -> bool:
    """Whether the content that the generation counts is the same: all but metadata and status."""
    ignored = {"metadata", "status"} if kind.resource.status else {"metadata"}
    names = (old.keys() | new.keys()) - ignored
    return all(same(old.get(name), new.get(name)) for name in names)
