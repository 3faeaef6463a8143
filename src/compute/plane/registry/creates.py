"""Creating objects."""

from typing import Final

from compute.api import errors
from compute.api.errors import BadRequest
from compute.client.options import WriteOptions
from compute.client.transport import Document
from compute.plane.registry import metarules
from compute.plane.registry.addressing import check_namespace, check_type
from compute.plane.registry.context import Attempt, Context
from compute.plane.registry.encoding import record_of, view_of
from compute.plane.registry.judging import checked, typed, warnings_of
from compute.plane.registry.kinds import Kind
from compute.plane.registry.metadata import birth_errors, born
from compute.plane.registry.metaintake import Received, receive
from compute.plane.registry.namespacegate import NamespaceGate
from compute.plane.registry.objectnames import generated
from compute.plane.registry.optionrules import check_write
from compute.plane.registry.outcomes import Written
from compute.plane.store.records import ChangeType, Record
from compute.plane.store.store import Moved

_TRIES: Final = 8  # names made by chance before giving up


class Creates:
    """The verb create of one plane."""

    def __init__(self, context: Context, gate: NamespaceGate) -> None:
        self._context = context
        self._gate = gate

    async def create(
        self, kind: Kind, namespace: str, document: Document, options: WriteOptions
    ) -> Written:
        """The new object. A name made by chance that is taken already is made anew."""
        check_write(options)
        received = receive(kind, check_type(kind, document))
        name = taken = received.given.get("name", "")
        for _ in range(1 if name else _TRIES):
            self._gate.check(kind, namespace, name)
            stored, warnings = self._prepared(kind, namespace, document, received, options)
            record = await self._stored(kind, namespace, stored, options)
            if record is not None:
                return Written(record, created=True, warnings=warnings)
            taken = stored["metadata"]["name"]
        raise errors.already_exists(kind.resource, taken)

    def _prepared(
        self,
        kind: Kind,
        namespace: str,
        document: Document,
        received: Received,
        options: WriteOptions,
    ) -> tuple[Document, tuple[str, ...]]:
        """The object as it will be stored, and the warnings about it."""
        given = received.given
        check_namespace(kind, namespace, given)
        if given.get("resourceVersion"):
            raise BadRequest("resourceVersion should not be set on objects to be created")
        prefix = given.get("generateName", "")
        chance = self._context.environment.chance
        name = given.get("name") or (generated(prefix, chance) if prefix else "")
        metadata = born(kind, namespace, name, given, self._context)
        conformed = kind.conform(typed(kind, document, metadata, None))
        warnings = warnings_of(kind, options.field_validation, received, conformed)
        stored = checked(kind, conformed, None, birth_errors(kind, metadata))
        if self._context.admission:
            self._context.admit(Attempt("create", kind, kind.key(namespace, name), document=stored))
        return stored, (*warnings, *metarules.warnings(kind, metadata))

    async def _stored(
        self, kind: Kind, namespace: str, document: Document, options: WriteOptions
    ) -> Record | None:
        """The new record; None when the name is taken."""
        key = kind.key(namespace, document["metadata"]["name"])
        if self._context.store.find(kind.storage, key) is not None:
            return None
        if options.dry_run:
            return record_of(kind, key, 0, document)
        draft = self._context.draft(kind, key, 0, ChangeType.ADDED, document)
        try:
            return view_of(kind, await self._context.commit(draft))
        except Moved:
            return None
