"""When a client that waits for a rollout stops waiting, and what it reports then."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from compute.decide.progress.phases import PhaseTimeouts
from compute.decide.progress.rollouts import RolloutVerdict


class RolloutEnding(StrEnum):
    """How a rollout ended for a client that waited for it."""

    DONE = "done"
    FAILED = "failed"
    PAUSED = "paused"
    BLOCKED = "blocked"  # until the timeout
    UNKNOWN = "unknown"  # the server or a cell has been silent for too long
    TIMED_OUT = "timed out"  # while it made progress


class RolloutWait(msgspec.Struct, frozen=True, kw_only=True):
    """Since when a client waits, how long it does at most, and since when the verdict is unknown."""

    since: datetime
    limit: timedelta | None = None
    unknown_since: datetime | None = None

    def after(self, verdict: RolloutVerdict, now: datetime) -> "RolloutWait":
        """The same after a verdict."""
        unknown = verdict is RolloutVerdict.UNKNOWN
        since = (self.unknown_since or now) if unknown else None
        return RolloutWait(since=self.since, limit=self.limit, unknown_since=since)


_AT_ONCE = {
    RolloutVerdict.DONE: RolloutEnding.DONE,
    RolloutVerdict.FAILED: RolloutEnding.FAILED,
    RolloutVerdict.PAUSED: RolloutEnding.PAUSED,
}
_AT_THE_LIMIT = {
    RolloutVerdict.BLOCKED: RolloutEnding.BLOCKED,
    RolloutVerdict.UNKNOWN: RolloutEnding.UNKNOWN,
    RolloutVerdict.PROGRESSING: RolloutEnding.TIMED_OUT,
}


def ending(
    verdict: RolloutVerdict, waiting: RolloutWait, now: datetime, timeouts: PhaseTimeouts
) -> RolloutEnding | None:
    """How the wait ends now; None while it goes on.

    What is blocked may be unblocked at any time, by more quota or a network, so it is waited for.
    """
    if verdict in _AT_ONCE:
        return _AT_ONCE[verdict]
    unknown = waiting.unknown_since
    if unknown is not None and now - unknown >= timeouts.contact:
        return RolloutEnding.UNKNOWN
    over = waiting.limit is not None and now - waiting.since >= waiting.limit
    return _AT_THE_LIMIT[verdict] if over else None
