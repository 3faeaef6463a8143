"""The limits of events about one object, and of event writes to one plane."""

from dataclasses import replace
from typing import Final

from kubekit.runtime.reporting.event_series import WINDOW, EventMessage

BURST: Final = 25  # events of one object at once
REFILL: Final = 300.0  # seconds for each further one
MOST_ALIKE: Final = 10  # events of one object that differ in their note alone


class TokenBucket:
    """A token bucket: a burst at once, then one at a time."""

    __slots__ = ("_at", "_burst", "_left", "_refill")

    def __init__(self, now: float, burst: int = BURST, refill: float = REFILL) -> None:
        self._burst = float(burst)
        self._refill = refill
        self._left = self._burst
        self._at = now

    def take(self, now: float) -> bool:
        """Take a token. Returns False when there is none."""
        self._left = self._left_at(now)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True

    def reserve(self, now: float) -> float:
        """Take the next token. Returns the seconds until it is available."""
        self._left = self._left_at(now) - 1.0
        self._at = now
        return max(0.0, -self._left * self._refill)

    def is_whole(self, now: float) -> bool:
        return self._left_at(now) >= self._burst

    def _left_at(self, now: float) -> float:
        return min(self._left + (now - self._at) / self._refill, self._burst)


class SimilarEvents:
    """Messages about one object for one reason that differ in their note.

    Beyond the first few they are counted together in one series, as Kubernetes does: a Workload
    whose hundred cities fail at once gets a dozen events.
    """

    __slots__ = ("_combined", "_count", "_last_seen")

    def __init__(self, now: float) -> None:
        self._count = 0
        self._last_seen = now
        self._combined: EventMessage | None = None

    def take(self, message: EventMessage, now: float) -> EventMessage:
        """The message to write for one more: itself, or the combined one."""
        self._count += 1
        self._last_seen = now
        if self._count <= MOST_ALIKE:
            return message
        if self._combined is None:
            note = f"(combined from similar events): {message.note}"
            self._combined = replace(message, note=note)
        return self._combined

    def is_over(self, now: float) -> bool:
        return now > self._last_seen + WINDOW
