"""Pictures of a world at rest, in which stories change what they are about."""

from collections.abc import Callable
from functools import cache
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from compute.app.planes import PlaneRef
from kubekit.api import scheme
from kubekit.api.meta import Object
from tests.integration.worlds import PROJECT, workload
from tests.sim.whole.judged import JudgedWorld, judged
from tests.sim.whole.plane_readings import Picture, Reading, picture, resource_of

K = TypeVar("K", bound=Object)
SHOP = PlaneRef("project", PROJECT)
DFW = PlaneRef("cell", "dfw")
LHR = PlaneRef("cell", "lhr")


class PlaneSnapshots:
    """What every plane held when a Workload of two cities was served, and all was at rest."""

    def __init__(self) -> None:
        self._pictures = {
            ref: {resource: list(held) for resource, held in taken.items()}
            for ref, taken in _taken().items()
        }

    @property
    def reading(self) -> Reading:
        return Reading(self._pictures)

    def edit(self, ref: PlaneRef, kind: type[K], name: str, change: Callable[[K], K]) -> None:
        """Change the first object whose name ends so."""
        held = self._pictures[ref][resource_of(kind)]
        for number, data in enumerate(held):
            found = scheme.decode_as(kind, data)
            if found.metadata.name.endswith(name):
                held[number] = msgspec.json.encode(change(found))
                return
        raise KeyError(name)

    def drop(self, ref: PlaneRef, kind: type[Object], name: str) -> None:
        held = self._pictures[ref][resource_of(kind)]
        held.remove(next(data for data in held if _name(kind, data).endswith(name)))

    def twin(self, ref: PlaneRef, kind: type[K], name: str, other: str) -> None:
        """Add the same object once more, under another name."""
        held = self._pictures[ref][resource_of(kind)]
        data = next(data for data in held if _name(kind, data).endswith(name))
        found = scheme.decode_as(kind, data)
        meta = replace(found.metadata, name=other, uid=f"uid-{other}")
        held.append(msgspec.json.encode(replace(found, metadata=meta)))


def _name(kind: type[Object], data: bytes) -> str:
    return scheme.decode_as(kind, data).metadata.name


@cache
def _taken() -> dict[PlaneRef, Picture]:
    """The pictures, taken once."""
    taken: dict[PlaneRef, Picture] = {}

    async def story(world: JudgedWorld) -> None:
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=2))
        await world.rest()
        taken.update({ref: picture(plane) for ref, plane in world.all_planes.items()})

    judged(story, ("DFW", "LHR"))
    return taken
