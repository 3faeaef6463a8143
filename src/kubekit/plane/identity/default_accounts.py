"""Every namespace has a service account called default. When it is deleted, it comes back."""

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
    """Makes the service accounts that are missing."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry
        self._namespaces = registry.kinds.require("v1", "Namespace")
        self._accounts = registry.kinds.require("v1", "ServiceAccount")
        self.worker = KeyedWorker(self._look)

    def start(self) -> None:
        """Look at the namespaces that are there, and at each that comes."""
        for record in self._store.collection(self._namespaces.storage).range():
            if not self._has(record.key):
                self.worker.add(record.key)
        self.worker.on_close(self._store.listen(self._heard))

    def _heard(self, resource: str, event: ChangeEvent) -> None:
        key = event.record.key
        if resource == self._namespaces.storage:
            if event.change is ChangeType.ADDED:
                self.worker.add(key)
        elif resource == self._accounts.storage and event.change is ChangeType.DELETED:
            namespace, _, name = key.rpartition("/")
            if name == NAME:
                self.worker.add(namespace)

    async def _look(self, namespace: str) -> None:
        if not self._lacks(namespace):
            return
        document = {"metadata": {"name": NAME}}
        try:
            await self._registry.create(self._accounts, namespace, document, PLAIN_WRITE)
        except (AlreadyExists, NotFound):
            # Somebody was quicker, with the account or with the end of the namespace.
            if self._lacks(namespace):
                raise  # or a webhook says no so: it is tried again later

    def _lacks(self, namespace: str) -> bool:
        record = self._store.find(self._namespaces.storage, namespace)
        return record is not None and not is_deleting(record) and not self._has(namespace)

    def _has(self, namespace: str) -> bool:
        return self._store.find(self._accounts.storage, f"{namespace}/{NAME}") is not None
