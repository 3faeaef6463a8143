"""One seed, one whole world: its outcome, and how to replay one that failed.

`python -m tests.sim.whole.replay 7` plays seed 7 line by line; with ``--digest`` it only prints what
two runs of the same seed must have in common, with ``--many`` it plays a range and counts.
"""

import argparse
import gc
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.sim.loop import SimLoop, run
from tests.sim.replay import logs_in
from tests.sim.trace import Trace
from tests.sim.whole.judge import Violation
from tests.sim.whole.world import Options, Play, options
from tests.support.generated import depth

SHOWN: Final = 60  # lines of the trace of a failed run


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a seed. Two runs of the same one are equal in all of it."""

    seed: int
    digest: str
    steps: int
    hours: float
    settled: float
    writes: int
    faults: int


def play(
    seed: int,
    drawn: Options | None = None,
    prepare: Callable[[Play], None] | None = None,
    *,
    echo: bool = False,
) -> Outcome:
    """The run of a seed. One that fails raises, and says all that is needed to find out why.

    ``drawn`` are other options than the seed's own; ``prepare`` may change the play before it starts.
    """
    gc.collect()  # what the last world left: every collection of this one would go through it
    chosen = drawn or options(seed)
    trace = Trace(echo=echo)
    loop = SimLoop(seed)
    plays: list[Play] = []

    async def main() -> None:
        plays.append(Play(seed, chosen, trace))
        if prepare is not None:
            prepare(plays[0])
        await plays[0].run()

    try:
        with logs_in(trace):
            run(main(), loop)
    except Exception as error:
        raise AssertionError(_explained(seed, chosen, trace, error)) from error
    (played,) = plays
    digest = f"{loop.picks} {trace.digest}"
    hours = loop.time() / 3600.0
    writes = played.judge.writes
    return Outcome(seed, digest, loop.steps, hours, played.settled, writes, played.faults)


def _explained(seed: int, chosen: Options, trace: Trace, error: Exception) -> str:
    what = str(error) if isinstance(error, Violation) else repr(error)
    lines = "\n".join(list(trace.lines)[-SHOWN:])
    again = (
        f"{depth.SETTING}make sim SEED={seed}"
        if chosen == options(seed)
        else f"these options, seed {seed}"
    )
    return (
        f"seed {seed}: {what}\n  {chosen.describe()}\n"
        f"the last of {trace.count} lines:\n{lines}\n"
        f"seed {seed}: {what}\nsee all of it: {again}"
    )


def main() -> int:
    """Play the seeds that are named. 1 if one of them fails."""
    parser = argparse.ArgumentParser("make sim", usage="make sim SEED=n", description=__doc__)
    parser.add_argument("seeds", nargs="+", type=int, metavar="SEED", help="a number")
    parser.add_argument("--digest", action="store_true", help="say how it ended, and no more")
    parser.add_argument("--many", action="store_true", help="all from the first to the last")
    asked = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for a reader of the first lines only
    if asked.many:
        return _many(range(asked.seeds[0], asked.seeds[-1] + 1))
    for seed in asked.seeds:
        if not asked.digest:
            _say(f"seed {seed}\n  {options(seed).describe()}")
        try:
            _say(str(play(seed, echo=not asked.digest)))
        except AssertionError as error:
            _say(str(error).splitlines()[0])
            return 1
    return 0


def _many(seeds: range) -> int:
    failed, hours, faults = [], 0.0, 0
    for seed in seeds:
        try:
            outcome = play(seed)
        except AssertionError as error:
            failed.append(seed)
            _say(str(error).splitlines()[0])
        else:
            hours += outcome.hours
            faults += outcome.faults
            _say(f"seed {seed}: well, settled after {outcome.settled:.0f} s")
    _say(f"{len(seeds)} seeds, {hours:.0f} hours, {faults} faults; failed: {failed or 'none'}")
    return 1 if failed else 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 -- what was asked for


if __name__ == "__main__":
    sys.exit(main())
