"""Containers that cannot start, or that end again and again.

A Pod keeps restarting its containers, so it is Running while its program crashes: the phase of a Pod
says little, and its containers are judged one by one. A program that ended soon after its start is
believed only once it has run for a while; else an Instance would be available for a moment between
any two crashes, and a rollout would go on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from compute.api.reasons import Reason
from kubekit.api.kinds.pods import ContainerStatus, Pod, StateTerminated, StateWaiting

_IMAGE: Final = frozenset(
    {
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    }
)
_CONFIGURATION: Final = frozenset(
    {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
)
_NOT_STARTED: Final = frozenset({"ContainerCannotRun", "StartError"})  # by a wrong command
_CRASHING: Final = "CrashLoopBackOff"
_OUT_OF_MEMORY: Final = "OOMKilled"
_PULL_ERROR: Final = "ErrImagePull: "
_BACK_OFF: Final = "Back-off pulling image"
_PROVEN: Final = timedelta(seconds=30)  # a program that runs for so long has started


@dataclass(frozen=True, slots=True)
class ContainerFault:
    """Why a container does not run. It passes by itself after ``passes_in``, if nothing else happens."""

    reason: Reason
    message: str
    passes_in: timedelta | None = None


def worst(pod: Pod, now: datetime) -> ContainerFault | None:
    """The fault of a Pod's containers that explains most; None if there is none."""
    faults = list(_faults(pod, now))
    return min(faults, key=lambda fault: _ORDER.index(fault.reason), default=None)


# A container that cannot start comes before one that crashes, maybe because the other is missing.
_ORDER: Final = (
    Reason.CONFIGURATION_ERROR,
    Reason.IMAGE_UNAVAILABLE,
    Reason.INSTANCE_CRASHING,
    Reason.STARTING,
)


def _faults(pod: Pod, now: datetime) -> Iterator[ContainerFault]:
    images = {container.name: container.image for container in pod.spec.containers}
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        image = images.get(status.name) or status.image
        fault = _waiting(status, image) or _ended(status) or _restarted(status, now)
        if fault is not None:
            yield fault


def _waiting(status: ContainerStatus, image: str) -> ContainerFault | None:
    waiting = status.state.waiting
    if waiting is None:
        return None
    if waiting.reason in _IMAGE:
        why, message = _pull_error(waiting), f"The image {image} cannot be pulled"
        return ContainerFault(Reason.IMAGE_UNAVAILABLE, f"{message}: {why}" if why else message)
    if waiting.reason in _CONFIGURATION:
        why = waiting.message or waiting.reason
        return ContainerFault(
            Reason.CONFIGURATION_ERROR, f"The container {status.name} cannot be created: {why}"
        )
    return _ending(status, status.last_state.terminated) if waiting.reason == _CRASHING else None


def _ended(status: ContainerStatus) -> ContainerFault | None:
    """The fault of a container that has ended. The first time is no loop yet."""
    ended = status.state.terminated
    if ended is None or not _is_restarted(status, ended):
        return None
    if status.restart_count or ended.reason in _NOT_STARTED:
        return _ending(status, ended)
    return ContainerFault(Reason.STARTING, f"{_how(status, ended)}; it is started again")


def _restarted(status: ContainerStatus, now: datetime) -> ContainerFault | None:
    """The fault of a container that runs again, after it ended soon, and has not proven itself."""
    running, last = status.state.running, status.last_state.terminated
    if running is None or last is None or running.started_at is None:
        return None
    left = running.started_at + _PROVEN - now
    if left <= timedelta() or not _ended_soon(last):
        return None
    seconds = int(_PROVEN.total_seconds())
    why = f"{_how(status, last)}; it runs again, and counts once it has run for {seconds} s"
    is_loop = status.restart_count > 1
    return ContainerFault(
        Reason.INSTANCE_CRASHING if is_loop else Reason.STARTING, why, passes_in=left
    )


def _ended_soon(last: StateTerminated) -> bool:
    if last.started_at is None or last.finished_at is None:
        return True
    return last.finished_at - last.started_at < _PROVEN


def _ending(status: ContainerStatus, ended: StateTerminated | None) -> ContainerFault:
    """The fault of a container that ends again and again."""
    if ended is None:
        why = f"The container {status.name} ends again and again"
        return ContainerFault(Reason.INSTANCE_CRASHING, why)
    if ended.reason in _NOT_STARTED:
        why = f"The container {status.name} cannot start: {ended.message or ended.reason}"
        return ContainerFault(Reason.CONFIGURATION_ERROR, why)
    return ContainerFault(
        Reason.INSTANCE_CRASHING, f"{_how(status, ended)}; it is started again and again"
    )


def _how(status: ContainerStatus, ended: StateTerminated) -> str:
    """How a container ended, as the start of a sentence."""
    if ended.reason == _OUT_OF_MEMORY:
        return (
            f"The container {status.name} used more memory than the instance has "
            f"({_OUT_OF_MEMORY}, exit code {ended.exit_code})"
        )
    detail = f": {ended.message.strip()}" if ended.message.strip() else ""
    return f"The container {status.name} ended with exit code {ended.exit_code}{detail}"


def _is_restarted(status: ContainerStatus, ended: StateTerminated) -> bool:
    """Whether a container that has ended is started again; an init container that is done is not."""
    return not (status.ready and ended.exit_code == 0)


def _pull_error(waiting: StateWaiting) -> str:
    """Why an image cannot be pulled; empty between two attempts, where a kubelet may not repeat it."""
    _, found, why = waiting.message.partition(_PULL_ERROR)
    if found:
        return why
    return "" if waiting.message.startswith(_BACK_OFF) else waiting.message or waiting.reason
