"""The scheduler and the kubelets of a cell, played by one controller on a plane that serves Pods.

It does what real ones do to a Pod, as far as a provider can see it: it chooses a node, pulls and
starts, restarts what ends with growing pauses, reports what it cannot create, and confirms that a Pod
has stopped. Images decide how a container goes: `missing`, `crashing`, `hungry` and `misspelled`
fail, `migrating` fails once, and any other runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from kubekit.api.errors import NotFound
from kubekit.api.kinds.core import ConfigMap, CoreCondition, ObjectReference, Secret
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.kinds.nodes import ClusterNode, NodeStatus
from kubekit.api.kinds.pods import (
    ContainerState,
    ContainerStatus,
    Pod,
    PodCondition,
    PodContainer,
    StateRunning,
    StateTerminated,
    StateWaiting,
)
from kubekit.api.kinds.value_sources import KeySelector
from kubekit.api.meta import ObjectMeta, with_metadata, with_spec, with_status
from kubekit.client.client import Client
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.sources import own
from tests.support.kubekit.stage import Stage

RUNS_ON = "tests.compute/kubelet"  # the finalizer of a Pod that a node has
FIRST_PAUSE = 10.0
LONGEST_PAUSE = 300.0
MOUNT_RETRY = 60.0


@dataclass
class Kubelet:
    """The nodes of a cell, and how they work."""

    stage: Stage
    nodes: list[str] = field(default_factory=lambda: ["node-1"])
    lost: set[str] = field(default_factory=set)
    start: float = 1.0  # seconds to pull and start
    stop: float = 2.0  # seconds to stop
    lifetime: float = 1.0  # seconds that a crashing container runs
    full: str = ""  # why no node takes a Pod; empty if one does
    rejects: str = ""  # why the kubelet refuses every Pod, such as OutOfcpu
    placed: list[tuple[str, str]] = field(default_factory=list)  # uid of each Pod, and its node

    @property
    def client(self) -> Client:
        return self.stage.client("dfw", "kubelet")

    async def run(self) -> None:
        """Join the nodes, and work from now on."""
        for name in self.nodes:
            await self.client.create(ClusterNode(metadata=ObjectMeta(name=name)))
            await self.report(name, "True")
        role = self.stage.role("cell")
        self.stage.start(self.stage.factory.controller("kubelet", self, role, [own(Pod, role)]))

    async def report(self, name: str, ready: Any, message: str = "") -> None:
        """The node's Ready, from its kubelet or from the node controller."""
        node = await self.client.get(ClusterNode, name)
        said = CoreCondition(type="Ready", status=ready, message=message)
        status = NodeStatus(conditions=(said,))
        await self.client.patch_status(node, replace(node, status=status))

    async def lose(self, name: str) -> None:
        """The node stops to report; the node controller marks its Pods, and its taint evicts them."""
        self.lost.add(name)
        await self.report(name, "Unknown", "Kubelet stopped posting node status.")
        for pod in (await self.client.every(Pod)).items:
            if pod.spec.node_name == name:
                marked = await self.client.patch_status(pod, with_ready(pod, "False"))
                await self.client.delete(marked)

    async def restore(self, name: str) -> None:
        """The node is back, and its kubelet goes on."""
        self.lost.discard(name)
        await self.report(name, "True")
        for pod in (await self.client.every(Pod)).items:
            if pod.spec.node_name == name:
                await self.client.patch(pod, with_metadata(pod, annotations={"seen": "again"}))

    async def remove(self, name: str) -> None:
        """An operator removes the node, and Kubernetes the Pods that were on it."""
        await self.client.delete(await self.client.get(ClusterNode, name))
        self.nodes.remove(name)
        for pod in (await self.client.every(Pod)).items:
            if pod.spec.node_name == name:
                await self.client.patch(pod, with_metadata(pod, finalizers=()))

    async def reconcile(self, request: Request) -> Result:
        pod = await self.client.find(Pod, request.name, request.namespace)
        if pod is None or pod.spec.node_name in self.lost:
            return DONE
        now = self.stage.environment.now()
        if pod.deleting:
            return await self._stop(pod, now)
        if not pod.spec.node_name:
            return await self._place(pod, now)
        if pod.status.phase in ("Failed", "Succeeded"):
            return DONE
        return await self._sync(pod, now)

    async def _stop(self, pod: Pod, now: datetime) -> Result:
        assert pod.metadata.deletion_timestamp is not None
        left = pod.metadata.deletion_timestamp + timedelta(seconds=self.stop) - now
        if left > timedelta():
            return Result(left)
        await self.client.patch(pod, with_metadata(pod, finalizers=()))
        return DONE

    async def _place(self, pod: Pod, now: datetime) -> Result:
        if self.full:
            scheduled = PodCondition(
                type="PodScheduled", status="False", reason="Unschedulable", message=self.full
            )
            waiting = with_status(pod, phase="Pending", conditions=(scheduled,))
            await self.client.patch_status(pod, waiting)
            return Result(timedelta(seconds=5))
        node = next(name for name in self.nodes if name not in self.lost)
        self.placed.append((pod.metadata.uid, node))
        bound = with_spec(with_metadata(pod, finalizers=(RUNS_ON,)), node_name=node)
        pod = await self.client.patch(pod, bound)
        taken = with_status(pod, phase="Pending", start_time=now.replace(microsecond=0))
        if self.rejects:
            taken = with_status(
                pod, phase="Failed", reason=self.rejects, message="Pod was rejected"
            )
        await self.client.patch_status(pod, taken)
        return DONE

    async def _sync(self, pod: Pod, now: datetime) -> Result:
        """The next state of every container, and of the Pod."""
        if fault := await self._mount_fault(pod):
            await self._say_failed_mount(pod, fault, now)
            return Result(timedelta(seconds=MOUNT_RETRY))
        known = {status.name: status for status in pod.status.container_statuses}
        waits: list[float] = []
        statuses = []
        for container in pod.spec.containers:
            fresh = ContainerStatus(
                name=container.name, state=waiting("ContainerCreating"), image=container.image
            )
            status, wait = await self._next(pod, container, known.get(container.name, fresh), now)
            statuses.append(status)
            waits.append(wait)
        await self.client.patch_status(pod, _with_containers(pod, tuple(statuses)))
        wait = min(waits)
        return Result(timedelta(seconds=wait)) if wait else DONE

    async def _next(
        self, pod: Pod, container: PodContainer, status: ContainerStatus, now: datetime
    ) -> tuple[ContainerStatus, float]:
        """The next state of a container, and when to go on; 0 if nothing more happens by itself."""
        began = pod.status.start_time or now
        left = self.start - (now - began).total_seconds()
        if status.state.waiting and status.state.waiting.reason != "CrashLoopBackOff":
            if left > 0:
                return status, left
            if "missing" in container.image:
                why = f'failed to pull and unpack image "{container.image}": not found'
                return _with_state(status, waiting("ErrImagePull", why)), 0
            if why := await self._configuration_fault(pod, container):
                return _with_state(status, waiting("CreateContainerConfigError", why)), 5.0
            return _started(status, now), self._lasts(container, status)
        return self._restarted(container, status, now)

    def _restarted(
        self, container: PodContainer, status: ContainerStatus, now: datetime
    ) -> tuple[ContainerStatus, float]:
        running, ended = status.state.running, status.state.terminated
        lasts = self._lasts(container, status)
        if running and running.started_at and lasts:
            left = lasts - (now - running.started_at).total_seconds()
            return (status, left) if left > 0 else (_ended(container, status, now), 0.1)
        if ended:
            return self._fell_back(container, status, now)
        last = status.last_state.terminated
        if status.state.waiting and last and last.finished_at:
            left = _pause(status) - (now - last.finished_at).total_seconds()
            if left > 0:
                return status, left
            again = replace(status, restart_count=status.restart_count + 1)
            return _started(again, now), self._lasts(container, again)
        return status, 0

    def _fell_back(
        self, container: PodContainer, status: ContainerStatus, now: datetime
    ) -> tuple[ContainerStatus, float]:
        """What follows the end of a container: the first time there is no pause."""
        if not status.restart_count:
            again = replace(status, restart_count=1, last_state=status.state)
            return _started(again, now), self._lasts(container, again)
        crashing = waiting("CrashLoopBackOff", "back-off restarting failed container")
        return replace(status, state=crashing, last_state=status.state), _pause(status)

    def _lasts(self, container: PodContainer, status: ContainerStatus) -> float:
        """How long a container runs; 0 if it does not end."""
        if "migrating" in container.image and status.restart_count:
            return 0
        words = ("crashing", "hungry", "misspelled", "migrating")
        return self.lifetime if any(word in container.image for word in words) else 0

    async def _configuration_fault(self, pod: Pod, container: PodContainer) -> str:
        for variable in container.env:
            source = variable.value_from
            if source is not None and source.config_map_key_ref is not None:
                why = await self._key_fault(pod, ConfigMap, source.config_map_key_ref)
            elif source is not None and source.secret_key_ref is not None:
                why = await self._key_fault(pod, Secret, source.secret_key_ref)
            else:
                continue
            if why:
                return why
        return ""

    async def _key_fault(
        self, pod: Pod, kind: type[ConfigMap] | type[Secret], ref: KeySelector
    ) -> str:
        namespace = pod.metadata.namespace
        found: ConfigMap | Secret | None = await self.client.find(kind, ref.name, namespace)
        if found is None:
            return f'{kind.__name__.lower()} "{ref.name}" not found'
        if ref.key not in found.data:
            return f"couldn't find key {ref.key} in {kind.__name__} {namespace}/{ref.name}"
        return ""

    async def _mount_fault(self, pod: Pod) -> str:
        for volume, kind, name in _sources(pod):
            if await self.client.find(kind, name, pod.metadata.namespace) is None:
                missing = f'{kind.__name__.lower()} "{name}" not found'
                return f'MountVolume.SetUp failed for volume "{volume}" : {missing}'
        return ""

    async def _say_failed_mount(self, pod: Pod, message: str, now: datetime) -> None:
        """The event of a volume that cannot be mounted: one object, counted up."""
        name, namespace = f"{pod.metadata.name}.mount", pod.metadata.namespace
        when = now.replace(microsecond=0)
        try:
            there = await self.client.get(CoreEvent, name, namespace)
            counted = replace(there, count=there.count + 1, last_timestamp=when)
            await self.client.patch(there, counted)
        except NotFound:
            about = ObjectReference(
                kind="Pod", namespace=namespace, name=pod.metadata.name, uid=pod.metadata.uid
            )
            event = CoreEvent(
                metadata=ObjectMeta(name=name, namespace=namespace),
                involved_object=about,
                type="Warning",
                reason="FailedMount",
                message=message,
                first_timestamp=when,
                last_timestamp=when,
                count=1,
            )
            await self.client.create(event)


def waiting(reason: str, message: str = "") -> ContainerState:
    return ContainerState(waiting=StateWaiting(reason=reason, message=message))


def with_ready(pod: Pod, status: Any) -> Pod:
    """The Pod whose Ready has this status."""
    others = tuple(one for one in pod.status.conditions if one.type != "Ready")
    ready = PodCondition(type="Ready", status=status)
    return with_status(pod, conditions=(*others, ready))


def _with_containers(pod: Pod, statuses: tuple[ContainerStatus, ...]) -> Pod:
    runs = all(status.state.running for status in statuses)
    begun = any(s.state.running or s.last_state.terminated or s.state.terminated for s in statuses)
    phase = "Running" if begun else "Pending"
    address = "10.9.0.7" if runs else pod.status.pod_ip
    pod = with_status(pod, phase=phase, container_statuses=statuses, pod_ip=address)
    return with_ready(pod, "True" if runs else "False")


def _with_state(status: ContainerStatus, state: ContainerState) -> ContainerStatus:
    return replace(status, state=state, ready=False)


def _started(status: ContainerStatus, now: datetime) -> ContainerStatus:
    running = ContainerState(running=StateRunning(started_at=now.replace(microsecond=0)))
    return replace(status, state=running, ready=True, started=True)


def _ended(container: PodContainer, status: ContainerStatus, now: datetime) -> ContainerStatus:
    code, reason, message = 1, "Error", ""
    if "hungry" in container.image:
        code, reason = 137, "OOMKilled"
    if "misspelled" in container.image:
        code, reason, message = 128, "StartError", 'exec: "/srv/wbe": no such file or directory'
    assert status.state.running is not None
    terminated = StateTerminated(
        exit_code=code,
        reason=reason,
        message=message,
        started_at=status.state.running.started_at,
        finished_at=now.replace(microsecond=0),
    )
    return replace(status, state=ContainerState(terminated=terminated), ready=False)


def _pause(status: ContainerStatus) -> float:
    pause: float = FIRST_PAUSE * 2 ** (status.restart_count - 1)
    return min(pause, LONGEST_PAUSE)


def _sources(pod: Pod) -> Iterator[tuple[str, type[ConfigMap] | type[Secret], str]]:
    for volume in pod.spec.volumes:
        if volume.config_map:
            yield volume.name, ConfigMap, volume.config_map.name
        if volume.secret:
            yield volume.name, Secret, volume.secret.secret_name
