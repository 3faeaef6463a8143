"""Whether a platform on this machine is well: its process, port, disk, log and cells."""

from collections.abc import Iterator
from typing import Final

from compute.decide.doctor.checks import Check, Finding, Fix
from compute.decide.doctor.facts import CellFacts, Unread, WorldFacts
from compute.decide.explain.titles import count

_MEBIBYTE: Final = 1024 * 1024
_TOO_LITTLE: Final = 64 * _MEBIBYTE
_LITTLE: Final = 1024 * _MEBIBYTE
_LONGEST: Final = 160  # characters of an error in the log


def world_checks(world: WorldFacts) -> Iterator[Finding]:
    """The checks of a platform on this machine."""
    yield process_check(world)
    yield port_check(world)
    yield disk_check(world)
    yield log_check(world)
    yield leftovers_check(world)
    yield from cell_checks(world)


def process_check(world: WorldFacts) -> Finding:
    """Whether a process runs the platform, and has started."""
    if not world.pid:
        detail = f"no process runs the platform in {world.data}"
        return Check.PROCESS.failed(detail, world.command("up --detach"))
    if not world.started:
        detail = f"process {world.pid} is still starting"
        return Check.PROCESS.warning(detail, world.command("up status"))
    return Check.PROCESS.passed(f"process {world.pid} runs the platform in {world.data}")


def port_check(world: WorldFacts) -> Finding:
    """Whether the port of the platform is its own."""
    if not world.url:
        return Check.PORT.skipped("the platform has not written its address")
    if world.pid and world.answers:
        return Check.PORT.passed(f"{world.url} accepts connections")
    if world.pid:
        detail = f"{world.url} accepts no connections, although process {world.pid} runs"
        return Check.PORT.failed(detail, world.command("down"))
    if world.answers:
        detail = f"another program has taken {world.url}: the platform needs another port"
        return Check.PORT.warning(detail, world.command("up --detach --port 0"))
    return Check.PORT.passed(f"{world.url} is free")


def disk_check(world: WorldFacts) -> Finding:
    """Whether there is room for what the platform writes."""
    free = f"{_size(world.free_bytes)} free in {world.data}"
    if world.free_bytes < _TOO_LITTLE:
        return Check.DISK.failed(f"{free}: writes will fail", f"df -h {world.data}")
    if world.free_bytes < _LITTLE:
        return Check.DISK.warning(free, f"df -h {world.data}")
    return Check.DISK.passed(free)


def log_check(world: WorldFacts) -> Finding:
    """Whether the platform has logged errors."""
    if not world.errors:
        return Check.LOG.passed("no errors")
    last = world.errors[-1]
    shown = last if len(last) <= _LONGEST else f"{last[: _LONGEST - 3]}..."
    detail = f"{count(len(world.errors), 'error')}; the last one: {shown}"
    return Check.LOG.warning(detail, f"tail -n 50 {world.log}")


def leftovers_check(world: WorldFacts) -> Finding:
    """Whether an earlier process left something behind."""
    if world.others:
        listed = ", ".join(map(str, world.others))
        detail = f"further processes were started for {world.data}: {listed}"
        return Check.LEFTOVERS.warning(detail, f"ps -fp {listed.replace(' ', '')}")
    if world.left_state:
        detail = "up.json describes a process that is gone"
        return Check.LEFTOVERS.warning(detail, "compute doctor --fix", Fix.REMOVE_STATE)
    return Check.LEFTOVERS.passed("no processes and no files of earlier runs")


def cell_checks(world: WorldFacts) -> Iterator[Finding]:
    """Whether each cell is connected and Ready."""
    if not world.pid:
        yield Check.CELLS.skipped("the platform is not running")
        return
    if isinstance(world.cells, Unread):
        yield Check.CELLS.skipped(f"the hub cannot be read: {world.cells.why}")
        return
    wrong = [result for cell in world.cells for result in _cell_check(cell, world)]
    yield from wrong
    if not wrong:
        yield Check.CELLS.passed(f"{count(len(world.cells), 'cell')} connected and Ready")


def _cell_check(cell: CellFacts, world: WorldFacts) -> Iterator[Finding]:
    named = f"cell {cell.name} of {cell.city}" if cell.city else f"cell {cell.name}"
    if cell.cut:
        heal = world.command(f"cell heal {cell.name}")
        yield Check.CELLS.failed(f"{named} is cut off, which a user asked for", heal)
    elif not cell.ready:
        why = cell.message or "it has not reported yet"
        yield Check.CELLS.failed(f"{named} is not Ready: {why}", world.command("up status"))


def _size(amount: int) -> str:
    mebibytes = amount // _MEBIBYTE
    return f"{mebibytes} MiB" if mebibytes < 1024 else f"{mebibytes // 1024} GiB"  # noqa: PLR2004 -- MiB in a GiB
