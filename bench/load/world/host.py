"""One world of one size, in a process of its own: the task on stdin, what was found on stdout.

    python -m bench.load.world.host

It is the world of `compute up`, its server included. The user speaks through the door without a
socket, so that nothing but the world is measured.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop

from bench.load.world import orders, phases, status_delays
from bench.load.world.journal import Journal
from bench.load.world.passes import passes
from bench.load.world.phases import Measured
from bench.load.world.profiling import recorded
from bench.load.world.results import Task, WorldResult
from compute.app import logs
from compute.app.planes import CORE, PlaneRef
from compute.app.sites import sites
from compute.app.world_server import ServedWorld, hosted
from kubekit.plane.local import LocalClient

_PROJECT: Final = "bench"


async def main(task: Task) -> WorldResult:
    """Run a world from its start to its end."""
    async with hosted(
        Path(task.folder), sites(orders.codes(task.cities)), ("127.0.0.1", 0)
    ) as host:
        world = await _prepared(host, task)
        found = WorldResult(instances=sum(world.wanted.values()), cities=task.cities)
        plan = _plan(host, world, task)
        for name in ("growing", *task.phases):
            try:
                with recorded(task.profiles, name):
                    setattr(found, name, await plan[name]())
            except TimeoutError:
                shown = f"{world.journal.arrived:,} of {found.instances:,} Instances were Ready"
                found.failed = f"{name} did not end within {task.patience:g} s: {shown}"
                break
        return found


def _plan(
    host: ServedWorld, world: Measured, task: Task
) -> dict[str, Callable[[], Coroutine[Any, Any, object]]]:
    project = host.world.planes[PlaneRef("project", _PROJECT)]
    cells = world.cells.values()
    return {
        "growing": lambda: phases.grow(world),
        "rest": lambda: phases.rest(world, task.rest),
        "status": lambda: status_delays.statuses(project, cells, task.touches, task.seconds),
        "restarting": lambda: phases.restart(world),
        "deleting": lambda: phases.delete(world),
    }


async def _prepared(host: ServedWorld, task: Task) -> Measured:
    """An idle world with a project whose quota is enough for all requests."""
    planes = host.world.planes
    journal = Journal()
    planes.join(journal)
    await host.make_project(_PROJECT)
    await host.ready()
    await orders.allow(LocalClient(planes[CORE], manager="bench"), _PROJECT, task.instances)
    cells = {home.name: planes[home] for home in planes if home.role == "cell"}
    for cell in cells.values():
        await LocalClient(cell, manager="bench").create(orders.at_once())
    user = LocalClient(planes[PlaneRef("project", _PROJECT)], manager="bench")
    await phases.quiet(journal)  # then the project is offered every city
    return Measured(
        journal=journal,
        passes=lambda: passes(host.world.metrics()),
        user=user,
        cells=cells,
        workloads=orders.workloads(task.instances, orders.codes(task.cities), task.unavailable),
        patience=task.patience,
    )


if __name__ == "__main__":
    with (
        logs.log_to_stderr("warning"),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        answer = runner.run(main(msgspec.json.decode(sys.stdin.buffer.read(), type=Task)))
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
