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
    """The first value in `make test`, the second in `make test-deep`."""
    return deep if DEEP else quick


def examples(usual: int) -> int:
    """The number of examples of a property test: a third in a quick run, ten times as many in a deep one."""
    return either(max(10, usual // 3), 10 * usual)
