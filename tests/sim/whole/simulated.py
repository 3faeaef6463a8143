"""The world of `compute up`, part by part, over a network with faults.

Everything is as shipped: planes, controllers, engine, neighbours, provider. Only the connection from a
part to a plane is simulated, and each part can crash alone. Work of the planes themselves, such as the
creation of a project's plane, continues when the process that requested it crashes.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from compute.app.links import Link
from compute.app.planes import OpenPlanes, PlaneRef
from compute.app.sites import CellSite
from compute.app.world import World
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.plane.store.records import ChangeEvent
from kubekit.plane.store.store import Store
from kubekit.runtime.controller_factory import ControllerFactory
from tests.integration.worlds import SETTINGS, kinds, names_folder
from tests.sim.loop import outside
from tests.sim.network import Wires
from tests.sim.planes import environment
from tests.sim.whole.judge import Judge
from tests.sim.whole.processes import Process


class MemoryPlanes:
    """Planes on a disk in memory; no two ever draw the same identities."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._numbers = count()

    async def open(self, ref: PlaneRef) -> Plane:
        number = next(self._numbers)
        around = environment(f"{self._seed}-{ref.context}-{number}")
        path = Path(names_folder()) / f"{id(self)}-{number}.db"
        store = await Store.open(path, around, SETTINGS, threaded=False, vfs="memdb")
        path.with_name(f"{path.name}.lock").unlink()  # it is held by its descriptor
        return await Plane.on(store, kinds(ref.role), around)

    async def destroy(self, ref: PlaneRef) -> None:
        return


class SimulatedWorld(World):
    """A world whose parts are processes. ``processes`` has each by its name."""

    def __init__(self, seed: str, sites: Iterable[CellSite], wires: Wires, judge: Judge) -> None:
        super().__init__(OpenPlanes(MemoryPlanes(seed)), sites, environment(seed))
        self.processes: dict[str, Process] = {}
        self._seed = seed
        self._wires = wires
        self._judge = judge
        self._outside = outside()
        self.planes.join(self)

    # What becomes of planes

    def opened(self, ref: PlaneRef, plane: Plane) -> None:
        plane.store.listen(partial(self._observe, ref))

    def closing(self, ref: PlaneRef, plane: Plane) -> None:
        for process in self.processes.values():
            process.lose(ref)

    def ref(self, name: str) -> PlaneRef | None:
        """The plane of this name that is open."""
        return next((ref for ref in self.planes if ref.name == name), None)

    def _observe(self, ref: PlaneRef, _: str, event: ChangeEvent) -> None:
        self._judge.committed(ref, event)

    # What a world does for its parts

    def connect(self, part: str, ref: PlaneRef, manager: str, links: Sequence[Link]) -> Client:
        process = self.processes.get(part)
        if process is None:  # the door: it is where the plane is
            return LocalClient(self.planes[ref], manager=manager)
        return process.connect(ref, self.planes[ref], manager)

    def factory(self, part: str) -> ControllerFactory:
        return self.processes[part].factory()

    async def resume(self, part: str, copy: str = "") -> None:
        title = part + copy
        if title not in self.processes:
            main = partial(super().resume, part, copy)
            self.processes[title] = Process(
                title, self._wires, self._judge, main, partial(self.forget, title)
            )
            self.processes[title].seed = self._seed
        self.processes[title].start()

    async def ensure(self, project: str) -> None:
        await self._by_itself(super().ensure(project))

    async def remove(self, project: str) -> None:
        await self._by_itself(self._remove(project))

    async def _remove(self, project: str) -> None:
        await super().remove(project)
        self._judge.removed(PlaneRef("project", project))

    async def stop(self) -> None:
        """End it at once."""
        for process in reversed(list(self.processes.values())):
            await process.crash()
        await self._wires.close()
        await super().stop()

    async def _by_itself(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that continues when the process that requested it dies."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(work, context=self._outside.copy())
        await asyncio.shield(task)
