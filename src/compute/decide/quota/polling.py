"""How often to look at a claim that nobody tells of."""

from datetime import datetime, timedelta
from typing import Final

# By age since creation: how long to wait before looking again without being told to.
_PATIENCE: Final = (
    (timedelta(seconds=60), timedelta(seconds=1)),
    (timedelta(minutes=5), timedelta(seconds=15)),
    (timedelta(minutes=10), timedelta(seconds=60)),
)
_LONGEST_PATIENCE: Final = timedelta(seconds=300)


def requeue_after(created: datetime | None, now: datetime) -> timedelta:
    """The safety net under lost events, while quota is not granted.

    Counted from creation and not from the last try, so that a restarted controller does not go
    back to asking every second about what has waited for an hour.
    """
    waited = now - (created or now)
    return next((pause for limit, pause in _PATIENCE if waited < limit), _LONGEST_PATIENCE)
