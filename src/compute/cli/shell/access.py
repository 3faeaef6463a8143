"""The access of the session's project: reading it, requesting it, and waiting for the answer."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from compute.api import labels
from compute.api.compute import Workload
from compute.api.services import NAME, ServiceEntitlement, ServiceEntitlementSpec, ServiceRef
from compute.cli.shell.session import Session
from compute.decide.access_state import REQUESTED, AccessState, ProjectAccess, project_access
from compute.views.live import live_objects
from compute.views.reading import ProjectReader
from kubekit.api.errors import AlreadyExists, Forbidden, NotFound
from kubekit.api.meta import ObjectMeta
from kubekit.client.options import ListOptions

FIRST_ANSWER: Final = timedelta(seconds=15)
"""How long a command waits for the first answer to a request."""

_PATIENCE: Final = 60.0  # seconds; then the wait is repeated


async def read_access(session: Session) -> ProjectAccess:
    """The access of the project. Raises NotFound for a project that does not exist."""
    reader = ProjectReader(session.client, "")
    try:
        entitlements = await reader.all(ServiceEntitlement)
    except NotFound:
        if session.project:  # a missing project answers the same
            await session.client.list(Workload, session.namespace, ListOptions(limit=1))
        return project_access(None)
    return project_access(entitlements)


async def request_access(session: Session, message: str = "") -> None:
    """Request access. A request that is there already is as good."""
    spec = ServiceEntitlementSpec(
        service_ref=ServiceRef(name=labels.COMPUTE_SERVICE), request_message=message
    )
    request = ServiceEntitlement(metadata=ObjectMeta(name=NAME), spec=spec)
    try:
        await session.client.create(request)
    except AlreadyExists:
        return
    except Forbidden as error:
        raise Forbidden(
            f"{error.message}; an administrator of the project can request access"
        ) from error


async def withdraw(session: Session, access: ProjectAccess) -> None:
    """Delete a request, so that another can be made."""
    if access.entitlement is not None:
        try:
            await session.client.delete(access.entitlement)
        except NotFound:
            return


async def first_answer(session: Session) -> ProjectAccess:
    """The access once the platform has answered a request, or after a short wait."""
    return await _once(session, lambda state: state is not AccessState.PROCESSING, FIRST_ANSWER)


async def decision(session: Session, limit: timedelta) -> ProjectAccess:
    """The access once a request is approved or denied, or after the limit; 0 means no limit."""
    return await _once(session, lambda state: state not in REQUESTED, limit)


async def _once(
    session: Session, wanted: Callable[[AccessState], bool], limit: timedelta
) -> ProjectAccess:
    access = ProjectAccess(state=AccessState.PROCESSING)
    seconds = limit.total_seconds() or None
    async with live_objects(session.client, session.environment, "", ServiceEntitlement) as live:
        try:
            async with asyncio.timeout(seconds):
                while not (live.complete and wanted(access.state)):
                    await live.changed(_PATIENCE)
                    if live.complete:
                        access = project_access(live.all(ServiceEntitlement))
        except TimeoutError:
            pass
    return access
