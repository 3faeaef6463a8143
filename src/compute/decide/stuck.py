"""What has been on its way for so long that an operator should look at it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from compute.decide.conditions import find
from kubekit.api.meta import Condition, Object

LATE: Final = timedelta(minutes=5)  # within which a deletion, or the start of an Instance, is over


@dataclass(frozen=True, slots=True)
class Stuck:
    """Since when an object has not come on, and why, as far as it says."""

    since: datetime
    why: str


def stuck(obj: Object, conditions: Sequence[Condition], kind: str, now: datetime) -> Stuck | None:
    """Why an object is stuck, if it is: it should be gone, or this condition should be True."""
    meta = obj.metadata
    said = find(conditions, kind)
    why = f"{said.reason}: {said.message}" if said and said.status != "True" else ""
    if meta.deletion_timestamp is not None:
        found = Stuck(meta.deletion_timestamp, f"being deleted; {why}" if why else "being deleted")
    elif said is None:
        found = Stuck(meta.creation_timestamp or now, f"nothing is known of {kind} yet")
    elif why:
        found = Stuck(said.last_transition_time, f"not {kind}; {why}")
    else:
        return None
    return found if now - found.since > LATE else None
