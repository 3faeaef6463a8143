"""Webhooks for one namespace of a server: they run here, on loopback, behind TLS.

Each configuration speaks only of that namespace. A server may take a moment to observe it; `configure`
waits until it does.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from kubekit.api.kinds.admission import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from kubekit.client.transport import Document, Transport
from tests.contract.collection import Collection
from tests.contract.kinds import CONFIG_MAP
from tests.support.kubekit.admission_builders import Server

Reply = Callable[[Document], Document]
SORTS = {
    "validating": ValidatingWebhookConfiguration.RESOURCE,
    "mutating": MutatingWebhookConfiguration.RESOURCE,
}
READY = "ready.example.com"


class Hooks:
    """Webhooks for one namespace."""

    def __init__(self, transport: Transport, space: str, server: Server) -> None:
        self.server = server
        self.space = space
        self._transport = transport
        self._made: list[tuple[Collection, str]] = []

    @property
    def reviews(self) -> list[Document]:
        return self.server.reviews

    def hook(self, reply: Reply, name: str = "one", **said: Any) -> Document:
        """A webhook that answers so. It hears of ConfigMaps and widgets, unless it says otherwise."""
        return self.at(self.server.on(name, reply), name, **said)

    def at(self, client: Document, name: str = "one", **said: Any) -> Document:
        rule = {
            "operations": ["*"],
            "apiGroups": ["*"],
            "apiVersions": ["*"],
            "resources": ["configmaps", "widgets", "widgets/*"],
        }
        return {
            "name": f"{name}.example.com",
            "clientConfig": client,
            "rules": [rule | said.pop("rule", {})],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "objectSelector": {"matchExpressions": [{"key": READY, "operator": "DoesNotExist"}]},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.space}},
            **said,
        }

    async def configure(self, sort: str, *hooks: Document, name: str = "a") -> Document:
        """A configuration that is in effect. An extra webhook shows when it is."""
        called = asyncio.Event()

        def note(_request: Document) -> Document:
            called.set()
            self.reviews.clear()
            return {}

        selector = {"matchLabels": {READY: "yes"}}
        last = self.hook(note, f"ready-{sort}-{name}", objectSelector=selector)
        collection = Collection(self._transport, SORTS[sort])
        full = f"{self.space}-{name}"
        made = await collection.make(full, webhooks=[*hooks, last])
        self._made.append((collection, full))
        await self._until(called)
        return made

    async def _until(self, called: asyncio.Event) -> None:
        maps = Collection(self._transport, CONFIG_MAP, self.space)
        probe = maps.document("probe", metadata={"labels": {READY: "yes"}})
        for _ in range(100):
            await maps.create(probe, dry_run=True)
            if called.is_set():
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the configuration does not take effect")

    async def remove(self) -> None:
        for collection, name in self._made:
            await collection.delete(name)
