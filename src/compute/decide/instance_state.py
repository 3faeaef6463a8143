"""The state of an Instance as one word with its cause, and no more than its conditions say.

Ready says that the Instance can be used. Whether its process runs at this moment is not reported, so
no state claims it. An Instance whose cell is unreachable has only its last state, and says so. Every
list, description and dashboard shows the same state.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import msgspec

from compute.api.compute import Instance, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.networking import NetworkBinding
from compute.api.reasons import Reason, Trait, describe, has
from compute.decide.conditions import is_true
from compute.decide.explain import cause
from compute.decide.explain.cause import Cause
from compute.decide.progress import PhaseTimeouts
from compute.decide.progress.city import last_report
from compute.decide.scheduling_gates import closed
from kubekit.api import times


class InstanceState(StrEnum):
    """The state of an Instance, the worst first."""

    FAILED = "Failed"  # waiting does not help: another template has to be deployed
    UNREACHABLE = "Unreachable"  # its cell does not report
    PENDING = "Pending"
    STARTING = "Starting"  # the provider sets it up
    STOPPED = "Stopped"  # it is not to run
    DELETING = "Deleting"
    AVAILABLE = "Available"


_BEING_SET_UP: Final = frozenset({Reason.PENDING_PROGRAMMING, Reason.PROGRAMMING_IN_PROGRESS})
_IN_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Reason.INSTANCE_CRASHING: "crashing",
        Reason.PENDING: "",
        Reason.PENDING_EVALUATION: "quota evaluation",
        Reason.VALIDATION_FAILED: "quota validation failed",
    }
)
_BY_TRAIT: Final[Mapping[Trait, InstanceState]] = MappingProxyType(
    {Trait.TERMINAL: InstanceState.FAILED, Trait.INTENDED: InstanceState.STOPPED}
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*")
_SILENCE: Final = PhaseTimeouts().silence


class InstanceStanding(msgspec.Struct, frozen=True):
    """The state of an Instance, and the cause of it where it is not available.

    ``last_report`` is set where the cell is unreachable: everything else is as old as that.
    """

    state: InstanceState
    reason: str = ""
    message: str = ""
    since: datetime | None = None
    last_report: datetime | None = None
    before: InstanceState | None = None  # the last reported state of an unreachable one

    @property
    def text(self) -> str:
        """The state in a word, with its cause: ``Pending (quota exceeded)``."""
        if self.before is not None:
            return f"{self.state} (was {self.before.lower()})"
        detail = _in_words(self.reason) if self.state in _WITH_CAUSE else ""
        return f"{self.state} ({detail})" if detail else self.state.value


_WITH_CAUSE: Final = frozenset({InstanceState.FAILED, InstanceState.PENDING})


def standing(
    instance: Instance,
    deployment: WorkloadDeployment | None = None,
    binding: NetworkBinding | None = None,
    *,
    now: datetime,
) -> InstanceStanding:
    """The state of an Instance. Its deployment, if it is known, shows whether its cell reports."""
    found = cause.of_instance(instance, binding)
    state = _state(instance, found)
    lost = _unreachable(deployment, now) if deployment else None
    if lost is not None:
        return InstanceStanding(
            InstanceState.UNREACHABLE,
            Reason.CELL_UNREACHABLE,
            lost.message,
            lost.since,
            lost.since,
            state,
        )
    if state is InstanceState.DELETING:
        return InstanceStanding(state, since=instance.metadata.deletion_timestamp)
    if found is None:
        return InstanceStanding(state)
    return InstanceStanding(state, found.reason, found.message, found.since)


def _state(instance: Instance, found: Cause | None) -> InstanceState:
    if instance.deleting:
        return InstanceState.DELETING
    if found is None:
        return InstanceState.AVAILABLE
    ended = (s for trait, s in _BY_TRAIT.items() if has(found.reason, trait))
    return next(ended, None) or _on_its_way(instance, found)


def _on_its_way(instance: Instance, found: Cause) -> InstanceState:
    programmed = is_true(instance.status.conditions, ConditionType.PROGRAMMED)
    is_set_up = found.reason in _BEING_SET_UP and not programmed and not closed(instance)
    return InstanceState.STARTING if is_set_up else InstanceState.PENDING


def _unreachable(deployment: WorkloadDeployment, now: datetime) -> Cause | None:
    """Why the reports of a cell are old, since the last of them; None while it reports."""
    reported = last_report(deployment)
    lost = [c for c in cause.reports(deployment) if c.reason == Reason.CELL_UNREACHABLE]
    if lost:
        found = lost[0]
        return Cause(deployment, found.reason, found.message, reported or found.since)
    if reported is None or now - reported < _SILENCE:
        return None
    message = f"The cell last reported at {times.format_time(reported)}"
    return Cause(deployment, Reason.CELL_UNREACHABLE, message, reported)


def _in_words(reason: str) -> str:
    """A reason that is known here in words; any other as it is."""
    if reason in _IN_WORDS:
        return _IN_WORDS[reason]
    if describe(reason) is None:
        return reason
    return " ".join(_WORD.findall(reason)).lower()
