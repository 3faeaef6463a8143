"""The settings of a controller: workers, backoff and limits."""

import logging
from dataclasses import dataclass, field

from kubekit.runtime.queueing.backoff import FIRST, MOST
from kubekit.runtime.reconciling.write_conflicts import WriteConflictSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings:
    """The settings of one controller. All times are in seconds.

    At most ``per_cluster`` passes of one cluster run at once, so that a cluster whose server hangs
    cannot occupy every worker; by default three quarters of the workers. A pass that takes longer
    than ``pass_limit`` is cancelled. More than ``storm`` passes of one object in a minute are
    logged as a warning. ``level`` is the log level of the line for each pass.
    """

    workers: int = 16
    per_cluster: int | None = None
    pass_limit: float = 60.0
    first_backoff: float = FIRST
    longest_backoff: float = MOST
    write_conflicts: WriteConflictSettings = field(default_factory=WriteConflictSettings)
    storm: int = 120
    level: int = logging.INFO
