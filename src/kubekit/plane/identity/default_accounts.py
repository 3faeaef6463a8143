"""Creates the service account ``default`` in every namespace, and again if it is deleted."""

from typing import Final

from kubekit.api.errors import AlreadyExists, NotFound
from kubekit.client.options import PLAIN_WRITE
from kubekit.plane.registry.background.keyed_worker import KeyedWorker
from kubekit.plane.registry.ownership import is_deleting
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import ChangeEvent, ChangeType
from kubekit.plane.store.store import Store

NAME: Final = "default"


class DefaultAccounts:
    """The controller that creates the missing service accounts."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry
        self._namespaces = registry.kinds.require("v1", "Namespace")
        self._accounts = registry.kinds.require("v1", "ServiceAccount")
        self.worker = KeyedWorker(self._reconcile)

    def start(self) -> None:
        """Reconcile the existing namespaces, and each new one."""
        for record in self._store.collection(self._namespaces.storage).range():
            if not self._has(record.key):
                self.worker.add(record.key)
        self.worker.on_close(self._store.listen(self._on_event))

    def _on_event(self, resource: str, event: ChangeEvent) -> None:
        key = event.record.key
        if resource == self._namespaces.storage:
            if event.change is ChangeType.ADDED:
                self.worker.add(key)
        elif resource == self._accounts.storage and event.change is ChangeType.DELETED:
            namespace, _, name = key.rpartition("/")
            if name == NAME:
                self.worker.add(namespace)

    async def _reconcile(self, namespace: str) -> None:
        if not self._lacks(namespace):
            return
        document = {"metadata": {"name": NAME}}
        try:
            await self._registry.create(self._accounts, namespace, document, PLAIN_WRITE)
        except (AlreadyExists, NotFound):
            # The account was created or the namespace deleted in the meantime.
            if self._lacks(namespace):
                raise  # a webhook may answer like this too: retry with backoff

    def _lacks(self, namespace: str) -> bool:
        record = self._store.find(self._namespaces.storage, namespace)
        return record is not None and not is_deleting(record) and not self._has(namespace)

    def _has(self, namespace: str) -> bool:
        return self._store.find(self._accounts.storage, f"{namespace}/{NAME}") is not None
