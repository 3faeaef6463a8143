"""The results, as rows with goals."""

from collections.abc import Iterator, Mapping
from typing import Final

from bench.load.federation.managers import MANAGEMENT, STAND_INS
from bench.load.federation.results import Burst, Delivery, Hop, SiteResult
from bench.load.federation.timeline import Stage
from bench.load.federation.usage import Usage
from bench.load.report import Better, Row

_SHARE: Final = 20.0  # percent of Karmada's own time that our part may add
_REQUESTS: Final = 40.0
_LATER: Final = 15.0  # seconds after Karmada's own recovery
_FASTER: Final = 10.0  # times, the embedded engine
_BUSY: Final = 0.005  # seconds of CPU below which a process is not shown
_MB: Final = 1e6


def of_karmada(found: SiteResult) -> Iterator[Row]:
    """Our managers with Karmada (ours) beside Karmada alone (peer)."""
    yield from _latencies(found.managed.hops, found.alone.hops)
    yield from _bursts(found)
    if found.life:
        notes = f"of management; mean of {found.life.lives}"
        yield _row("a Workload's life", "requests", found.life.total, bound=_REQUESTS, notes=notes)
    if found.rest:
        yield from _at_rest(found)
    yield from _recoveries(found)


def of_engines(embedded: SiteResult, karmada: SiteResult) -> Iterator[Row]:
    """The embedded engine (ours) beside Karmada (peer)."""
    pairs = (("engine alone", "alone", _FASTER), ("with our managers", "managed", None))
    for name, part, hold in pairs:
        ours, peer = getattr(embedded, part), getattr(karmada, part)
        yield from _engines(name, ours, peer, hold)
    if embedded.everywhere and karmada.everywhere:
        yield _bursts_of_engines(
            "with our managers, every city", embedded.everywhere, karmada.everywhere
        )


def processes(found: SiteResult) -> str:
    """The CPU and memory of each process, in each phase."""
    phases = {
        "burst alone": _usage(found.alone.burst),
        "burst carried": _usage(found.carried),
        "burst": _usage(found.managed.burst),
        "every city": _usage(found.everywhere),
        "rest": found.rest.usage if found.rest else {},
    }
    shown = {name: usage for name, usage in phases.items() if usage}
    if not shown:
        return ""
    names = dict.fromkeys(name for usage in shown.values() for name in usage)
    lines = [f"{found.engine}: CPU seconds / memory in MB" + "".join(f"{n:>18}" for n in shown)]
    for name in names:
        cells = "".join(f"{_cell(usage.get(name)):>18}" for usage in shown.values())
        lines.append(f"  {name:<{len(lines[0]) - 18 * len(shown) - 2}}{cells}")
    return "\n".join(lines)


def requests(found: SiteResult) -> str:
    """The requests of management for one Workload, by plane and verb, the most frequent first."""
    if found.life is None:
        return ""
    lines = [f"  {count:6.2f}  {name}" for name, count in found.life.requests.items()]
    return "\n".join(["requests of management for each Workload's life", *lines])


def _latencies(ours: Mapping[str, Hop], alone: Mapping[str, Hop]) -> Iterator[Row]:
    ways = (
        ("down", "accepted to cell", "hub to cell", "accepted to hub"),
        ("back", "cell status to project", "cell status to hub", "hub status to project"),
    )
    for name, whole, own, part in ways:
        if whole not in ours:
            continue
        karmada = {"p50": ours[own].p50, "p99": ours[own].p99}
        for rank, time in karmada.items():
            peer = getattr(alone[own], rank) if own in alone else None
            yield _row(f"{name}: {whole}", f"ms, {rank}", getattr(ours[whole], rank), peer)
            share = 100 * getattr(ours[part], rank) / time
            yield _row(
                f"{name}: our part of Karmada's time", f"%, {rank}", share, bound=_SHARE,
                notes=f"{part} {getattr(ours[part], rank):,.0f} ms, {own} {time:,.0f} ms",
            )  # fmt: skip
    if "accepted to Available" in ours:
        hop = ours["accepted to Available"]
        yield _row("accepted to Available", "ms, p50", hop.p50, notes=f"p99 {hop.p99:,.0f} ms")


def _bursts(found: SiteResult) -> Iterator[Row]:
    alone, carried = found.alone.burst, found.carried
    if alone and carried:
        name = f"burst of {carried.deployments}, statuses by an agent"
        yield _row(name, "s", carried.seconds, alone.seconds, notes=_stages(carried))
        share = 100 * (carried.seconds - alone.seconds) / alone.seconds
        yield _row("  our part of Karmada's time", "%", share, bound=_SHARE)
        yield _row(
            "  CPU for each", "ms", 1e3 * carried.cpu / carried.deployments,
            1e3 * alone.cpu / alone.deployments,
        )  # fmt: skip
    for name, burst in (("", found.managed.burst), (" in every city", found.everywhere)):
        if burst:
            title = f"burst of {burst.deployments}{name}, until Available"
            yield _row(title, "s", burst.seconds, notes=_stages(burst))
            yield _row("  until gone again", "s", burst.gone)
            yield _row("  CPU for each", "ms", 1e3 * burst.cpu / burst.deployments)


def _at_rest(found: SiteResult) -> Iterator[Row]:
    assert found.rest is not None
    writes, seconds = found.rest.writes or {}, found.rest.seconds
    notes = ", ".join(f"{count} {what}" for what, count in writes.items())
    unit = f"in {seconds:g} s"
    yield _row("writes at rest, leases aside", unit, sum(writes.values()), bound=0, notes=notes)
    for name, usage in found.rest.usage.items():
        is_cell = name.endswith("-manager") and not name.endswith("controller-manager")
        if is_cell or name in {MANAGEMENT, STAND_INS}:
            percent = 100 * usage.cpu / seconds
            notes = f"{usage.memory / _MB:.0f} MB"
            yield _row(f"{name} at rest", "% of a core", percent, notes=notes)


def _recoveries(found: SiteResult) -> Iterator[Row]:
    alone, ours, beside = found.alone.recovery, found.managed.recovery, found.beside
    if alone:
        notes = f"Karmada alone, after {alone.outage:g} s; a status to the hub {alone.back:.1f} s"
        yield _row("hub back: Karmada alone, to cell", "s", alone.down, notes=notes)
    if ours and beside:
        notes = f"on the hub after {ours.hub:.1f} s, Available after {ours.back:.1f} s"
        yield _row("hub back: to cell", "s", ours.down, beside.down, notes=notes)
        later = max(0.0, ours.back - beside.down)
        yield _row("  later than Karmada's own", "s", later, bound=_LATER)


def _engines(name: str, ours: Delivery, peer: Delivery, hold: float | None) -> Iterator[Row]:
    for hop in (each for each in ours.hops if each in peer.hops):
        for rank in ("p50", "p99"):
            both = getattr(ours.hops[hop], rank), getattr(peer.hops[hop], rank)
            yield _row(f"{name}: {hop}", f"ms, {rank}", *both, hold=hold)
    if ours.burst and peer.burst:
        yield _bursts_of_engines(name, ours.burst, peer.burst)


def _bursts_of_engines(name: str, ours: Burst, peer: Burst) -> Row:
    notes = f"CPU for each {1e3 * ours.cpu / ours.deployments:.0f} ms and "
    notes += f"{1e3 * peer.cpu / peer.deployments:.0f} ms"
    title = f"{name}: burst of {ours.deployments}"
    return _row(title, "s", ours.seconds, peer.seconds, notes=notes)


def _stages(burst: Burst) -> str:
    """When the last was on the hub, and in its cell."""
    return f"on the hub {burst.stages[Stage.ON_HUB]:.1f} s, in cells {burst.down:.1f} s"


def _usage(burst: Burst | None) -> Mapping[str, Usage]:
    return burst.usage if burst else {}


def _cell(usage: Usage | None) -> str:
    if usage is None:
        return ""
    busy = f"{usage.cpu:.2f}" if usage.cpu > _BUSY else "0"
    return f"{busy} / {usage.memory / _MB:.0f}"


def _row(  # noqa: PLR0913 - a line of a table
    name: str,
    unit: str,
    ours: float,
    peer: float | None = None,
    *,
    better: Better = "lower",
    bound: float | None = None,
    hold: float | None = None,
    notes: str = "",
) -> Row:
    rounds = {"ours": [ours]} | ({} if peer is None else {"peer": [peer]})
    return Row(
        name=name, unit=unit, better=better, rounds=rounds, bound=bound, hold=hold, notes=notes
    )
