"""The controller of CustomResourceDefinitions: it adds, changes and removes the served kinds.

The served kinds are updated after each commit, before the writer gets the result. So the next
request finds the kind. Names are accepted in the order of the commits. Another commit may make a
written status outdated; a reconcile pass corrects it. While a definition is being deleted, it
accepts no new objects, its objects are deleted, and it is removed when none is left.
"""

import dataclasses
import logging
from collections.abc import Callable, Iterator
from typing import Final

from kubekit.api import times
from kubekit.api.errors import Forbidden
from kubekit.api.fields import FieldError
from kubekit.api.finalizers import CLEANUP
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.status import StatusDetails
from kubekit.api.structural.nodes import Document
from kubekit.client.options import PatchType, WriteOptions
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.registry.background.bulk_delete import delete_objects
from kubekit.plane.registry.background.keyed_worker import KeyedWorker
from kubekit.plane.registry.definitions import definition_kind, naming, served_kinds, statuses
from kubekit.plane.registry.definitions.definition_kind import STORAGE
from kubekit.plane.registry.definitions.naming import NamesInUse, NamingResult
from kubekit.plane.registry.definitions.stored_definitions import StoredDefinition, entry_of, facts
from kubekit.plane.registry.encoding import encode
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record

MOST_DEFINITIONS: Final = 1000
MOST_BYTES: Final = 64 << 20  # of all definitions; the derived data takes ten times as much

_RESOURCE: Final = CustomResourceDefinition.RESOURCE
_WRITE: Final = WriteOptions(field_manager="customresourcedefinitions")
_log: Final = logging.getLogger(__name__)


class DefinitionController:
    """The definitions of one plane. ``changed`` is called whenever the served kinds change."""

    def __init__(
        self,
        registry: Registry,
        environment: ExecutionEnvironment,
        most: int,
        max_bytes: int = MOST_BYTES,
    ) -> None:
        self._store = registry.store
        self._registry = registry
        self._environment = environment
        self._most = most
        self._max_bytes = max_bytes
        self._entries: dict[str, StoredDefinition] = {}
        self._groups: dict[str, dict[str, StoredDefinition]] = {}  # the same, by group
        # The names of definitions, by the storage of their objects.
        self._terminating: dict[str, str] = {}
        self._adopted: dict[Kind, Kind] = {}  # the served kind, by the kind of the definition
        self._fixed = self._with_rules(registry.kinds)
        self.changed: Callable[[], None] = _nothing
        self.worker = KeyedWorker(self._reconcile, max_concurrent=4)

    def start(self) -> None:
        """Serve the stored definitions, and follow all later changes.

        If two definitions have the same accepted name, the older one keeps it, because the newer one
        is entered first.
        """
        entries = [entry for r in self._store.collection(STORAGE).range() if (entry := _read(r))]
        for entry in entries:
            self._remember(entry)
        for entry in sorted(entries, key=lambda entry: (entry.created, entry.name), reverse=True):
            self._enter(entry)
        self._serve()
        self.worker.on_close(self._store.listen(self._on_change))

    def _with_rules(self, kinds: Kinds) -> Kinds:
        """The fixed kinds, with the rules of this plane for definitions.

        A plane without the definition kind is not changed.
        """
        kind = kinds.by_kind(_RESOURCE.api_version, _RESOURCE.kind)
        if kind is None:
            return kinds
        return kinds.with_kinds([dataclasses.replace(kind, prepare=self._prepare)])

    def _on_change(self, resource: str, event: ChangeEvent) -> None:
        if resource == STORAGE:
            self._follow(event)
        elif event.change is not ChangeType.MODIFIED and resource in self._terminating:
            self.worker.add(self._terminating[resource])

    def _follow(self, event: ChangeEvent) -> None:
        name = event.record.key
        before = self._entries.get(name)
        if before is not None:
            self._forget(before)
        entry = None if event.change is ChangeType.DELETED else _read(event.record)
        if entry is not None:
            previous = (
                NamingResult(before.judged.accepted) if before and before.uid == entry.uid else None
            )
            self._enter(dataclasses.replace(entry, judged=previous or entry.judged))
        freed = before is not None and (
            entry is None or before.judged.accepted != self._entries[name].judged.accepted
        )
        if before is not None and freed:
            self._reconsider(before.spec.group)
        self._serve()

    def _enter(self, entry: StoredDefinition) -> None:
        """Resolve the names of a definition, and store its entry."""
        in_use = self._names_in_use(entry.spec.group, entry.name)
        judged = naming.resolve_names(entry.spec.names, entry.judged.accepted, in_use)
        entry = entry.served(judged)
        self._remember(entry)
        if entry.held or self._status(entry) != entry.status:
            self.worker.add(entry.name)

    def _remember(self, entry: StoredDefinition) -> None:
        self._entries[entry.name] = entry
        self._groups.setdefault(entry.spec.group, {})[entry.name] = entry
        if entry.terminating:
            self._terminating[entry.storage] = entry.name

    def _forget(self, entry: StoredDefinition) -> None:
        del self._entries[entry.name], self._groups[entry.spec.group][entry.name]
        self._terminating.pop(entry.storage, None)

    def _reconsider(self, group: str) -> None:
        """Resolve again the names that were refused, because names have become free."""
        for entry in tuple(self._groups[group].values()):
            if not entry.judged.all_accepted:
                self._enter(entry)

    def _names_in_use(self, group: str, name: str) -> NamesInUse:
        """The names that other definitions of a group use."""
        in_use = NamesInUse()
        for kind in self._fixed:
            if kind.resource.group == group:
                in_use.add_kind(kind)
        for entry in self._groups.get(group, {}).values():
            if entry.name != name:
                in_use.add(entry.judged.accepted)
        return in_use

    def _serve(self) -> None:
        """Update the served kinds of the registry: all definitions, in the order of their names."""
        entries = (self._entries[name] for name in sorted(self._entries))
        self._adopted = {
            kind: self._adopted.get(kind) or self._adopt(kind, int(entry.version))
            for entry in entries
            for kind in entry.kinds
        }
        members = (*self._fixed, *self._adopted.values())
        if members != self._registry.kinds.members:
            self._registry.kinds = Kinds(members)
            self.changed()

    def _adopt(self, kind: Kind, since: int) -> Kind:
        """The kind to serve. Objects older than its definition get its defaults when they are read."""
        records = self._store.collection(kind.storage).range()
        older = any(record.revision < since for record in records)
        return kind.adopted(since) if older else kind

    def _prepare(self, document: Document, old: Document | None) -> list[FieldError]:
        """The rules for definitions in this plane. They also complete the status."""
        metadata = document["metadata"]
        if old is None and len(self._entries) >= self._most:
            raise _full(metadata["name"], str(self._most))
        problems = definition_kind.prepare(document, old)
        if not problems:
            spec = definition_kind.read_spec(document["spec"])
            status = document["status"]
            in_use = self._names_in_use(spec.group, metadata["name"])
            judged = naming.resolve_names(spec.names, statuses.accepted_names(status), in_use)
            inputs = facts(
                spec,
                judged,
                metadata.get("annotations", {}),
                terminating="deletionTimestamp" in metadata,
            )
            document["status"] = statuses.completed(status, inputs, self._now())
            self._check_size(document, old)
        return problems

    def _check_size(self, document: Document, old: Document | None) -> None:
        """Refuse a definition that grows beyond the size limit of all definitions."""
        growth = len(encode(document["spec"])) - len(encode((old or {}).get("spec", {})))
        if growth > 0:
            present = sum(len(record.data) for record in self._store.collection(STORAGE).range())
            if present + growth > self._max_bytes:
                raise _full(document["metadata"]["name"], f"{self._max_bytes} bytes")

    def _status(self, entry: StoredDefinition) -> Document:
        return statuses.completed(entry.status, entry.facts, self._now())

    def _now(self) -> str:
        return times.format_time(self._environment.now())

    async def _reconcile(self, name: str) -> None:
        entry, refusals = self._entries.get(name), []
        if entry is not None and entry.held:
            refusals = await delete_objects(self._registry, self._content(entry))
            entry = self._entries.get(name)
        if entry is None:
            return
        if entry.held and not any(self._content(entry)):
            await self._release(entry)
        elif self._status(entry) != entry.status:
            # On any write, `_prepare` completes the status.
            await self._patch(name, {"status": {}}, "status")
        if refusals:
            raise refusals[0]

    def _content(self, entry: StoredDefinition) -> Iterator[tuple[Kind, Record]]:
        """The objects of the definition; none if another definition has its name."""
        names = entry.judged.accepted
        if not names.plural:
            return
        form = served_kinds.storing_kind(entry.spec, served_kinds.completed(names))
        for record in self._store.collection(form.storage).range():
            yield form, record

    async def _release(self, entry: StoredDefinition) -> None:
        kept = [name for name in entry.finalizers if name != CLEANUP]
        pinned = {"uid": entry.uid, "resourceVersion": entry.version}
        await self._patch(entry.name, {"metadata": {**pinned, "finalizers": kept}})

    async def _patch(self, name: str, change: Document, part: str = "") -> None:
        kind = self._registry.kinds.require(_RESOURCE.api_version, _RESOURCE.kind)
        await self._registry.patch(kind, "", name, PatchType.MERGE, change, _WRITE, part)


def _read(record: Record) -> StoredDefinition | None:
    """The definition in a record. An unreadable one must not stop the others from being served."""
    try:
        return entry_of(record)
    except ValueError:
        _log.exception("a definition cannot be read", extra={"definition": record.key})
        return None


def _full(name: str, most: str) -> Forbidden:
    plural, group = _RESOURCE.plural, _RESOURCE.group
    return Forbidden(
        f'{plural}.{group} "{name}" is forbidden: the limit of this plane is {most} for all '
        "definitions together; delete one first",
        StatusDetails(name=name, group=group, kind=plural),
    )


def _nothing() -> None:
    """The default of `DefinitionController.changed`."""
