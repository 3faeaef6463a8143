"""A hub that was put back to an older copy of itself: its Works are older than what cells have.

Cells keep what they have for a while, since whoever brings the projects' wishes to the hub is about
to bring the newest again. Then the hub's word holds, whatever it counts: users may have changed
things while it was away, and to wait for its old count to come round would be to wait for ever.
"""

from datetime import datetime, timedelta
from typing import Final

from kubekit.runtime.requests import DONE, Request, Result

_PATIENCE: Final = timedelta(minutes=2)


class StaleHubGuard:
    """The Works that are older than their copies, and since when that is known."""

    def __init__(self) -> None:
        self._since: dict[Request, datetime] = {}

    def hold(self, work: Request, now: datetime) -> bool:
        """Whether a cell is to keep what it has, rather than what an older Work says."""
        return now < self._since.setdefault(work, now) + _PATIENCE

    def look_again(self, work: Request, now: datetime) -> Result:
        """When patience with a Work ends; nothing is to be waited for where it has, or never began."""
        ends = self._since.get(work, now) + _PATIENCE
        return Result(ends - now) if work in self._since and now < ends else DONE

    def forget(self, work: Request) -> None:
        """The Work has gone, or its copy is what it says."""
        self._since.pop(work, None)
