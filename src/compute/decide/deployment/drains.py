"""Drains: deployments that are no longer wanted, and keep running until a deadline.

The drain is an annotation of the deployment in the project. So it survives a restart, two managers
agree on it, and every message can name the same instant.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

import msgspec

from compute.api import annotations
from compute.api.compute import WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.reasons import Reason, Trait, has
from compute.decide.ranking import Candidate, ranked
from kubekit.api.meta import Condition, with_metadata
from kubekit.api.times import format_time


class Grace(msgspec.Struct, frozen=True, kw_only=True):
    """How long a deployment that is no longer wanted keeps running."""

    withdrawal: timedelta = timedelta(minutes=5)  # its city is no longer offered to the project
    replacement: timedelta = timedelta(minutes=10)  # what replaces it makes no progress


DEFAULT_GRACE: Final = Grace()
_MOST_NAMED: Final = 5
_ONE_BY_ONE: Final = (
    "the quota does not allow both at once: one Instance is replaced after the other"
)
EventType = Literal["Normal", "Warning"]


class Drain(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a deployment is drained, and when.

    The other fields are for a replacement. ``by`` are the deployments that replace this one, and
    ``replicas`` is its own former number of Instances. ``ready`` is how many Instances of ``by`` were
    ready when the deadline was set. ``given_at`` is how many were ready when this deployment last
    gave up an Instance for lack of quota; below zero before that.
    """

    reason: str
    at: Annotated[datetime, msgspec.Meta(tz=True)]
    by: tuple[str, ...] = ()
    replicas: int = 0
    ready: int = 0
    given_at: int = -1


class PlannedEvent(msgspec.Struct, frozen=True):
    """An event that is to be recorded."""

    type: EventType
    reason: str
    note: str


def of(deployment: WorkloadDeployment, reason: str = "") -> Drain | None:
    """The drain of a deployment, of this reason if one is named; None when it has no such drain.

    An unreadable annotation counts as none: the drain is then set again, with the full time.
    """
    stamp = deployment.metadata.annotations.get(annotations.DRAIN)
    if stamp is None:
        return None
    try:
        drain = msgspec.json.decode(stamp, type=Drain)
    except msgspec.DecodeError:
        return None
    fits = drain.reason == reason if reason else has(drain.reason, Trait.DRAIN)
    return drain if fits else None


def stamped(deployment: WorkloadDeployment, drain: Drain) -> WorkloadDeployment:
    """The deployment with the annotation of the drain."""
    meta = deployment.metadata
    noted = meta.annotations | {annotations.DRAIN: msgspec.json.encode(drain).decode()}
    return with_metadata(deployment, annotations=noted)


def withdrawn(deployment: WorkloadDeployment, now: datetime, grace: Grace) -> Drain:
    """The drain of a deployment whose city is not offered: the one it has, else one from now on."""
    present = of(deployment, Reason.CITY_WITHDRAWN)
    return present or Drain(Reason.CITY_WITHDRAWN, now + grace.withdrawal)


def next_due(deployments: Iterable[WorkloadDeployment]) -> datetime | None:
    """When the first of the drains is due; None when there is none."""
    drains = (of(d) for d in deployments if not d.deleting)
    return min((drain.at for drain in drains if drain), default=None)


def explained(deployments: Iterable[WorkloadDeployment]) -> list[Candidate]:
    """Why deployments with a drain are drained, and when; the highest rank first.

    Those that share a drain are named together. The message has the instant and not the remaining
    time, which would change the message in every reconcile pass.
    """
    groups: dict[tuple[str, datetime, tuple[str, ...]], list[WorkloadDeployment]] = {}
    for deployment in sorted(deployments, key=lambda d: d.metadata.name):
        drain = None if deployment.deleting else of(deployment)
        if drain:
            shown = _shown_reason(deployment, drain)
            groups.setdefault((shown, drain.at, drain.by), []).append(deployment)
    return ranked(
        Candidate("", reason, _message(reason, at, by, group), "True")
        for (reason, at, by), group in groups.items()
    )


def condition(deployment: WorkloadDeployment, now: datetime) -> Condition | None:
    """The condition for a deployment's drain; None when it has none."""
    reasons = explained((deployment,))
    return summary(reasons, deployment.metadata.generation, now) if reasons else None


def summary(reasons: Sequence[Candidate], generation: int, now: datetime) -> Condition:
    """The condition for drains, at least one."""
    text = "; ".join(each.message for each in reasons)
    whole = Candidate("", reasons[0].reason, text, "True")
    return whole.condition(ConditionType.DRAIN_SCHEDULED, generation, now)


def change_event(before: WorkloadDeployment, after: WorkloadDeployment) -> PlannedEvent | None:
    """The event for a drain that was set or removed, if any."""
    old, new = explained((before,)), explained((after,))
    if new and (not old or old[0].reason != new[0].reason):
        first = new[0]
        return PlannedEvent(
            "Warning" if Reason(first.reason).needs_action else "Normal",
            first.reason,
            first.message,
        )
    if old and not new and old[0].reason == Reason.CITY_WITHDRAWN:
        note = f"{after.spec.city_code} is offered again; {after.metadata.name} keeps running"
        return PlannedEvent("Normal", Reason.CITY_RETURNED, note)
    return None


def deletion_event(deployment: WorkloadDeployment, now: datetime) -> PlannedEvent | None:
    """The event for a deployment that is deleted; None when its drain is not the cause."""
    drain = of(deployment)
    if drain is None:
        return None
    city, name, at = deployment.spec.city_code, deployment.metadata.name, format_time(drain.at)
    if drain.reason == Reason.CITY_WITHDRAWN:
        note = f"{city} was not offered again until {at}: {name} is drained"
        return PlannedEvent("Warning", Reason.CITY_WITHDRAWN, note) if now >= drain.at else None
    if now < drain.at:
        return PlannedEvent(
            "Normal", Reason.REPLACED, f"{name} is not needed any more and is removed"
        )
    note = (
        f"{_listed(drain.by, 'has', 'have')} made no progress until {at}: {name} is removed anyway"
    )
    return PlannedEvent("Warning", Reason.REPLACEMENT_TIMED_OUT, note)


def _shown_reason(deployment: WorkloadDeployment, drain: Drain) -> str:
    gave_up = deployment.spec.scale_settings.min_replicas < drain.replicas
    return Reason.REPLACEMENT_LACKS_QUOTA if gave_up else drain.reason


def _message(
    reason: str, at: datetime, by: Sequence[str], group: Sequence[WorkloadDeployment]
) -> str:
    names, time = [d.metadata.name for d in group], format_time(at)
    if reason == Reason.CITY_WITHDRAWN:
        cities = sorted({d.spec.city_code for d in group})
        return (
            f"{_listed(cities, 'is', 'are')} no longer offered to this project; "
            f"{_listed(names, 'is', 'are')} drained at {time} unless offered again"
        )
    going, coming = _listed(names, "keeps running", "keep running"), _listed(by, "serves", "serve")
    message = f"{going} until {coming}, or until {time} if there is no progress"
    return f"{message}; {_ONE_BY_ONE}" if reason == Reason.REPLACEMENT_LACKS_QUOTA else message


def _listed(names: Sequence[str], one: str, many: str) -> str:
    named, more = ", ".join(names[:_MOST_NAMED]), len(names) - _MOST_NAMED
    return f"{named}{f' and {more} more' if more > 0 else ''} {one if len(names) == 1 else many}"
