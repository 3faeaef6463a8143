"""The state of a simulated machine at a given time.

A machine is stored in annotations: its node, and when it was started. Its state is computed from
these, the settings and the time, so a machine survives a restart of the process that simulates it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Final

from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason
from compute.decide.conditions import find, is_true
from compute.decide.provider_reports import ConditionValue
from compute.providers.delays import drawn
from compute.providers.settings import MachineSettings
from kubekit.api import times

NODE: Final = "simulated.compute.datumapis.com/node"
STARTED: Final = "simulated.compute.datumapis.com/started-at"
_DOUBLINGS: Final = 6  # of the pause between two attempts to boot
_ATTEMPTS: Final = 1000  # after so many, a machine never boots
_SHORTEST_RETRY: Final = 0.1  # seconds; without a pause there would be endlessly many attempts


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a machine runs, and since when."""

    node: str
    started: datetime


@dataclass(frozen=True, slots=True)
class MachineState:
    """The state of a machine for ``requeue_after`` seconds; permanently if that is None."""

    programmed: ConditionValue
    available: ConditionValue
    requeue_after: float | None = None
    move: bool = False  # start it on another node


def machine_of(instance: Instance) -> Machine | None:
    """The machine of an Instance; None if there is none."""
    annotations = instance.metadata.annotations
    try:
        return Machine(annotations[NODE], times.parse(annotations[STARTED]))
    except (KeyError, times.TimeError):
        return None


def annotations_of(machine: Machine) -> dict[str, str]:
    """The annotations that store the machine."""
    return {NODE: machine.node, STARTED: times.format_micro(machine.started)}


def new_machine(instance: Instance, settings: MachineSettings, now: datetime) -> Machine | None:
    """A new machine, on any node that is not lost; None if all are."""
    name, uid = instance.metadata.name, instance.metadata.uid
    when = times.format_micro(now)
    first = int(drawn(uid, "node", when) * settings.nodes)
    for step in range(settings.nodes):
        node = f"node-{(first + step) % settings.nodes}"
        if not settings.is_lost(node, name):
            return Machine(node, now)
    return None


def state_of(
    instance: Instance, machine: Machine, settings: MachineSettings, now: datetime
) -> MachineState:
    """The state of a machine now."""
    if settings.is_lost(machine.node, instance.metadata.name):
        return _lost(instance, machine, settings, now)
    broken = _broken(instance, settings)
    if broken is not None:
        return MachineState(broken, broken)
    booting = _booting(instance, machine, settings, now)
    if booting is not None:
        return booting
    return MachineState(_set_up(machine), _running(instance, machine, settings))


def contradicts(instance: Instance, state: MachineState) -> bool:
    """Whether a state contradicts the reported conditions, or moves the machine.

    That a machine has come up contradicts nothing.
    """
    conditions = instance.status.conditions
    before = find(conditions, ConditionType.AVAILABLE)
    if state.move or before is None or before.status == "Unknown":
        return state.move
    came_up = state.available.status == "True" and not is_true(conditions, ConditionType.PROGRAMMED)
    return not came_up and before.message != state.available.message


def stops_at(instance: Instance, settings: MachineSettings) -> datetime:
    """When the machine of a deleted Instance will have stopped."""
    deleted = instance.metadata.deletion_timestamp
    assert deleted is not None
    return deleted + timedelta(seconds=settings.stop.seconds(instance.metadata.uid, "stop"))


def _lost(
    instance: Instance, machine: Machine, settings: MachineSettings, now: datetime
) -> MachineState:
    """A machine whose node failed: after a while it is started on another node."""
    available = find(instance.status.conditions, ConditionType.AVAILABLE)
    since = now
    if available is not None and available.status == "False":
        since = max(machine.started, available.last_transition_time)
    left = settings.recovery - (now - since).total_seconds()
    why = f"{machine.node} has failed; the instance is started on another node"
    down = ConditionValue("False", Reason.PROVISIONING, why)
    return MachineState(
        _set_up(machine), down, requeue_after=left if left > 0 else None, move=left <= 0
    )


def _broken(instance: Instance, settings: MachineSettings) -> ConditionValue | None:
    """The condition of a machine that can never be set up; None if it can."""
    for image in _images(instance):
        if _matches(image, settings.unavailable_images):
            why = f"The image {image} cannot be pulled: there is no such image, or no access to it"
            return ConditionValue("False", Reason.IMAGE_UNAVAILABLE, why)
        if _matches(image, settings.misconfigured_images):
            why = f"The image {image} does not start with the variables and mounts it is given"
            return ConditionValue("False", Reason.CONFIGURATION_ERROR, why)
    return None


def _booting(
    instance: Instance, machine: Machine, settings: MachineSettings, now: datetime
) -> MachineState | None:
    """The state of a machine that boots; None once it is up."""
    if _is_reported(instance, _set_up(machine)):  # changed settings do not make it boot again
        return None
    failed = _is_reported(instance, _unbooted(machine))
    passed, ends = (now - machine.started).total_seconds(), 0.0
    for seconds, boots in _attempts(instance, machine, settings):
        ends += seconds
        if passed < ends:
            return _starting(machine, ends - passed, failed=failed)
        if boots:
            return None
        failed = True
    return _starting(machine, None, failed=True)


def _is_reported(instance: Instance, value: ConditionValue) -> bool:
    """Whether Programmed has this value for the machine, whichever provider has reported it.

    The node in the message identifies the machine: the next one is started on another node. A
    timestamp would not do, since the clocks of providers differ.
    """
    programmed = find(instance.status.conditions, ConditionType.PROGRAMMED)
    return programmed is not None and (programmed.status, programmed.message) == (
        value.status,
        value.message,
    )


def _attempts(
    instance: Instance, machine: Machine, settings: MachineSettings
) -> Iterator[tuple[float, bool]]:
    """The attempts to boot: how long each takes, including the wait before it, and whether it succeeds."""
    uid, when = instance.metadata.uid, times.format_micro(machine.started)
    pause = 0.0
    for attempt in map(str, range(_ATTEMPTS)):
        boots = drawn(uid, when, "boot", attempt) >= settings.boot_failures
        yield pause + settings.start.seconds(uid, when, "start", attempt), boots
        longest = max(settings.retry, _SHORTEST_RETRY) * 2**_DOUBLINGS
        pause = min(max(2 * pause, settings.retry, _SHORTEST_RETRY), longest)


def _starting(machine: Machine, requeue_after: float | None, *, failed: bool) -> MachineState:
    why = f"The machine is being started on {machine.node}"
    programmed = (
        _unbooted(machine)
        if failed
        else ConditionValue("False", Reason.PROGRAMMING_IN_PROGRESS, why)
    )
    available = ConditionValue("False", Reason.PROVISIONING, programmed.message)
    return MachineState(programmed, available, requeue_after)


def _set_up(machine: Machine) -> ConditionValue:
    return ConditionValue("True", Reason.PROGRAMMED, f"The machine is set up on {machine.node}")


def _unbooted(machine: Machine) -> ConditionValue:
    why = f"The machine did not boot on {machine.node}; it is tried again"
    return ConditionValue("False", Reason.PROGRAMMING_IN_PROGRESS, why)


def _running(instance: Instance, machine: Machine, settings: MachineSettings) -> ConditionValue:
    why = "ends again and again, soon after it has been started"
    for image in _images(instance):
        if _matches(image, settings.crashing_images):
            return ConditionValue(
                "False", Reason.INSTANCE_CRASHING, f"The program of the image {image} {why}"
            )
    uid, when = instance.metadata.uid, times.format_micro(machine.started)
    if drawn(uid, when, "crash") < settings.crashes:
        return ConditionValue("False", Reason.INSTANCE_CRASHING, f"The program {why}")
    return ConditionValue("True", Reason.AVAILABLE, f"The machine runs on {machine.node}")


def _images(instance: Instance) -> Iterator[str]:
    """Everything that has to be pulled before the machine can start."""
    sandbox = instance.spec.runtime.sandbox
    if sandbox is not None:
        yield from (container.image for container in sandbox.containers)
    for volume in instance.spec.volumes:
        populator = volume.disk.template.spec.populator if volume.disk else None
        if populator is not None and populator.image is not None:
            yield populator.image.name


def _matches(image: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(image, pattern) for pattern in patterns)
