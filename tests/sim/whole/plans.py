"""Plans: one Workload through its whole life, with one fault at each possible moment.

The reference is the life without any. Each plan is the same life with one misfortune, and must come
to the same state at every milestone:

    crash    a part dies just after one of its writes, before it gets the answer, and starts again
    stale    the same, and every list in its next life is of the past
    unseen   a watch delivers nothing from one event on; the list after it has the result
    late     a part receives all events up to ten minutes late, while its requests work

`python -m tests.sim.whole.plans 7` plays plan 7 line by line; ``all`` plays all of them.
"""

import argparse
import signal
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Final

from compute.app.sites import sites
from tests.sim.loop import SimLoop, run
from tests.sim.network import Wires
from tests.sim.replay import logs_in
from tests.sim.trace import Trace
from tests.sim.whole import ending, normal
from tests.sim.whole.judge import LAG, Judge, Violation
from tests.sim.whole.lifetime import CITIES, SEED, Lifetime, Pace
from tests.sim.whole.plan_faults import LATE, Fate, Moments, Plan
from tests.sim.whole.simulated import SimulatedWorld
from tests.support.generated import depth

SHOWN: Final = 60  # lines of the trace of a plan that failed
KEPT: Final = 2000
States = dict[str, normal.State]  # by what the user did
_PROGRESS: Final = 50  # plans after which to say how far it is
_PROMPT: Final = Pace()
SEEN_LATE: Final = Pace(quiet=1.5 * LATE.delay, patience=60.0 * LATE.delay)


@dataclass(slots=True)
class Outcome:
    """The outcome of a life."""

    moments: Moments
    parts: tuple[str, ...]
    states: States
    took: dict[str, float]  # seconds to each milestone
    digest: str = ""


@cache
def reference() -> Outcome:
    """The life without a fault."""
    return lived(None, Trace())


@cache
def every() -> tuple[Plan, ...]:
    """All plans, the same in each process."""
    known, numbers = reference(), count()
    return (
        *(Plan(next(numbers), "crash", at.part, at) for at in known.moments.writes),
        *(Plan(next(numbers), "stale", at.part, at) for at in known.moments.writes),
        *(Plan(next(numbers), "unseen", at.part, at) for at in known.moments.events),
        *(Plan(next(numbers), "late", part) for part in known.parts),
    )


def play(plan: Plan, *, echo: bool = False, expected: States | None = None) -> Outcome:
    """The life with this misfortune. One that fails raises, and says how to see it again."""
    expected = expected or reference().states
    trace = Trace(echo=echo, kept=KEPT)
    try:
        with logs_in(trace):
            return lived(plan, trace, expected)
    except Exception as error:
        raise AssertionError(_explained(plan, trace, error)) from error


def lived(
    plan: Plan | None, trace: Trace, expected: States | None = None, seed: str = SEED
) -> Outcome:
    """A life, which must come to the states that are expected, if any are. Raises `Violation`."""
    loop = SimLoop(seed)
    is_late = plan is not None and plan.kind == "late"

    async def living() -> Outcome:
        wires = Wires(trace)
        judge = Judge(trace, SEEN_LATE.patience if is_late else LAG)
        world = SimulatedWorld(seed, sites(CITIES), wires, judge)
        fate = Fate(world, wires, plan)
        life = Lifetime(world, judge, trace, fate, SEEN_LATE if is_late else _PROMPT)
        states: States = {}

        def wrong(act: str, state: normal.State) -> list[str]:
            states[act] = state
            amiss = [] if expected is None else normal.differences(expected[act], state)
            return amiss or ending.differences(life.planes)

        await life.live(wrong)
        if not fate.struck:
            raise Violation("the misfortune never came: this is not the reference")
        return Outcome(fate.moments, tuple(world.processes), states, life.took)

    outcome = run(living(), loop)
    outcome.digest = f"{loop.picks} {trace.digest}"
    return outcome


def _explained(plan: Plan, trace: Trace, error: Exception) -> str:
    what = str(error) if isinstance(error, Violation) else repr(error)
    shown = [line for line in trace.lines if " leases " not in line]  # of which the end is full
    lines = "\n".join(shown[-SHOWN:])
    return (
        f"{plan}\n{what}\nthe last of {trace.count} lines:\n{lines}\n{plan}\n{what}\n"
        f"see all of it: {depth.SETTING}python -m tests.sim.whole.plans {plan.number}"
    )


def _play_all(plans: Iterable[Plan]) -> int:
    """Every plan. Returns the number of failed ones, which are printed as they fail."""
    played: Counter[str] = Counter()
    failed: list[Plan] = []
    slowest = (0.0, "nothing")
    for plan in plans:
        played[plan.kind] += 1
        try:
            took = play(plan).took
            slowest = max(slowest, (max(took.values()), str(plan)))
        except AssertionError as failure:
            failed.append(plan)
            _print("\n".join(str(failure).splitlines()[:2]))
        if played.total() % _PROGRESS == 0:
            _print(f"{played.total()} played, {len(failed)} failed")
    _print(f"played: {dict(played)}")
    _print(f"slowest to a milestone: {slowest[0]:g} s in {slowest[1]}")
    _print(f"failed: {len(failed)} {[plan.number for plan in failed]}")
    return len(failed)


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201 -- what was asked for


def main() -> int:
    """Play the plans that are named. 1 if one of them fails."""
    parser = argparse.ArgumentParser("python -m tests.sim.whole.plans", description=__doc__)
    parser.add_argument("which", help="the number of a plan, or: all")
    asked = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for a reader of the first lines only
    if asked.which == "all":
        return min(1, _play_all(every()))
    plan = every()[int(asked.which)]
    _print(str(plan))
    try:
        play(plan, echo=True)
    except AssertionError as failure:
        _print(str(failure))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
