"""Drains: deployments that are no longer wanted, and go on until a time that was set.

The drain is stamped on the deployment in the project. So it outlives a restart, two managers agree
on it, and every message can name the same instant.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

import msgspec

from compute.api import annotations
from compute.api.compute import WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.meta import Condition
from compute.api.reasons import Reason
from compute.api.times import format_time
from compute.decide.ranking import Candidate, ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class Grace:
    """How long a deployment goes on that is no longer wanted."""

    withdrawal: timedelta = timedelta(minutes=5)  # its city is no longer offered to the project


PLAIN: Final = Grace()


class Drain(msgspec.Struct, frozen=True):
    """Why a deployment is drained, and when."""

    reason: str
    at: Annotated[datetime, msgspec.Meta(tz=True)]


@dataclass(frozen=True, slots=True)
class News:
    """An event about a deployment."""

    type: Literal["Normal", "Warning"]
    reason: str
    note: str


def of(deployment: WorkloadDeployment, reason: str = "") -> Drain | None:
    """The drain of a deployment, of this reason if one is named; None when it has no such drain.

    A stamp that cannot be read counts for none: the drain is then set anew, with the full time.
    """
    stamp = deployment.metadata.annotations.get(annotations.DRAIN)
    if stamp is None:
        return None
    try:
        drain = msgspec.json.decode(stamp, type=Drain)
    except msgspec.DecodeError:
        return None
    return drain if reason in ("", drain.reason) else None


def stamped(deployment: WorkloadDeployment, drain: Drain) -> WorkloadDeployment:
    """The deployment with the drain on it."""
    meta = deployment.metadata
    noted = meta.annotations | {annotations.DRAIN: msgspec.json.encode(drain).decode()}
    metadata = msgspec.structs.replace(meta, annotations=noted)
    return msgspec.structs.replace(deployment, metadata=metadata)


def withdrawn(deployment: WorkloadDeployment, now: datetime, grace: Grace) -> Drain:
    """The drain of a deployment whose city is not offered: the one it has, else one from now on."""
    present = of(deployment, Reason.CITY_WITHDRAWN)
    return present or Drain(Reason.CITY_WITHDRAWN, now + grace.withdrawal)


def next_due(deployments: Iterable[WorkloadDeployment]) -> datetime | None:
    """When the first of the drains is due; None when there is none."""
    drains = (of(d) for d in deployments if not d.deleting)
    return min((drain.at for drain in drains if drain), default=None)


def explained(deployments: Iterable[WorkloadDeployment]) -> list[Candidate]:
    """Why each deployment that has a drain is drained, and when; the weightiest first.

    The instant and not the time left, which would be another message on every pass.
    """
    pairs = ((d, of(d)) for d in deployments if not d.deleting)
    return ranked(
        Candidate(d.metadata.name, drain.reason, _message(d, drain), "True")
        for d, drain in pairs
        if drain
    )


def condition(deployment: WorkloadDeployment, now: datetime) -> Condition | None:
    """What a deployment says of its drain; None when it has none."""
    told = explained((deployment,))
    return summary(told, deployment.metadata.generation, now) if told else None


def summary(told: Sequence[Candidate], generation: int, now: datetime) -> Condition:
    """What is said of drains, at least one, in a condition."""
    text = "; ".join(each.message for each in told)
    whole = Candidate("", told[0].reason, text, "True")
    return whole.condition(ConditionType.DRAIN_SCHEDULED, generation, now)


def news_of_change(before: WorkloadDeployment, after: WorkloadDeployment) -> News | None:
    """What is worth an event when a deployment is given a drain, or loses it."""
    old, new = of(before), of(after)
    if new is not None and (old is None or old.reason != new.reason):
        return News("Warning", Reason.CITY_WITHDRAWN, _message(after, new))
    if old is not None and new is None:
        city, name = after.spec.city_code, after.metadata.name
        return News("Normal", Reason.CITY_RETURNED, f"{city} is offered again; {name} goes on")
    return None


def news_of_end(deployment: WorkloadDeployment, now: datetime) -> News | None:
    """What is worth an event when a deployment is deleted; None when it is not for its drain."""
    drain = of(deployment)
    if drain is None or now < drain.at:
        return None
    city, name = deployment.spec.city_code, deployment.metadata.name
    note = f"{city} was not offered again until {format_time(drain.at)}: {name} is drained"
    return News("Warning", Reason.CITY_WITHDRAWN, note)


def _message(deployment: WorkloadDeployment, drain: Drain) -> str:
    return (
        f"{deployment.spec.city_code} is no longer offered to this project; what runs there goes on, "
        f"and is drained at {format_time(drain.at)} unless the city is offered again"
    )
