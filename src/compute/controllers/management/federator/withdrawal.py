"""Taking a deployment off the hub: because its project deletes it, or because it is gone there."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import msgspec

from compute.api import annotations, finalizers, names
from compute.api.compute import WorkloadDeployment
from compute.api.reasons import Reason
from compute.controllers.management.apply_writes import remove
from compute.controllers.management.federator import teardown_check
from compute.controllers.management.federator.deployment_link import Link
from compute.controllers.management.hub.origins import copies_of, original_of
from compute.controllers.management.live_reads import certain, known
from compute.decide.federation import (
    DeleteHub,
    ReleaseFinalizer,
    finalization,
    is_copy,
    orphaned_deployments,
)
from compute.decide.writes import Delete
from kubekit.api.errors import NotFound
from kubekit.api.kinds.core import Namespace
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, Result

_log: Final = logging.getLogger(__name__)
_SOON: Final = Result(requeue_after=timedelta(seconds=1))
# A cell may answer and yet do nothing, when whoever works there is away. That is no reason to keep
# a project from being emptied: the cell clears up when he is back.
_PATIENCE: Final = 300.0  # seconds
_FORGOTTEN: Final = 24 * 3600.0  # seconds after which a deployment that goes is forgotten


class Withdrawal:
    """Removes hub deployments, and lets their originals go afterwards."""

    def __init__(self, recorder: EventRecorder) -> None:
        self._recorder = recorder
        # Since when each is seen to go, by uid: the clock here may be another than the project's.
        self._since: dict[str, float] = {}

    async def finish(self, link: Link, deployment: WorkloadDeployment) -> Result:
        """Bring the removal of a deployment a step on. Everything of it elsewhere goes first."""
        if finalizers.FEDERATOR not in deployment.metadata.finalizers:
            return DONE
        rooms = await _rooms(link, deployment)
        if not all([await _is_gone(link, deployment, room) for room in rooms]):
            return DONE
        ours = [room for room in rooms if not await _is_anothers(link, room)]
        awaited = await self._awaited(link, deployment, ours)
        if awaited is not None:
            return awaited
        silent = [cell for room in ours for cell in teardown_check.holders(link, room)]
        await self._release(link, deployment, silent)
        return DONE

    async def clear(self, link: Link) -> None:
        """Remove what the hub holds of a deployment that its project has no more."""
        copies = copies_of(link.hub, link.request)
        if not copies:
            return
        if await certain(link.project, WorkloadDeployment, link.name, link.namespace) is None:
            await _remove(link, copies)

    async def clear_elsewhere(self, link: Link, room: str) -> None:
        """Remove what an earlier namespace of the same name left on the hub."""
        strays = [c for c in copies_of(link.hub, link.request) if c.metadata.namespace != room]
        if not strays:
            return
        namespace = await certain(link.project, Namespace, link.namespace)
        if namespace is not None and names.hub_namespace(namespace.metadata.uid) == room:
            await _remove(link, strays)

    async def _awaited(
        self, link: Link, deployment: WorkloadDeployment, rooms: list[str]
    ) -> Result | None:
        """When to look again for the end of what cells have of a deployment; None at that end."""
        left = self._patience(deployment.metadata.uid)
        if left <= 0:
            return None
        if any([await teardown_check.is_leaving(link, deployment, room) for room in rooms]):
            return Result(requeue_after=timedelta(seconds=left))
        if any([await teardown_check.is_left(link, deployment, room) for room in rooms]):
            return _SOON
        return None

    def _patience(self, uid: str) -> float:
        """How many seconds longer to wait for a deployment that goes."""
        now = asyncio.get_running_loop().time()
        if uid not in self._since:  # and forget those whom others saw to their end
            self._since = {u: since for u, since in self._since.items() if now - since < _FORGOTTEN}
        return self._since.setdefault(uid, now) + _PATIENCE - now

    async def _release(
        self, link: Link, deployment: WorkloadDeployment, silent: Sequence[str]
    ) -> None:
        meta = deployment.metadata
        left = tuple(held for held in meta.finalizers if held != finalizers.FEDERATOR)
        released = msgspec.structs.replace(meta, finalizers=left)
        desired = msgspec.structs.replace(deployment, metadata=released)
        try:
            await link.project.client.patch(deployment, desired)
        except NotFound:  # another has released it
            return
        note = f"{meta.name} is gone from {deployment.spec.city_code}"
        if silent:
            cells = ", ".join(silent)
            note = f"{meta.name} is off the hub, and goes from {cells} once that can be reached"
        self._recorder.event(
            link.project.client, deployment, "Normal", Reason.WITHDRAWN, note, "Withdraw"
        )


async def _rooms(link: Link, deployment: WorkloadDeployment) -> list[str]:
    """The hub namespaces to look in: the one noted down, and the one that follows from the uid.

    A user can edit what is noted, and the namespace may not be found any more: either can be
    wrong, hardly both.
    """
    noted = deployment.metadata.annotations.get(annotations.FEDERATION_NAMESPACE, "")
    namespace = await known(link.project, Namespace, link.namespace)
    derived = names.hub_namespace(namespace.metadata.uid) if namespace else ""
    return [room for room in dict.fromkeys((noted, derived)) if room]


async def _is_gone(link: Link, deployment: WorkloadDeployment, room: str) -> bool:
    """Whether the hub has nothing of the deployment there, after asking for its removal."""
    cached = link.hub.informers.of(WorkloadDeployment).cache.get(room, link.name)
    if cached and cached.deleting and is_copy(cached, deployment, link.project_name):
        return False  # its going is what brings us back
    copy = await certain(link.hub, WorkloadDeployment, link.name, room)
    step = finalization(deployment, copy, link.project_name)
    if isinstance(step, DeleteHub) and copy is not None:
        if not await _is_still_there(link, deployment):
            return False  # the change that says so is on its way
        await remove(link.hub.client, Delete(copy))
        copy = await certain(link.hub, WorkloadDeployment, link.name, room)
        step = finalization(deployment, copy, link.project_name)
    return isinstance(step, ReleaseFinalizer)


async def _is_still_there(link: Link, deployment: WorkloadDeployment) -> bool:
    """Whether the project has that very deployment, asked after its copy was read.

    Then the copy can be of no other. A cache may show one whose successor has its name, and on the
    hub a copy already.
    """
    live = await link.project.client.find(WorkloadDeployment, link.name, link.namespace)
    return live is not None and live.metadata.uid == deployment.metadata.uid


async def _is_anothers(link: Link, room: str) -> bool:
    """Whether somebody else's deployment has the name there now: what hangs on it is not ours."""
    return await link.hub.client.find(WorkloadDeployment, link.name, room) is not None


async def _remove(link: Link, copies: list[WorkloadDeployment]) -> None:
    for copy in copies:
        meta = copy.metadata
        live = await link.hub.client.find(WorkloadDeployment, meta.name, meta.namespace)
        if live is None or original_of(link.hub, live) != link.request:
            continue
        for write in orphaned_deployments((live,), ()):
            about = {"object": f"{meta.namespace}/{meta.name}", "original": str(link.request)}
            _log.warning("hub deployment without an original removed", extra=about)
            await remove(link.hub.client, write)
