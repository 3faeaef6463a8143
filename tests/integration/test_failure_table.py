"""Every cell of docs/failure-table.md: what works, waits or is refused while a part is not running.

Each row is one scenario: the world is healthy, the part stops, users and operators ask for one thing
of each column, and after a while the results are read. Then the part is back, and everything that
waited has to finish.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.quota import ResourceClaim
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.app.links import linked_client
from compute.app.planes import CORE, HUB, PlaneRef
from compute.decide.conditions import find
from kubekit.api.errors import ApiError
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from tests.integration.test_cells import cut as annotate
from tests.integration.test_rollouts import restarted
from tests.integration.worlds import (
    PROJECT,
    Watched,
    is_ready,
    reason_of,
    run_story,
    with_replicas,
    workload,
)
from tests.support.kubekit.plane_worlds import environment

SHOP = PlaneRef("project", PROJECT)
CLOSING = PlaneRef("project", "closing")  # that is to be deleted
NOW = environment().now
AFTER = 150.0  # seconds in which what works has worked
CHECKS = 120  # every five seconds
DOCUMENT = Path(__file__).parents[2] / "docs" / "failure-table.md"
NAMES = ("runs", "heals", "grows", "rolls", "leaves", "tells")

Act = Callable[[Watched], Awaitable[object]]
Check = Callable[[Watched], Awaitable[bool]]


def user(world: Watched, home: PlaneRef = SHOP) -> Client:
    """A user that cannot reach a plane that is down either."""
    return linked_client(world.world.planes[home], "kubectl", world.world.links[home])


def cut(*homes: PlaneRef) -> tuple[Act, Act]:
    """Cut planes off, and heal them."""

    async def stop(world: Watched) -> None:
        for home in homes:
            world.world.links[home].cut()

    async def back(world: Watched) -> None:
        for home in homes:
            if home in world.world.links:
                world.world.links[home].heal()

    return stop, back


def cell_cut(cell: str) -> tuple[Act, Act]:
    """A cell is cut off, as operators do it; and healed."""

    def said(value: str) -> Act:
        async def act(world: Watched) -> None:
            await annotate(world, cell, value)
            await world.quiet(1.0)

        return act

    return said("true"), said("false")


def stopped(part: str) -> tuple[Act, Act]:
    """A process ends; and is started again."""
    return lambda world: world.world.pause(part), lambda world: world.world.resume(part)


PARTS: Mapping[str, tuple[Act, Act]] = {
    "the core plane": cut(CORE),
    "a project's plane": cut(SHOP, CLOSING),
    "the hub": cut(HUB),
    "a cell, cut off": cell_cut("dfw"),
    "management": stopped("management"),
    "the engine": stopped("engine"),
    "quota": stopped("quota"),
    "networks": stopped("network"),
    "projects": stopped("platform"),
    "a cell's controllers": stopped("cell dfw"),
    "a cell's provider": stopped("provider dfw"),
}


async def run_on(world: Watched) -> bool:
    """Whether an Instance has been Ready for as long as the part is stopped."""
    there = await world.client("dfw").get(Instance, "runs-home-dfw-0", await world.space())
    ready = find(there.status.conditions, "Ready")
    if ready is None or ready.status != "True":
        return False
    return NOW() - ready.last_transition_time > timedelta(seconds=AFTER)


async def lose_one(world: Watched) -> None:
    cell = world.client("dfw")
    lost = await cell.get(Instance, "heals-home-dfw-0", await world.space())
    await cell.delete(lost)


async def healed(world: Watched) -> bool:
    there = await world.client("dfw").find(Instance, "heals-home-dfw-0", await world.space())
    return there is not None and not there.deleting and is_ready(there)


async def create(world: Watched) -> None:
    await user(world).create(workload("new", cities=("DFW",)))


async def grow(world: Watched) -> None:
    await _change(world, "grows", with_replicas(2))


async def roll(world: Watched) -> None:
    await _change(world, "rolls", restarted)


async def leave(world: Watched) -> None:
    client = user(world)
    await client.delete(await client.get(Workload, "leaves", "default"))


async def left(world: Watched) -> bool:
    return await world.user.find(Workload, "leaves", "default") is None


async def lose_machine(world: Watched) -> None:
    """Something happens in the city that the project is to know of."""
    await world.set_provider("dfw", lostNodes="*/tells-*", recoverySeconds="3000")


async def instance_reported(world: Watched) -> bool:
    return not is_ready(await world.user.get(Instance, "tells-home-dfw-0", "default"))


async def workload_reported(world: Watched) -> bool:
    return (await world.user.get(Workload, "tells", "default")).status.ready_replicas == 0


async def found_project(world: Watched) -> None:
    owner = ProjectOwnerRef(kind="Organization", name="acme")
    project = Project(metadata=ObjectMeta(name="second"), spec=ProjectSpec(owner_ref=owner))
    await user(world, CORE).create(project)


async def founded(world: Watched) -> bool:
    project = await world.client("core").find(Project, "second")
    return project is not None and is_ready(project)


async def close_project(world: Watched) -> None:
    client = user(world, CORE)
    await client.delete(await client.get(Project, CLOSING.name))


async def closed(world: Watched) -> bool:
    return await world.client("core").find(Project, CLOSING.name) is None


def serves(name: str) -> Check:
    """Whether all of a Workload is as its user asked for."""

    async def check(world: Watched) -> bool:
        if await world.user.find(Workload, name, "default") is None:
            return False
        try:
            await world.served(name, seconds=0.0)
        except AssertionError:
            return False
        return True

    return check


async def nothing(world: Watched) -> None:
    """What runs is asked for nothing."""


QUESTIONS: Mapping[str, tuple[Act, Check]] = {
    "what runs": (nothing, run_on),
    "healing": (lose_one, healed),
    "new workload": (create, serves("new")),
    "scaling up": (grow, serves("grows")),
    "rolling": (roll, serves("rolls")),
    "deleting": (leave, left),
    "instances' status": (lose_machine, instance_reported),
    "workload's status": (nothing, workload_reported),  # of the same loss
    "new project": (found_project, founded),
    "deleting a project": (close_project, closed),
}

# One line for each part, in the order of the questions.
TABLE: Mapping[str, str] = {
    "the core plane": "works works waits waits works works works works refused refused",
    "a project's plane": "works works refused refused refused refused waits waits works waits",
    "the hub": "works works waits waits waits waits waits waits works waits",
    "a cell, cut off": "works works waits waits waits works waits reported works works",
    "management": "works works waits waits waits waits waits waits works waits",
    "the engine": "works works waits waits waits waits works waits works waits",
    "quota": "works works waits waits works works works works works works",
    "networks": "works works waits works works works works works works waits",
    "projects": "works works works works works works works works waits waits",
    "a cell's controllers": "works waits waits waits waits waits waits waits works waits",
    "a cell's provider": "works waits waits waits waits waits waits waits works waits",
}
CELLS = [
    pytest.param(part, question, verdict, id=f"{part}: {question}")
    for part, line in TABLE.items()
    for question, verdict in zip(QUESTIONS, line.split(), strict=True)
]


@dataclass
class Row:
    """The result of each request while a part was stopped, and what was not done in the end."""

    verdicts: dict[str, str] = field(default_factory=dict)
    undone: list[str] = field(default_factory=list)
    remains: dict[str, list[str]] = field(default_factory=dict)  # of what was deleted


@cache
def row(part: str) -> Row:
    """The scenario of a part, run once."""
    seen = Row()
    stop, back = PARTS[part]

    async def story(world: Watched) -> None:
        for name in NAMES:
            await world.user.create(workload(name, cities=("DFW",)))
        await world.make_project(CLOSING.name)
        await world.client(CLOSING.name).create(workload("last", cities=("DFW",)))
        for name in NAMES:
            await world.served(name)
        await world.rest()
        await stop(world)
        refused = [question for question in QUESTIONS if not await _asked(world, question)]
        await world.quiet(AFTER)
        for question in QUESTIONS:
            seen.verdicts[question] = await _verdict(world, question, refused)
        if await left(world):
            seen.remains = await _remains(world, "dfw" if part == "a cell, cut off" else "")
        await back(world)
        for question in refused:
            assert await _asked(world, question)
        seen.undone = await _undone(world)
        await world.rest()
        assert await _remains(world) == {}

    run_story(story, cities=("DFW",))
    return seen


@pytest.mark.parametrize(("part", "question", "verdict"), CELLS)
def test_a_cell_of_the_table(part, question, verdict):
    """The result of the request while the part is stopped."""
    assert row(part).verdicts[question] == verdict


@pytest.mark.parametrize("part", PARTS)
def test_what_waited_is_done_when_the_part_is_back(part):
    """No request is repeated, unless it was refused."""
    assert row(part).undone == []


@pytest.mark.parametrize("part", PARTS)
def test_what_is_deleted_is_gone_wherever_anybody_can_look(part):
    """When a Workload is gone no plane that can be reached has anything of it."""
    assert row(part).remains == {}


def test_the_document_has_the_same_table():
    """The documented results are the tested results."""
    lines = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| ")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert head[1:] == list(QUESTIONS)
    shown = {part: " ".join(re.sub(r"[*_]", "", cell) for cell in cells) for part, *cells in rows}
    assert shown == TABLE


@pytest.mark.parametrize("part", ["a cell, cut off", "a cell's controllers", "a cell's provider"])
def test_other_cities_do_not_notice(part):
    """What one city lacks delays no other city."""
    stop, _ = PARTS[part]

    async def story(world: Watched) -> None:
        await stop(world)
        await world.deploy(workload(cities=("LHR",)))
        await world.change("web", restarted)
        await world.served("web")
        await world.user.delete(await world.user.get(Workload, "web", "default"))
        await world.gone(PROJECT, Workload, "web", "default")

    run_story(story, cities=("DFW", "LHR"))


async def _asked(world: Watched, question: str) -> bool:
    """Whether the request is accepted."""
    act, _ = QUESTIONS[question]
    try:
        await act(world)
    except ApiError:
        return False
    return True


async def _verdict(world: Watched, question: str, refused: list[str]) -> str:
    if question in refused:
        return "refused"
    _, done = QUESTIONS[question]
    if await done(world):
        return "works"
    return "reported" if question == "workload's status" and await _is_reported(world) else "waits"


async def _is_reported(world: Watched) -> bool:
    """Whether the project reports the state as unknown."""
    said = await world.user.get(WorkloadDeployment, "tells-home-dfw", "default")
    return reason_of(said, "Available") == "CellUnreachable"


async def _undone(world: Watched) -> list[str]:
    """What has not been done ten minutes later."""
    undone = list(QUESTIONS)
    for _ in range(CHECKS):
        undone = [question for question in undone if not await QUESTIONS[question][1](world)]
        if not undone:
            break
        await world.quiet(5.0)
    return undone


async def _remains(world: Watched, unseen: str = "") -> dict[str, list[str]]:
    """What is left of the Workload that was deleted; of a cell that is unseen, what it made too."""
    kinds: tuple[type[Object], ...] = (WorkloadDeployment, Instance, ResourceClaim)
    found = await world.left(*kinds)
    ours = {
        plane: [each for each in there if " leaves-" in each or " instance-leaves-" in each]
        for plane, there in found.items()
        if plane != unseen
    }
    if unseen:
        ours[PROJECT] = [each for each in ours[PROJECT] if not each.startswith("ResourceClaim")]
    return {plane: there for plane, there in ours.items() if there}


async def _change(world: Watched, name: str, changed: Callable[[Workload], Workload]) -> None:
    client = user(world)
    present = await client.get(Workload, name, "default")
    await client.patch(present, changed(present))
