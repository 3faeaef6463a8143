"""One seed, one run: its outcome, and how to replay a run that failed.

`python -m tests.sim.replay 7` plays seed 7 line by line; with ``--digest`` it only prints what two runs
of the same seed must have in common.
"""

import argparse
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from tests.sim.loop import SimLoop, run
from tests.sim.process import Team
from tests.sim.trace import Trace
from tests.sim.witness import Violation
from tests.sim.world import World, options

SHOWN: Final = 60  # lines of the trace of a failed run


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a seed. Two runs of the same seed have equal outcomes."""

    seed: int
    digest: str
    steps: int
    settled: float
    writes: int
    passes: int
    violation: str = ""


def play(seed: int, team: Team | None = None, *, echo: bool = False) -> Outcome:
    """The run of a seed. One that fails raises, and says all that is needed to find out why."""
    trace = Trace(echo=echo)
    loop = SimLoop(seed)
    worlds: list[World] = []

    async def main() -> None:
        worlds.append(World(seed, team or Team(), trace))
        await worlds[0].play()

    try:
        with logs_in(trace):
            run(main(), loop)
    except Exception as error:
        raise AssertionError(_explained(seed, trace, error)) from error
    witness = worlds[0].witness
    digest = f"{loop.picks} {trace.digest}"
    return Outcome(seed, digest, loop.steps, worlds[0].settled, witness.writes, witness.passes)


def _explained(seed: int, trace: Trace, error: Exception) -> str:
    what = str(error) if isinstance(error, Violation) else repr(error)
    lines = "\n".join(list(trace.lines)[-SHOWN:])
    return (
        f"seed {seed}: {what}\n  {options(seed).describe()}\n"
        f"the last of {trace.count} lines:\n{lines}\n"
        f"seed {seed}: {what}\nsee all of it: make sim OF=runtime SEED={seed}"
    )


class _Tracing(logging.Handler):
    """A log handler that writes to the trace."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(logging.WARNING)
        self._trace = trace

    def emit(self, record: logging.LogRecord) -> None:
        about = record.__dict__
        subject = str(about.get("request") or about.get("cluster") or "")
        why = about.get("error") or about.get("problem") or about.get("why") or ""
        who = record.name.rpartition(".")[2]
        self._trace.say(f"log:{who}", record.levelname.lower(), subject, f"{record.msg} {why}")


@contextmanager
def logs_in(trace: Trace) -> Iterator[None]:
    """Write the warnings of both packages to the trace only."""
    loggers = [logging.getLogger(package) for package in ("compute", "kubekit")]
    handler = _Tracing(trace)
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagate in zip(loggers, before, strict=True):
            logger.propagate = propagate
            logger.removeHandler(handler)


def main() -> int:
    """Play the seeds that are named. 1 if one of them fails."""
    parser = argparse.ArgumentParser(
        "make sim", usage="make sim OF=runtime SEED=n", description=__doc__
    )
    parser.add_argument("seeds", nargs="+", type=int, metavar="SEED", help="a number")
    parser.add_argument("--digest", action="store_true", help="say how it ended, and no more")
    asked = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for `| head`
    for seed in asked.seeds:
        if not asked.digest:
            print(f"seed {seed}\n  {options(seed).describe()}")  # noqa: T201 -- what was asked for
        try:
            print(play(seed, echo=not asked.digest))  # noqa: T201 -- what was asked for
        except AssertionError as error:
            print(str(error).splitlines()[0])  # noqa: T201 -- what was asked for
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
