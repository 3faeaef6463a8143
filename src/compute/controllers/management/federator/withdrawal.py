"""Delete the hub's copy of a deployment that its project deletes or no longer has."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from compute.api import annotations, finalizers, names
from compute.api.compute import WorkloadDeployment
from compute.api.reasons import Reason
from compute.controllers.management.apply_writes import remove
from compute.controllers.management.federator import teardown_check
from compute.controllers.management.federator.deployment_link import DeploymentLink
from compute.controllers.management.hub.origins import copies_of, original_of
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
from kubekit.api.meta import with_metadata
from kubekit.runtime import live
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, Result

_log: Final = logging.getLogger(__name__)
_SOON: Final = Result(requeue_after=timedelta(seconds=1))
# A cell may be reachable while its controllers are down. That must not keep a project from being
# deleted: the cell deletes its objects once the controllers run again.
_CELL_TIMEOUT: Final = 300.0  # seconds
_FORGET_AFTER: Final = 24 * 3600.0  # seconds after which the start of a deletion is forgotten


@dataclass(frozen=True, slots=True)
class _Removed:
    """Whether our copy is gone from a hub namespace, and whether another deployment has its name there."""

    is_gone: bool
    has_other: bool = False


class Withdrawal:
    """Deletes copies on the hub, and then removes the finalizer of their originals."""

    def __init__(self, recorder: EventRecorder) -> None:
        self._recorder = recorder
        # When each deletion was first seen, by uid: the project may have another clock.
        self._since: dict[str, float] = {}

    async def finish(self, link: DeploymentLink, deployment: WorkloadDeployment) -> Result:
        """One step of a deletion. The finalizer is removed once other planes have nothing left of it."""
        if finalizers.FEDERATOR not in deployment.metadata.finalizers:
            return DONE
        namespaces = await _hub_namespaces(link, deployment)
        left = self._time_left(deployment.metadata.uid)
        if any([await _is_awaited(link, deployment, each, left) for each in namespaces]):
            return Result(requeue_after=timedelta(seconds=left)) if left > 0 else DONE
        states = {each: await _removed(link, deployment, each) for each in namespaces}
        if not all(state.is_gone for state in states.values()):
            return DONE
        ours = [namespace for namespace, state in states.items() if not state.has_other]
        if left > 0 and any([await _has_remains(link, deployment, each) for each in ours]):
            return _SOON
        unreachable = [cell for each in ours for cell in teardown_check.holders(link, each)]
        await self._release(link, deployment, unreachable)
        return DONE

    async def clear(self, link: DeploymentLink) -> None:
        """Delete the copies of a deployment that its project no longer has."""
        copies = copies_of(link.hub, link.request)
        if not copies:
            return
        if await live.certain(link.project, WorkloadDeployment, link.name, link.namespace) is None:
            await _remove(link, copies)

    async def clear_elsewhere(self, link: DeploymentLink, hub_namespace: str) -> None:
        """Delete the copies that an earlier namespace of the same name left on the hub."""
        copies = copies_of(link.hub, link.request)
        strays = [copy for copy in copies if copy.metadata.namespace != hub_namespace]
        if not strays:
            return
        namespace = await live.certain(link.project, Namespace, link.namespace)
        if namespace is not None and names.hub_namespace(namespace.metadata.uid) == hub_namespace:
            await _remove(link, strays)

    def _time_left(self, uid: str) -> float:
        """How many seconds longer to wait for the cells of a deleted deployment."""
        now = asyncio.get_running_loop().time()
        if uid not in self._since:  # also forget deployments that other replicas have finished
            recent = {u: since for u, since in self._since.items() if now - since < _FORGET_AFTER}
            self._since = recent
        return self._since.setdefault(uid, now) + _CELL_TIMEOUT - now

    async def _release(
        self, link: DeploymentLink, deployment: WorkloadDeployment, unreachable: Sequence[str]
    ) -> None:
        meta = deployment.metadata
        left = tuple(each for each in meta.finalizers if each != finalizers.FEDERATOR)
        desired = with_metadata(deployment, finalizers=left)
        try:
            await link.project.client.patch(deployment, desired)
        except NotFound:  # another replica removed the finalizer
            return
        note = f"{meta.name} is gone from {deployment.spec.city_code}"
        if unreachable:
            cells = ", ".join(unreachable)
            note = f"{meta.name} is deleted on the hub, and in {cells} once that is reachable"
        self._recorder.event(
            link.project.client, deployment, "Normal", Reason.WITHDRAWN, note, "Withdraw"
        )


async def _hub_namespaces(link: DeploymentLink, deployment: WorkloadDeployment) -> list[str]:
    """The hub namespaces that may have a copy: the annotated one, and the one of the uid.

    A user can edit the annotation, and the project's namespace may be gone: either can be wrong,
    but hardly both.
    """
    annotated = deployment.metadata.annotations.get(annotations.FEDERATION_NAMESPACE, "")
    namespace = await live.cached(link.project, Namespace, link.namespace)
    derived = names.hub_namespace(namespace.metadata.uid) if namespace else ""
    return [each for each in dict.fromkeys((annotated, derived)) if each]


async def _is_awaited(
    link: DeploymentLink, deployment: WorkloadDeployment, hub_namespace: str, left: float
) -> bool:
    """Whether the caches show something that is still to go. Its watch event will requeue this."""
    cached = link.hub.informers.of(WorkloadDeployment).cache.get(hub_namespace, link.name)
    if cached is not None and is_copy(cached, deployment, link.project_name):
        return cached.deleting
    return left > 0 and cached is None and await teardown_check.is_waiting(link, hub_namespace)


async def _removed(
    link: DeploymentLink, deployment: WorkloadDeployment, hub_namespace: str
) -> _Removed:
    """Delete the copy in a hub namespace, and return what is there.

    A copy in the cache is deleted by its uid. Only a live read can show that it is gone.
    """
    copy = link.hub.informers.of(WorkloadDeployment).cache.get(hub_namespace, link.name)
    if copy is None or not is_copy(copy, deployment, link.project_name):
        copy = await live.certain(link.hub, WorkloadDeployment, link.name, hub_namespace)
    step = finalization(deployment, copy, link.project_name)
    if isinstance(step, DeleteHub) and copy is not None:
        # The original is read after the copy: so the copy is not of a later deployment of this name.
        if await live.same(link.project.client, deployment) is not None:
            await remove(link.hub.client, Delete(copy))
        return _Removed(is_gone=False)  # a watch event will requeue it
    return _Removed(is_gone=isinstance(step, ReleaseFinalizer), has_other=copy is not None)


async def _has_remains(
    link: DeploymentLink, deployment: WorkloadDeployment, hub_namespace: str
) -> bool:
    """Whether a reachable cell still has something of the deployment."""
    return await teardown_check.has_works(
        link, deployment, hub_namespace
    ) or await teardown_check.has_claims(link, deployment, hub_namespace)


async def _remove(link: DeploymentLink, copies: list[WorkloadDeployment]) -> None:
    for copy in copies:
        meta = copy.metadata
        present = await link.hub.client.find(WorkloadDeployment, meta.name, meta.namespace)
        if present is None or original_of(link.hub, present) != link.request:
            continue
        for write in orphaned_deployments((present,), ()):
            about = {"object": f"{meta.namespace}/{meta.name}", "original": str(link.request)}
            _log.warning("hub deployment without an original removed", extra=about)
            await remove(link.hub.client, write)
