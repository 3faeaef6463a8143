"""Who has a say in what is written to the planes of a world, beside their own rules."""

from collections.abc import Awaitable, Callable

from compute.api.authentication import UserInfo
from compute.api.compute import Workload
from compute.api.resource import Resource
from compute.app.homes import Home
from compute.controllers.management.admission import WorkloadAdmission
from compute.plane.plane import Plane
from compute.plane.registry.admission import Attempt
from compute.plane.users import User


class Doorkeeper:
    """Asks about every Workload that somebody writes into a project."""

    def __init__(self, workloads: WorkloadAdmission) -> None:
        self._workloads = workloads

    def opened(self, home: Home, plane: Plane) -> None:
        if home.role == "project":
            plane.registry.admission.validating.append(self._of(home.name))

    def closing(self, home: Home, plane: Plane) -> None:
        return

    def _of(self, project: str) -> Callable[[Attempt], Awaitable[None] | None]:
        def admit(attempt: Attempt) -> Awaitable[None] | None:
            if attempt.subresource or not _is(attempt.kind.resource, Workload.RESOURCE):
                return None
            return self._review(attempt, project)

        return admit

    async def _review(self, attempt: Attempt, project: str) -> None:
        told = await self._workloads.review(
            attempt.verb, attempt.document, attempt.old, _info(attempt.user), project
        )
        attempt.warnings.extend(told)


def _is(one: Resource, other: Resource) -> bool:
    return (one.group, one.plural) == (other.group, other.plural)


def _info(user: User) -> UserInfo:
    return UserInfo(username=user.name, groups=user.groups, uid=user.uid, extra=dict(user.extra))
