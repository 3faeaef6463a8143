"""The planes of the stack as a test reads them: typed clients, and waits with a limit."""

from contextlib import AsyncExitStack
from typing import ClassVar, Self

from kubekit.api.errors import Timeout, Unavailable
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from tests.peers.stack.assembly import PROJECT
from tests.peers.stack.running import RunningStack
from tests.support.compute.user_stage import UserStage


class RealStage(UserStage):
    """All planes, by name, and one namespace of the project."""

    PAUSE: ClassVar[float] = 0.05
    TRANSIENT: ClassVar[tuple[type[Exception], ...]] = (Unavailable, Timeout)

    def __init__(self, stack: RunningStack, namespace: str) -> None:
        self.stack = stack
        self.namespace = namespace
        self._clients: dict[str, Client] = {}
        self._resources = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for name in self.stack.planes:
            client = self.stack.client(name)
            self._clients[name] = await self._resources.enter_async_context(client)
        await self.user.create(Namespace(metadata=ObjectMeta(name=self.namespace)))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._resources.aclose()

    def client(self, name: str) -> Client:
        return self._clients[name]

    @property
    def user(self) -> Client:
        """The client of the project's user."""
        return self._clients[PROJECT]
