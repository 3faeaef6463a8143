"""Pods in many states, as a kubelet reports them."""

from datetime import datetime, timedelta
from typing import Any

from compute.api import annotations
from kubekit.api.kinds.core import CoreCondition
from kubekit.api.kinds.nodes import ClusterNode, NodeStatus
from kubekit.api.kinds.pods import (
    ContainerState,
    ContainerStatus,
    Pod,
    PodCondition,
    PodContainer,
    PodSpec,
    PodStatus,
    StateRunning,
    StateTerminated,
    StateWaiting,
)
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import NOW

AGE = timedelta(minutes=5)


def pod(node: str = "node-1", phase: str = "Running", **status: Any) -> Pod:
    """A Pod of five minutes."""
    return Pod(
        metadata=ObjectMeta(
            name="web-home-dfw-0",
            namespace="ns-1",
            uid="uid-pod",
            creation_timestamp=NOW - AGE,
            annotations={annotations.TEMPLATE_HASH: "hash"},
        ),
        spec=PodSpec(containers=(PodContainer(name="app", image="web:1"),), node_name=node),
        status=PodStatus(phase=phase, **status),
    )


def running_pod(*containers: ContainerStatus, **status: Any) -> Pod:
    """A Pod that is Running and Ready."""
    return pod(conditions=(ready(),), container_statuses=containers or (runs(),), **status)


def ready(status: Any = "True") -> PodCondition:
    return PodCondition(type="Ready", status=status)


def waits(reason: str, message: str = "", **changes: Any) -> ContainerStatus:
    state = ContainerState(waiting=StateWaiting(reason=reason, message=message))
    return ContainerStatus(name="app", state=state, **changes)


def runs(since: datetime | None = NOW - AGE, last: ContainerState | None = None, restarts: int = 0):
    """A container that runs, after it ended as ``last`` says."""
    return ContainerStatus(
        name="app",
        state=ContainerState(running=StateRunning(started_at=since)),
        last_state=last or ContainerState(),
        ready=True,
        restart_count=restarts,
    )


def ended(code: int = 1, reason: str = "Error", message: str = "", ran: float | None = 1.0):
    """A container that has ended, after so many seconds."""
    return ContainerState(
        terminated=StateTerminated(
            exit_code=code,
            reason=reason,
            message=message,
            started_at=None if ran is None else NOW - timedelta(seconds=ran),
            finished_at=NOW,
        )
    )


def node(ready: Any = "True", message: str = "", reason: str = "") -> ClusterNode:
    conditions = (
        CoreCondition(type="MemoryPressure", status="False"),
        CoreCondition(type="Ready", status=ready, message=message, reason=reason),
    )
    return ClusterNode(metadata=ObjectMeta(name="node-1"), status=NodeStatus(conditions=conditions))
