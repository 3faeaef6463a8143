"""How a controller works, apart from what it does."""

import logging
from dataclasses import dataclass, field

from kubekit.runtime.queueing.backoff import FIRST, MOST
from kubekit.runtime.reconciling.write_conflicts import WriteConflictSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings:
    """How a controller works. All times are seconds.

    ``per_cluster`` is how many passes of one cluster may run at once, so that one whose server
    hangs cannot hold every worker; by default three quarters of the workers. ``level`` is that of
    the line each pass leaves in the log. ``storm`` is how many passes of one object in a minute
    are worth a warning.
    """

    workers: int = 16
    per_cluster: int | None = None
    pass_limit: float = 60.0
    first_backoff: float = FIRST
    longest_backoff: float = MOST
    write_conflicts: WriteConflictSettings = field(default_factory=WriteConflictSettings)
    storm: int = 120
    level: int = logging.INFO
