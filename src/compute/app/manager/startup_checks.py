"""What a plane must have before controllers work on it. Each failure is one sentence with the fix.

A plane that cannot be reached is no failure: a cell starts while everything else is down. So only an
answer of the plane can end the start.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import msgspec

from compute.api.permissions import Permission, PlaneRole
from kubekit.api.errors import (
    ApiError,
    Forbidden,
    InternalError,
    NotFound,
    Timeout,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from kubekit.api.kinds.authorization import (
    ResourceAttributes,
    SelfSubjectAccessReview,
    SelfSubjectAccessReviewSpec,
)
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.client.connection import Connection
from kubekit.client.http.transport import HttpTransport
from kubekit.client.options import WriteOptions
from kubekit.environment import ExecutionEnvironment

_log: Final = logging.getLogger(__name__)
_TIMEOUT: Final = 10.0  # seconds for all checks of a plane
_LARGEST_SKEW: Final = timedelta(seconds=60)
HUB_NAME: Final = "the hub"
PROJECT_NAME: Final = "the project"
CELL_NAME: Final = "the cell"
CORE_NAME: Final = "the core plane"
MANIFESTS: Final = {
    HUB_NAME: "config/overlays/hub",
    PROJECT_NAME: "config/overlays/project",
    CELL_NAME: "config/overlays/cell",
    CORE_NAME: "config/overlays/core",
}
"""The folder of manifests for each plane."""
PLANE_ROLES: Final[Mapping[str, PlaneRole]] = {
    HUB_NAME: "hub",
    PROJECT_NAME: "project",
    CELL_NAME: "cell",
    CORE_NAME: "core",
}
_OLDEST: Final = "kube-system"
_AT_ONCE: Final = 16  # reviews of permissions
_SHOWN: Final = 5  # missing permissions in a message
# A server that starts, or has too much to do, answers with errors that pass: these prove nothing.
UNREACHABLE: Final = (Unavailable, Timeout, TooManyRequests, InternalError, OSError)


class CheckFailed(Exception):
    """A plane answers, and the controllers cannot work on it. The message says what to do."""


@dataclass(frozen=True, slots=True)
class PlaneCheck:
    """What one plane must have. ``name`` is how messages name it, such as ``the hub``.

    ``kinds`` must be served, and ``permissions`` granted. Leases are written in ``lease_namespace``, if
    it is set. A cell works alone without a ``remote`` plane, whose credentials expire by themselves.
    """

    name: str
    connection: Connection
    kinds: tuple[type[Object], ...]
    permissions: tuple[Permission, ...] = ()
    lease_namespace: str = ""
    remote: bool = False

    @property
    def manifests(self) -> str:
        """The folder that brings the kinds and the rights."""
        return MANIFESTS[self.name]

    @property
    def where(self) -> str:
        return f"{self.name} at {self.connection.server}"


class _Resource(msgspec.Struct, frozen=True):
    name: str


class _Resources(msgspec.Struct, frozen=True):
    resources: tuple[_Resource, ...] = ()


async def check(plane: PlaneCheck, environment: ExecutionEnvironment) -> bool:
    """Check a plane. Returns False if it cannot be reached; raises `CheckFailed`."""
    async with HttpTransport(plane.connection, environment) as transport:
        try:
            async with asyncio.timeout(_TIMEOUT):
                await _check_kinds(plane, transport)
                await _check_permissions(plane, Client(transport))
                if plane.lease_namespace:
                    await _check_leases(plane, Client(transport), environment)
        except Unauthorized as error:
            expired = (
                f"{plane.where} does not accept the credentials of {plane.connection.origin}: "
                f"{error.message}; renew them there"
            )
            if not plane.remote:
                raise CheckFailed(expired) from error
            _log.error("the cell works alone", extra={"plane": plane.name, "error": expired})
            return False
        except UNREACHABLE as error:
            about = {"plane": plane.name, "server": plane.connection.server}
            _log.warning("plane not checked", extra=about | {"error": str(error) or repr(error)})
            return False
        except ApiError as error:
            raise CheckFailed(
                f"{plane.where} refuses to be checked: {error.message}; correct "
                f"{plane.connection.origin} if it is another server"
            ) from error
    return True


async def check_different(
    one: PlaneCheck, other: PlaneCheck, environment: ExecutionEnvironment
) -> None:
    """Raise `CheckFailed` if two connections lead to the same cluster.

    Where one of them may not be read, or is not reachable, nothing is known.
    """
    try:
        uids = [await cluster_uid(plane.connection, environment) for plane in (one, other)]
    except (ApiError, OSError):
        return
    if uids[0] == uids[1]:
        raise CheckFailed(
            f"{one.where} and {other.where} are the same cluster; correct "
            f"{other.connection.origin}, which names the wrong one"
        )


async def cluster_uid(connection: Connection, environment: ExecutionEnvironment) -> str:
    """The uid of a cluster's oldest namespace, by which Karmada identifies clusters too."""
    async with HttpTransport(connection, environment) as transport, asyncio.timeout(_TIMEOUT):
        return (await Client(transport).get(Namespace, _OLDEST)).metadata.uid


async def _check_kinds(plane: PlaneCheck, transport: HttpTransport) -> None:
    """Discovery names what is served, and every authenticated user may read it."""
    for version in dict.fromkeys(kind.RESOURCE.api_version for kind in plane.kinds):
        served = await _served(plane, transport, version)
        missing = [
            kind.RESOURCE.kind
            for kind in plane.kinds
            if kind.RESOURCE.api_version == version and kind.RESOURCE.plural not in served
        ]
        if missing:
            raise CheckFailed(
                f"{plane.where} does not serve {', '.join(missing)} of {version}: apply "
                f"{plane.manifests} there, or correct {plane.connection.origin} if it is another cluster"
            )


async def _served(plane: PlaneCheck, transport: HttpTransport, version: str) -> frozenset[str]:
    path = f"/apis/{version}" if "/" in version else f"/api/{version}"
    try:
        body = await transport.call("GET", path)
    except NotFound:
        return frozenset()
    except Forbidden as error:
        raise CheckFailed(
            f"{plane.where} does not let this manager read what it serves: {error.message}; "
            f"apply {plane.manifests} there"
        ) from error
    try:
        return frozenset(each.name for each in msgspec.json.decode(body, type=_Resources).resources)
    except msgspec.DecodeError as error:
        raise CheckFailed(
            f"{plane.where} answers {path} as no Kubernetes API server does; correct "
            f"{plane.connection.origin}"
        ) from error


async def _check_permissions(plane: PlaneCheck, client: Client) -> None:
    """Ask for every permission. All that are missing are named at once, to be granted at once."""
    limit = asyncio.Semaphore(_AT_ONCE)

    async def denied(attributes: ResourceAttributes) -> str:
        spec = SelfSubjectAccessReviewSpec(resource_attributes=attributes)
        async with limit:
            review = await client.create(SelfSubjectAccessReview(spec=spec))
        return "" if review.status.allowed else _phrase(attributes)

    questions = [each for permission in plane.permissions for each in _questions(permission)]
    answers = await asyncio.gather(*map(denied, dict.fromkeys(questions)))
    missing = [answer for answer in answers if answer]
    if missing:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise CheckFailed(
            f"{plane.where} does not grant this manager {', '.join(missing[:_SHOWN])}{more}: apply "
            f"{plane.manifests} there, or correct {plane.connection.origin} if it is of another user"
        )


def _questions(permission: Permission) -> Iterable[ResourceAttributes]:
    resource, scope = permission.kind.RESOURCE, permission.scope
    if permission.subresource == "finalizers":  # no request needs it, see `permissions.owners`
        return
    for name in scope.names or ("",):
        for verb in permission.verbs:
            yield ResourceAttributes(
                verb=verb,
                group=resource.group,
                version=resource.version,
                resource=resource.plural,
                subresource=permission.subresource,
                namespace=scope.namespace,
                name=name,
            )


def _phrase(attributes: ResourceAttributes) -> str:
    """A permission as a person names it: ``patch of instances/status``."""
    kind = "/".join(filter(None, (attributes.resource, attributes.subresource)))
    namespace = f" in {attributes.namespace}" if attributes.namespace else ""
    return f"{attributes.verb} of {kind}{namespace}"


async def _check_leases(
    plane: PlaneCheck, client: Client, environment: ExecutionEnvironment
) -> None:
    """A Lease that is not stored shows whether one can be, and the clock of the server."""
    metadata = ObjectMeta(generate_name="compute-check-", namespace=plane.lease_namespace)
    before = environment.now()
    try:
        lease = await client.create(Lease(metadata=metadata), WriteOptions(dry_run=True))
    except NotFound as error:
        raise CheckFailed(
            f"{plane.where} has no namespace {plane.lease_namespace} for leases: apply "
            f"{plane.manifests} there, or name another with --leader-elect-namespace"
        ) from error
    except Forbidden as error:
        raise CheckFailed(
            f"{plane.where} does not let this manager write leases: {error.message}; apply "
            f"{plane.manifests} there"
        ) from error
    stored = lease.metadata.creation_timestamp
    skew = stored - before if stored else timedelta()
    if abs(skew) > _LARGEST_SKEW:
        direction = "behind" if skew > timedelta() else "ahead of"
        raise CheckFailed(
            f"the clock of this machine is {abs(skew).total_seconds():.0f} s {direction} that of "
            f"{plane.where}; synchronise both, because deadlines are measured with them"
        )
