"""A stage for controllers: planes by role on a virtual clock, and the controllers on them.

    def test_it(tmp_path):
        staged(tmp_path, story)          # async def story(stage: Stage) -> None

Planes are the real ones and serve every kind of ours. Time advances only when all tasks wait, so a
test of an hour takes no time. `until` waits for a condition, and its failure shows what was read last.
`docs/kubekit.md` has an example.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.store.records import ChangeEvent
from kubekit.plane.store.store import Store, StoreSettings
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.scope import Scope
from kubekit.runtime.watching.informers import ALL_OBJECTS, KindSelectors
from tests.support.compute import served_kinds
from tests.support.kubekit.plane_worlds import environment
from tests.support.kubekit.virtual_time import run
from tests.support.kubekit.waits import Waits

T = TypeVar("T")
Write = tuple[str, str, str]  # plane, kind, object
_SETTINGS = StoreSettings(sealed=frozenset())  # no key: it would be drawn outside of the seed


@cache
def every_kind() -> Kinds:
    """The kinds that a plane of a stage serves. Cached: reading the schemas takes longer than a test."""
    return served_kinds.everything()


@dataclass
class Observer(Waits):
    """Observes planes, and waits for states there."""

    planes: dict[str, Plane] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)  # in order

    def observe(self, name: str, plane: Plane) -> None:
        """Observe a plane from now on, under this name."""
        plane.store.listen(lambda kind, event: self._on_change(name, kind, event))
        self.planes[name] = plane

    def client(self, name: str, manager: str = "kubectl") -> Client:
        """A client of a user. Its requests are not recorded."""
        return LocalClient(self.planes[name], manager=manager)

    async def rest(self, seconds: float = 30.0) -> None:
        """Wait for a period without a write, leases aside."""
        while await self.quiet(seconds):
            continue

    async def quiet(self, seconds: float = 900.0) -> list[Write]:
        """The writes of the next ``seconds``, leases aside."""
        before = len(self.writes)
        await asyncio.sleep(seconds)
        return [each for each in self.writes[before:] if not each[1].endswith("/leases")]

    def _on_change(self, plane: str, kind: str, event: ChangeEvent) -> None:
        self.writes.append((plane, kind, event.record.key))


@dataclass
class Stage(Observer):
    """Planes by name, roles by name, and a factory for controllers."""

    environment: ExecutionEnvironment = field(kw_only=True)
    directory: Path = field(kw_only=True)
    factory: ControllerFactory = field(kw_only=True)
    scope: Scope = field(kw_only=True)
    kinds: Kinds = field(kw_only=True)
    roles: dict[str, Clusters] = field(default_factory=dict)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    def role(self, name: str, parts: KindSelectors = ALL_OBJECTS) -> Clusters:
        """The clusters of a role, empty at the start."""
        if name not in self.roles:
            self.roles[name] = Clusters(name, self.environment, parts)
        return self.roles[name]

    async def plane(self, name: str) -> Plane:
        """The plane of this name, opened at the first call."""
        if name not in self.planes:
            path = self.directory / f"{name}.db"
            store = await Store.open(path, self.environment, _SETTINGS, threaded=False, vfs="memdb")
            plane = await Plane.on(store, self.kinds, self.environment)
            self._stack.push_async_callback(plane.close)
            self.observe(name, plane)
        return self.planes[name]

    async def engage(self, role: str, name: str, manager: str = "compute") -> None:
        """Engage this plane in a role, under its own name."""
        client = LocalClient(await self.plane(name), manager=manager)
        await self.role(role).engage(cluster_name(name), client)

    def start(self, *controllers: Controller) -> None:
        """Run controllers, without leader election, and the writing of their events."""
        for controller in controllers:
            controller.join()
            self.scope.spawn(controller.run(None), controller.name)
        for task in self.factory.background_tasks():
            self.scope.spawn(task.run(), task.name)


@asynccontextmanager
async def staging(
    directory: Path, planes: Iterable[tuple[str, str]] = (), kinds: Kinds | None = None
) -> AsyncIterator[Stage]:
    """A stage; ``planes`` are pairs of a role and the name of a plane that is engaged in it."""
    around = environment()
    factory = ControllerFactory(around, Metrics(), "test")
    stage = Stage(
        environment=around,
        directory=directory,
        factory=factory,
        scope=Scope("test"),
        kinds=kinds or every_kind(),
    )
    try:
        for role, name in planes:
            await stage.engage(role, name)
        yield stage
    finally:
        await stage.scope.close()
        for clusters in reversed(stage.roles.values()):
            await clusters.close()
        await stage._stack.aclose()


def staged(
    directory: Path,
    story: Callable[[Stage], Coroutine[Any, Any, None]],
    *planes: tuple[str, str],
) -> None:
    """Run a test on a stage with these planes, on virtual time."""

    async def tell() -> None:
        async with staging(directory, planes) as stage:
            await story(stage)

    run(tell())
