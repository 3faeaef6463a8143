"""The clock and the chance of this machine. Everything below is handed them."""

import os
from datetime import UTC, datetime
from random import Random

from kubekit.environment import ExecutionEnvironment


def system() -> ExecutionEnvironment:
    """What a plane runs on outside of tests.

    Chance makes uids and names, which need not be secret: the system is asked for a seed, and not
    at each request. Tokens and keys come from the system itself.
    """
    return ExecutionEnvironment(now=_now, chance=Random(os.urandom(32)))  # noqa: S311 - for that reason


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - here is where the clock is injected
