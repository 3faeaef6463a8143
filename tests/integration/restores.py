"""Planes that are restored from an older copy while machines keep running."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compute.api.compute import Instance
from compute.app.links import Link, linked_client
from compute.app.planes import HUB, OpenPlanes, PlaneRef, folder
from compute.app.world import World
from compute.decide.conditions import find
from compute.providers.machines import STARTED
from kubekit.api.errors import Unavailable
from kubekit.client.client import Client
from kubekit.plane.store.records import ChangeEvent, ChangeType
from tests.integration.worlds import Watched

INSTANCES = "compute.datumapis.com/instances"
Machines = dict[str, tuple[object, ...]]


class Copies:
    """A copy of the folder of a plane, from which it can be restored."""

    def __init__(self, data: Path, ref: PlaneRef = HUB) -> None:
        self._present = folder(data, ref)
        self._copy = data / "kept"

    def keep(self) -> None:
        """Copy the plane as it is now. No client may be writing."""
        shutil.copytree(self._present, self._copy)

    def restore(self) -> None:
        """Restore the copy; without a copy the plane loses all data."""
        shutil.rmtree(self._present)
        if self._copy.exists():
            shutil.copytree(self._copy, self._present)


class WorldWithoutManagement(World):
    """A world that starts without the management controllers, which propagate projects to the hub."""

    async def resume(self, part: str, copy: str = "") -> None:
        if part != "management":
            await super().resume(part, copy)

    async def lead(self) -> None:
        await super().resume("management")


class Replaceable(World):
    """A world whose planes may be closed and opened again while controllers and users work."""

    def connect(self, part: str, ref: PlaneRef, manager: str, links: Sequence[Link]) -> Client:
        plane: Any = _CurrentPlane(self.planes, ref)
        return linked_client(plane, manager, *links)


class _CurrentPlane:
    """Forwards each call to the plane that is open at that moment."""

    def __init__(self, open_planes: OpenPlanes, ref: PlaneRef, *path: str) -> None:
        self._open_planes, self._ref, self._path = open_planes, ref, path

    @property
    def registry(self) -> "_CurrentPlane":
        return _CurrentPlane(self._open_planes, self._ref, "registry")

    def __getattr__(self, name: str) -> Any:
        found: Any = self._open_planes.find(self._ref)
        if found is None:
            raise Unavailable(f"{self._ref.name} is closed")
        for step in (*self._path, name):
            found = getattr(found, step)
        return found


class InstanceRecorder:
    """Records every Instance that is created or deleted in a cell."""

    def __init__(self, world: Watched, cells: Sequence[str]) -> None:
        self.seen: list[str] = []
        for cell in cells:
            world.planes[cell].store.listen(self._of(cell), [INSTANCES])

    def _of(self, cell: str) -> Any:
        def record(_: str, event: ChangeEvent) -> None:
            if event.change is not ChangeType.MODIFIED:
                self.seen.append(f"{event.change} {cell} {event.record.key.partition('/')[2]}")

        return record


async def machines(world: Watched, cells: Sequence[str]) -> Machines:
    """The machines of cells, with facts that change if a machine is stopped: uid and start times."""
    found: Machines = {}
    for cell in cells:
        for each in (await world.client(cell).every(Instance)).items:
            ready = find(each.status.conditions, "Ready")
            since = ready.last_transition_time if ready else None
            facts = (each.metadata.uid, each.metadata.annotations.get(STARTED), since)
            found[f"{cell} {each.metadata.name}"] = facts
    return found
