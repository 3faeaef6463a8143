"""A hub that was restored from a backup: its Works are older than the copies in cells.

Cells keep their copies for a grace period, since the federator is about to write the newest specs to
the hub again. After that the hub's spec is applied even if its generation is lower: users may have
changed objects while the hub was down, and the generation may never reach the old number again.
"""

from datetime import datetime, timedelta
from typing import Final

from kubekit.runtime.requests import DONE, Request, Result

_GRACE: Final = timedelta(minutes=2)


class StaleHubGuard:
    """The Works that are older than their copies, and since when."""

    def __init__(self) -> None:
        self._since: dict[Request, datetime] = {}

    def hold(self, work: Request, now: datetime) -> bool:
        """Whether a cell keeps a copy that is newer than its Work."""
        return now < self._since.setdefault(work, now) + _GRACE

    def requeue(self, work: Request, now: datetime) -> Result:
        """Requeue when the grace period of a Work ends; done if it has ended, or never started."""
        ends = self._since.get(work, now) + _GRACE
        return Result(ends - now) if work in self._since and now < ends else DONE

    def forget(self, work: Request) -> None:
        """End the grace period: the Work is gone, or its copy is up to date."""
        self._since.pop(work, None)
