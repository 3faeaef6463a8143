"""The results, as rows with goals."""

from collections.abc import Iterator, Sequence
from typing import Final

from bench.load.report import Better, Row
from bench.load.world import growth
from bench.load.world.journal import LEASES
from bench.load.world.results import PhaseResult, Pods, Rest, StatusDelays, WorldResult

_KB: Final = 1000
_LARGE: Final = 50  # Instances from which on a share of the whole says something
_MEASURABLE: Final = 2  # points that make a line


def of_world(found: WorldResult) -> Iterator[Row]:
    """Everything about one world."""
    if found.growing:
        yield from _growing(found, found.growing)
    if found.rest:
        yield from _resting(found.rest)
    if found.status:
        yield from _status(found.status)
    for name, bout in (("restart", found.restarting), ("deletion", found.deleting)):
        if bout:
            yield from _bout(name, found.instances, bout)


def of_growth(worlds: Sequence[WorldResult]) -> Iterator[Row]:
    """How the cost grows along every line that was measured."""
    for curve in map(growth.beyond_the_first, growth.against_instances(worlds)):
        if len(curve.points) >= _MEASURABLE:
            name = f"growth with Instances, {curve.along}"
            yield _row(name, "exponent", curve.exponent, bound=1.05)
    for curve in growth.against_cities(worlds):
        if len(curve.points) >= _MEASURABLE:
            name = f"growth with cities, {curve.along}"
            yield _row(name, "exponent", curve.exponent, bound=1.05)


def beside(found: WorldResult, pods: Pods) -> Iterator[Row]:
    """Instances of one world beside as many Pods."""
    count, grown, gone = found.instances, found.growing, found.deleting
    if grown is None or gone is None:
        return
    name = f"{growth.instances(count)}, {growth.cities(found.cities)}"
    rates = (count / grown.settled, pods.count / pods.growing)
    yield _pair(name, "1/s", rates, "higher", hold=2, notes=f"the peer: {pods.count:,} Pods")
    yield _pair(
        "CPU for each", "ms", (1e3 * grown.cpu / count, 1e3 * pods.growing_cpu / pods.count)
    )
    rates = (count / gone.seconds, pods.count / pods.deleting)
    notes = f"{gone.seconds:.1f} s and {pods.deleting:.1f} s"
    yield _pair("deletion of all", "1/s", rates, "higher", notes=notes)
    yield _pair(
        "CPU to delete one", "ms", (1e3 * gone.cpu / count, 1e3 * pods.deleting_cpu / pods.count)
    )


def each(found: WorldResult, figure: str) -> str:
    """The writes or reconcile passes for one Instance, in each phase."""
    named = {"growing": found.growing, "restart": found.restarting, "deletion": found.deleting}
    lines = []
    for name, bout in named.items():
        if bout:
            lines.append(f"{figure} for each Instance, {name}")
            counts: dict[str, int] = getattr(bout, figure)
            lines += [f"  {n / found.instances:7.2f}  {what}" for what, n in counts.items()]
    return "\n".join(lines)


def _growing(found: WorldResult, bout: PhaseResult) -> Iterator[Row]:
    count = found.instances
    name = f"{growth.instances(count)}, {growth.cities(found.cities)}"
    notes = f"{bout.seconds:.2f} s; the Workloads said so after {bout.settled:.2f} s"
    large = count >= _LARGE
    yield _row(
        name, "1/s", count / bout.seconds, "higher", bound=300 if large else None, notes=notes
    )
    for hop, (p50, p99) in bout.hops.items():
        yield _row(f"  {hop}", "ms, p50", p50, notes=f"p99 {p99:,.0f} ms")
    measuring = f"{100 * bout.listening / bout.cpu:.1f} % of it to measure"
    yield _row("CPU for 1,000", "s", 1e3 * bout.cpu / count, notes=measuring)
    yield _row("writes for each", "", bout.written / count, bound=16 if large else None)
    yield _row("memory for each", "KB", bout.memory / count / _KB, bound=30 if large else None)


def _resting(rest: Rest) -> Iterator[Row]:
    """Heartbeats of cells are counted separately: they are not caused by work."""
    beats = sum(count for what, count in rest.writes.items() if what.endswith(LEASES))
    work = {what: count for what, count in rest.writes.items() if not what.endswith(LEASES)}
    notes = ", ".join(f"{count} {what}" for what, count in work.items())
    unit = f"in {rest.seconds:g} s"
    yield _row("writes at rest", unit, sum(work.values()), bound=0, notes=notes)
    yield _row("heartbeats at rest", unit, beats)
    yield _row("CPU at rest", "% of a core", 100 * rest.cpu / rest.seconds)


def _status(said: StatusDelays) -> Iterator[Row]:
    notes = f"{said.count} at {said.rate:g}/s, {1e3 * said.cpu / said.count:.1f} ms of CPU each"
    yield _row("status to project", "ms, p50", said.p50, bound=10, notes=notes)
    yield _row("status to project", "ms, p99", said.p99, bound=50)


def _bout(name: str, count: int, bout: PhaseResult) -> Iterator[Row]:
    notes = f"{bout.written / count:.1f} writes each"
    yield _row(f"{name} of all", "s", bout.seconds, notes=notes)
    yield _row(f"{name}, CPU for 1,000", "s", 1e3 * bout.cpu / count)


def _pair(  # noqa: PLR0913 - a line of a table
    name: str,
    unit: str,
    both: tuple[float, float],
    better: Better = "lower",
    *,
    hold: float | None = None,
    notes: str = "",
) -> Row:
    rounds = {"ours": [both[0]], "peer": [both[1]]}
    return Row(name=name, unit=unit, better=better, rounds=rounds, hold=hold, notes=notes)


def _row(  # noqa: PLR0913 - a line of a table
    name: str,
    unit: str,
    ours: float,
    better: Better = "lower",
    *,
    bound: float | None = None,
    notes: str = "",
) -> Row:
    rounds = {"ours": [ours]}
    return Row(name=name, unit=unit, better=better, rounds=rounds, bound=bound, notes=notes)
