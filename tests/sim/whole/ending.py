"""The state that a world must reach after the last fault: L1, L2, L3, L5, L6 and L7."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from compute.api.quota import ResourceClaim
from compute.app.planes import PlaneRef
from compute.decide import budget
from kubekit.api.meta import EPOCH
from kubekit.plane.plane import Plane
from tests.sim.whole import arrival_laws, leftover_laws, report_laws
from tests.sim.whole.excuses import left
from tests.sim.whole.machine_laws import is_granted
from tests.sim.whole.plane_readings import Reading, picture

LAWS = (*arrival_laws.LAWS, *leftover_laws.LAWS, *report_laws.LAWS)


class Waiting(NamedTuple):
    """A claim that could have been granted, and its creation time."""

    since: datetime
    project: str
    name: str


def differences(planes: Mapping[PlaneRef, Plane]) -> list[str]:
    """The violations when all planes are open, and no process is cut off or dead."""
    reading = _read(planes)
    return [difference for law in LAWS for difference in law(reading)]


def waiting(planes: Mapping[PlaneRef, Plane]) -> Waiting | None:
    """L7: the oldest claim that waits although the budget would allow it; None when there is none."""
    return min(_waiting(_read(planes)), default=None)


def _read(planes: Mapping[PlaneRef, Plane]) -> Reading:
    return Reading({ref: picture(plane) for ref, plane in planes.items()})


def _waiting(reading: Reading) -> Iterator[Waiting]:
    for project in reading.planes("project"):
        rest = left(reading, project)
        for claim in reading.all(project, ResourceClaim).values():
            waits = not is_granted(claim) and not claim.deleting
            if waits and budget.fits(budget.need_of(claim.spec.requests), rest):
                since = claim.metadata.creation_timestamp or EPOCH
                yield Waiting(since, project.name, claim.metadata.name)
