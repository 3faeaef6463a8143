"""From a Pod and its node to the conditions of the Instance.

Programmed: a node has taken the Pod, which was built from the Instance's template. Available: every
container of it runs. A node that does not report proves nothing: the Pod may still run there. So an
Instance is started elsewhere only once its Pod is gone from the API: its kubelet confirmed that it
has stopped, or an operator did by removing the node.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import msgspec

from compute.api import annotations
from compute.api.compute import Instance, NetworkInterfaceStatus
from compute.api.conditions import ConditionType
from compute.api.reasons import KnownReason, NeighbourReason, Reason
from compute.decide.conditions import find
from compute.decide.pods import container_faults, node_state
from compute.decide.provider_reports import ConditionValue
from kubekit.api.kinds.nodes import ClusterNode
from kubekit.api.kinds.pods import Pod, PodCondition

_READY: Final = "Ready"
_SCHEDULED: Final = "PodScheduled"
_DISRUPTED: Final = "DisruptionTarget"
# A Pod that starts usually goes on within so many seconds, and that is not reported step by step.
_USUAL: Final = timedelta(seconds=2)
# A program without a probe is ready as soon as it runs. Most of those that cannot work end within
# seconds, and a rollout must not take them for available until then.
_STARTED: Final = timedelta(seconds=3)
_AGAIN: Final = "it is started again once its Pod is gone"


@dataclass(frozen=True, slots=True)
class PodState:
    """The state of a Pod.

    It may be another one in ``recheck``, although the Pod does not change. With ``ended`` the Pod
    never runs again. With ``stalled`` its containers are not created yet, and events may say why.
    With ``settling`` it has just been created, and goes on in a moment.
    """

    programmed: ConditionValue
    available: ConditionValue
    template_hash: str | None = None
    recheck: timedelta | None = None
    ended: bool = False
    stalled: bool = False
    settling: bool = False


def state_of(pod: Pod, node: ClusterNode | None, now: datetime) -> PodState:
    """The state of a Pod now."""
    for judge in _JUDGES:
        state = judge(pod, node, now)
        if state is not None:
            return state
    return _starting(pod, now)


def _stopping(pod: Pod, node: ClusterNode | None, _: datetime) -> PodState | None:
    """A Pod that is deleted, although its Instance is wanted: by a drain, an eviction, a person."""
    if not pod.deleting:
        return None
    lost = node_state.fault(node)
    if lost is not None:
        return _placed(pod, NeighbourReason.NODE_NOT_READY, _unconfirmed(lost))
    why = _why_stopped(pod)
    cause = f" ({why})" if why else ""
    return _placed(pod, Reason.STOPPING, f"The Pod is being stopped{cause}; {_AGAIN}")


def _finished(pod: Pod, _: ClusterNode | None, __: datetime) -> PodState | None:
    """A Pod that never runs again."""
    if pod.status.phase == "Succeeded":
        why = "Every container has ended; the Pod is replaced"
        return _unplaced(Reason.STOPPING, why, ended=True)
    if pod.status.phase != "Failed":
        return None
    why = ": ".join(part for part in ("The Pod has failed", _failure(pod)) if part)
    return _unplaced(Reason.FAILED, f"{why}; it is replaced", ended=True)


def _unscheduled(pod: Pod, _: ClusterNode | None, now: datetime) -> PodState | None:
    """A Pod that no node has taken yet."""
    if pod.spec.node_name:
        return None
    scheduled = _condition(pod, _SCHEDULED)
    why = scheduled.message if scheduled else ""
    message = f"No node takes the Pod yet: {why}" if why else "The Pod waits for a node"
    return _unplaced(Reason.PROVISIONING, message, settling=not why and _is_new(pod, now))


def _lost(pod: Pod, node: ClusterNode | None, _: datetime) -> PodState | None:
    """A Pod whose node does not say whether it runs."""
    lost = node_state.fault(node)
    if lost is None and pod.status.phase == "Unknown":
        lost = f"The node {pod.spec.node_name} does not report the state of the Pod"
    if lost is None:
        return None
    return _placed(pod, NeighbourReason.NODE_NOT_READY, _unconfirmed(lost))


def _faulty(pod: Pod, _: ClusterNode | None, now: datetime) -> PodState | None:
    """A Pod with a container that cannot start, or ends again and again."""
    fault = container_faults.worst(pod, now)
    if fault is None:
        return None
    return _placed(pod, fault.reason, fault.message, recheck=fault.passes_in)


def _running(pod: Pod, _: ClusterNode | None, now: datetime) -> PodState | None:
    ready = _condition(pod, _READY)
    if pod.status.phase != "Running" or ready is None or ready.status != "True":
        return None
    left = _left_to_run(pod, now)
    if left > timedelta():
        message = f"The Pod has just been started on the node {pod.spec.node_name}"
        return replace(_placed(pod, Reason.STARTING, message, left), settling=True)
    available = ConditionValue(
        "True", Reason.AVAILABLE, f"The Pod runs on the node {pod.spec.node_name}"
    )
    return PodState(_programmed(pod), available, _hash(pod))


# The first that applies decides.
_JUDGES: Final[tuple[Callable[[Pod, ClusterNode | None, datetime], PodState | None], ...]] = (
    _stopping,
    _finished,
    _unscheduled,
    _lost,
    _faulty,
    _running,
)


def _left_to_run(pod: Pod, now: datetime) -> timedelta:
    """How long the youngest container still has to run; zero or less if all have run for long enough."""
    running = (status.state.running for status in pod.status.container_statuses)
    ages = [now - one.started_at for one in running if one and one.started_at]
    return max((_STARTED - age for age in ages if age >= timedelta()), default=timedelta())


def _starting(pod: Pod, now: datetime) -> PodState:
    """A Pod on a node whose containers do not all run yet."""
    message = f"The containers are being started on the node {pod.spec.node_name}"
    statuses = pod.status.container_statuses
    is_stalled = not statuses or any(status.state.waiting for status in statuses)
    placed = _placed(pod, Reason.PROVISIONING, message)
    return replace(placed, stalled=is_stalled, settling=_is_new(pod, now))


def _placed(
    pod: Pod, reason: KnownReason, message: str, recheck: timedelta | None = None
) -> PodState:
    """The state of a Pod that is not available; usually a node has it."""
    if not pod.spec.node_name:
        return _unplaced(reason, message)
    available = ConditionValue("False", reason, message)
    return PodState(_programmed(pod), available, _hash(pod), recheck)


def _unplaced(
    reason: KnownReason, message: str, *, ended: bool = False, settling: bool = False
) -> PodState:
    """The state of a Pod that no node has."""
    return PodState(
        ConditionValue("False", Reason.PROGRAMMING_IN_PROGRESS, message),
        ConditionValue("False", reason, message),
        ended=ended,
        settling=settling,
    )


def _programmed(pod: Pod) -> ConditionValue:
    message = f"The Pod is set up on the node {pod.spec.node_name}"
    return ConditionValue("True", Reason.PROGRAMMED, message)


def _hash(pod: Pod) -> str | None:
    """The hash of the template that the Pod was built from."""
    return pod.metadata.annotations.get(annotations.TEMPLATE_HASH)


def _why_stopped(pod: Pod) -> str:
    disrupted = _condition(pod, _DISRUPTED)
    return _failure(pod) or (disrupted.message or disrupted.reason if disrupted else "")


def _failure(pod: Pod) -> str:
    """Why a Pod has failed, in the words of its kubelet; empty if it has not, or says nothing."""
    return ": ".join(part for part in (pod.status.reason, pod.status.message) if part)


def _unconfirmed(lost: str) -> str:
    return f"{lost}; whether the instance still runs there is unknown, and {_AGAIN}"


def _condition(pod: Pod, kind: str) -> PodCondition | None:
    return next((one for one in pod.status.conditions if one.type == kind), None)


def _is_new(pod: Pod, now: datetime) -> bool:
    return timedelta() <= now - (pod.metadata.creation_timestamp or now) < _USUAL


def with_known_cause(state: PodState, instance: Instance) -> PodState:
    """The state, with the cause that is reported already where the Pod does not repeat it.

    Between two attempts to pull an image, older kubelets say only that they pause.
    """
    known = find(instance.status.conditions, ConditionType.AVAILABLE)
    value = state.available
    if known is None or not value.reason == known.reason == Reason.IMAGE_UNAVAILABLE:
        return state
    if not known.message.startswith(f"{value.message}: "):
        return state
    return replace(state, available=replace(value, message=known.message))


def interfaces(instance: Instance, pod: Pod | None) -> tuple[NetworkInterfaceStatus, ...]:
    """The interfaces of the Instance: one, with the address of its Pod while that has one."""
    address = pod.status.pod_ip if pod else ""
    if not address:
        return ()
    known = instance.status.network_interfaces[:1] or (NetworkInterfaceStatus(),)
    assigned = msgspec.structs.replace(known[0].assignments, network_ip=address)
    return (msgspec.structs.replace(known[0], assignments=assigned),)
