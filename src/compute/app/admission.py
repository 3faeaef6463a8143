"""Who has a say in what is written to the planes of a world, beside their own rules."""

from collections.abc import Awaitable, Callable

from compute.api import scheme
from compute.api.authentication import UserInfo
from compute.api.compute import Instance, Workload
from compute.api.errors import Forbidden
from compute.api.networking import Network
from compute.api.quota import ResourceClaim
from compute.api.resource import Resource
from compute.app.homes import Home
from compute.client.transport import Document
from compute.controllers.management.admission import WorkloadAdmission, completed, defaults
from compute.plane.plane import Plane
from compute.plane.registry.admission import Attempt
from compute.plane.users import ITSELF, User
from compute.services.network.admission import NetworkAdmission
from compute.services.quota.admission import ClaimAdmission


class Doorkeeper:
    """Judges the Workloads, Networks, claims and Instances that are written into a project."""

    def __init__(
        self, workloads: WorkloadAdmission, networks: NetworkAdmission, claims: ClaimAdmission
    ) -> None:
        self._workloads = workloads
        self._networks = networks
        self._claims = claims

    def opened(self, home: Home, plane: Plane) -> None:
        if home.role == "project":
            plane.registry.admission.mutating.append(_complete)
            plane.registry.admission.validating.append(self._of(home.name))

    def closing(self, home: Home, plane: Plane) -> None:
        return

    def _of(self, project: str) -> Callable[[Attempt], Awaitable[None] | None]:
        def admit(attempt: Attempt) -> Awaitable[None] | None:
            if attempt.subresource or attempt.document is None or attempt.verb == "delete":
                return None
            if _is(attempt.kind.resource, Workload.RESOURCE):
                return self._review(attempt, project)
            if _is(attempt.kind.resource, Instance.RESOURCE):
                _check_creator(attempt)
            if _is(attempt.kind.resource, Network.RESOURCE) and attempt.old is not None:
                new, old = _network(attempt.document), _network(attempt.old)
                return self._networks.review(new, old, project)
            if _is(attempt.kind.resource, ResourceClaim.RESOURCE):
                self._claims.review(_claim(attempt.document), project, _old_claim(attempt))
            return None

        return admit

    async def _review(self, attempt: Attempt, project: str) -> None:
        told = await self._workloads.review(
            attempt.verb, attempt.document, attempt.old, _info(attempt.user), project
        )
        attempt.warnings.extend(told)


def _complete(attempt: Attempt) -> None:
    """Fill in the defaults of a Workload. Webhooks, which are asked before, see it without."""
    if attempt.subresource or not _is(attempt.kind.resource, Workload.RESOURCE):
        return
    missing = defaults(attempt.verb, attempt.document, attempt.old)
    if missing and attempt.document is not None:
        attempt.document = completed(attempt.document, missing)
        attempt.changed = True


def _check_creator(attempt: Attempt) -> None:
    """Refuse a user's own Instance. No cell would run it, and it would look as if one did."""
    if attempt.verb == "create" and attempt.user != ITSELF:
        raise Forbidden(
            f'instances.compute.datumapis.com "{attempt.name}" is forbidden: only the platform '
            "creates Instances, and no cell would run this one; create a Workload instead"
        )


def _network(document: Document) -> Network:
    return scheme.decode_as(Network, document)


def _claim(document: Document) -> ResourceClaim:
    return scheme.decode_as(ResourceClaim, document)


def _old_claim(attempt: Attempt) -> ResourceClaim | None:
    return None if attempt.old is None else _claim(attempt.old)


def _is(one: Resource, other: Resource) -> bool:
    return (one.group, one.plural) == (other.group, other.plural)


def _info(user: User) -> UserInfo:
    return UserInfo(username=user.name, groups=user.groups, uid=user.uid, extra=dict(user.extra))
