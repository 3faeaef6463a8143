"""The deletion of a namespace: its content is deleted, then the namespace itself.

While finalizers hold the content, the namespace stays, and its conditions report what is left.
Every deletion of one of its objects requeues the namespace. An object may be stored late, because
its creation was accepted just before the namespace was deleted. Then it is deleted at once.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubekit.api import times
from kubekit.client.options import PLAIN_WRITE
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.registry.background.bulk_delete import delete_objects
from kubekit.plane.registry.background.keyed_worker import KeyedWorker
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.ownership import is_deleting, meta_of
from kubekit.plane.registry.registry import Registry
from kubekit.plane.registry.rules.builtin_kinds import NAMESPACE_FINALIZER
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record
from kubekit.plane.store.store import Store

_CONTENT: Final = "NamespaceContentRemaining"
_FINALIZERS: Final = "NamespaceFinalizersRemaining"


class NamespaceDeleter:
    """Deletes the content of terminating namespaces, and then removes their finalizer."""

    def __init__(self, store: Store, registry: Registry, environment: ExecutionEnvironment) -> None:
        self._store = store
        self._registry = registry
        self._environment = environment
        self._namespaces = registry.kinds.require("v1", "Namespace")
        self.worker = KeyedWorker(self._reconcile, max_concurrent=4)
        self._terminating: set[str] = set()

    def start(self) -> None:
        """Queue the terminating namespaces, and follow all later changes."""
        for record in self._store.collection(self._namespaces.storage).range():
            self._add_if_terminating(record)
        self.worker.on_close(self._store.listen(self._on_change))

    def _add_if_terminating(self, record: Record) -> None:
        if is_deleting(record):
            self._terminating.add(record.key)
            self.worker.add(record.key)

    def _on_change(self, resource: str, event: ChangeEvent) -> None:
        if resource == self._namespaces.storage:
            if event.change is ChangeType.DELETED:
                self._terminating.discard(event.record.key)
            else:
                self._add_if_terminating(event.record)
            return
        namespace, _, _ = event.record.key.rpartition("/")
        if not namespace or event.change is ChangeType.MODIFIED:
            return
        late = event.change is ChangeType.ADDED and not self._exists(namespace)
        if namespace in self._terminating or late:
            self.worker.add(namespace)

    def _exists(self, namespace: str) -> bool:
        return self._store.find(self._namespaces.storage, namespace) is not None

    async def _reconcile(self, namespace: str) -> None:
        record = self._store.find(self._namespaces.storage, namespace)
        if record is not None and not is_deleting(record):
            return
        refusals = await delete_objects(self._registry, self._content(namespace))
        if record is not None:
            await self._finish(namespace)
        if refusals:
            raise refusals[0]

    def _content(self, namespace: str) -> Iterator[tuple[Kind, Record]]:
        for resource, kind in self._registry.kinds.stored().items():
            if kind.resource.namespaced:
                for record in self._store.collection(resource).range(prefix=f"{namespace}/"):
                    yield kind, record

    async def _finish(self, namespace: str) -> None:
        """Remove the finalizer of an empty namespace; otherwise report what is left."""
        record = self._store.find(self._namespaces.storage, namespace)
        if record is None:
            return
        left = list(self._content(namespace))
        document = msgspec.json.decode(record.data)
        if left:
            await self._report(namespace, document, left)
        else:
            kept = [f for f in document["spec"].get("finalizers", []) if f != NAMESPACE_FINALIZER]
            document["spec"]["finalizers"] = kept
            await self._update(namespace, document, "finalize")

    async def _report(
        self, namespace: str, document: dict[str, Any], left: list[tuple[Kind, Record]]
    ) -> None:
        status = document.setdefault("status", {})
        before = status.get("conditions", [])
        now = times.format_time(self._environment.now())
        status["conditions"] = _with_transitions(before, _conditions(left), now)
        if status["conditions"] != before:
            await self._update(namespace, document, "status")

    async def _update(self, namespace: str, document: dict[str, Any], part: str) -> None:
        await self._registry.update(
            self._namespaces, "", namespace, document, PLAIN_WRITE, subresource=part
        )


def _conditions(left: list[tuple[Kind, Record]]) -> list[dict[str, str]]:
    """The conditions that report what is left, as in Kubernetes."""
    kinds = Counter(f"{k.resource.plural}.{k.resource.group}".rstrip(".") for k, _ in left)
    holding = Counter(name for _, record in left for name in meta_of(record).finalizers)
    counted = ", ".join(f"{kind} has {n} resource instances" for kind, n in sorted(kinds.items()))
    held = ", ".join(f"{name} in {n} resource instances" for name, n in sorted(holding.items()))
    return [
        {
            "type": _CONTENT,
            "status": "True",
            "reason": "SomeResourcesRemain",
            "message": f"Some resources are remaining: {counted}",
        },
        {
            "type": _FINALIZERS,
            "status": "True" if held else "False",
            "reason": "SomeFinalizersRemain" if held else "ContentHasNoFinalizers",
            "message": f"Some content in the namespace has finalizers remaining: {held}"
            if held
            else "All content-preserving finalizers finished",
        },
    ]


def _with_transitions(
    before: list[dict[str, str]], after: list[dict[str, str]], now: str
) -> list[dict[str, str]]:
    """The conditions, each with the time when its status last changed."""
    known = {condition["type"]: condition for condition in before}
    return [
        {
            **condition,
            "lastTransitionTime": known[condition["type"]]["lastTransitionTime"]
            if known.get(condition["type"], {}).get("status") == condition["status"]
            else now,
        }
        for condition in after
    ]
