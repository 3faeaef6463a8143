"""How deep a run of the tests goes.

`make test` runs every test with small numbers. `make test-deep` sets DEEP=1 and runs the same tests with
large numbers: all seeds, many examples, kills by the hundred. No test exists in one of them alone.
"""

import os
from typing import Final, TypeVar

T = TypeVar("T")
DEEP: Final = os.environ.get("DEEP", "0") not in ("", "0")
SETTING: Final = "DEEP=1 " if DEEP else ""  # what a command needs before it to run as deep as this


def either(quick: T, deep: T) -> T:
    """What to use in this run: the first in `make test`, the second in `make test-deep`."""
    return deep if DEEP else quick


def examples(usual: int) -> int:
    """How many examples a property test tries: in a quick run a third, in a deep one ten times."""
    return either(max(10, usual // 3), 10 * usual)
