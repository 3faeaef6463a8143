"""When a Pod that has ended is replaced.

A Pod that a node has rejected or evicted never runs again, so it is deleted and created anew. Where
that does not help, the pauses grow. They follow from times that are stored, so that a restart of the
provider changes nothing: each Pod is kept for as long as the Instance had been unavailable when the
Pod was created.
"""

from datetime import datetime, timedelta
from typing import Final

from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.decide.conditions import find
from kubekit.api.kinds.pods import Pod

_SHORTEST: Final = timedelta(seconds=5)
_LONGEST: Final = timedelta(minutes=5)


def due_in(instance: Instance, pod: Pod, now: datetime) -> timedelta:
    """How long a Pod that has ended is still kept; zero or less if it is to be replaced."""
    created = pod.metadata.creation_timestamp or now
    available = find(instance.status.conditions, ConditionType.AVAILABLE)
    since = created
    if available is not None and available.status == "False":
        since = min(created, available.last_transition_time)
    return created + min(max(created - since, _SHORTEST), _LONGEST) - now
