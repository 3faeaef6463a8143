"""The clock and the random numbers of this machine. All other code receives them as arguments."""

import os
from datetime import UTC, datetime
from random import Random

from kubekit.environment import ExecutionEnvironment


def system() -> ExecutionEnvironment:
    """The environment of a plane outside of tests.

    The random numbers are for uids and names, which need not be secret: the system provides only
    the seed. Tokens and keys come from the system itself.
    """
    return ExecutionEnvironment(now=_now, chance=Random(os.urandom(32)))  # noqa: S311 - not for secrets


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the clock is injected here
