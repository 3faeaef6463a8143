"""The cost of many Instances in one deployment."""

import asyncio
from pathlib import Path

from compute.api.compute import WorkloadDeployment
from compute.controllers.cell.deployment.members import is_member
from compute.decide.deployment.rollout import FIRST_WINDOW, LARGEST_WINDOW
from compute.decide.deployment.template import build_instance
from compute.decide.scheduling_gates import closed
from tests.support.compute.builders import deployment
from tests.support.compute.cell_neighbours import NAMESPACE, PLANE, Cell, cell, scaled
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage, staged

COUNT = 200


def _writes(at: Cell, kind: str) -> int:
    return sum(1 for _, name, _ in at.stage.writes if name.endswith(f"/{kind}"))


def test_many_instances_cost_few_reconcile_passes(tmp_path: Path) -> None:
    """Changes of Instances are batched: the deployment is not written for each."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.machines.seconds = 0.25
        started = asyncio.get_running_loop().time()
        await at.deploy(deployment(COUNT, policy="Parallel"))
        await at.ready(COUNT)
        seconds = asyncio.get_running_loop().time() - started
        assert seconds < 5
        assert _writes(at, "workloaddeployments") < 5 * seconds + 10
        # Made, let through the network's gate, started in two writes.
        assert _writes(at, "instances") <= 4 * COUNT
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story)


def test_the_first_serve_while_the_last_are_created(tmp_path: Path) -> None:
    """The window admits more as soon as half of it is through, not a reconcile pass later."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.machines.seconds = 0.02
        await at.deploy(deployment(COUNT, policy="Parallel"))
        loop = asyncio.get_running_loop()
        started, most = loop.time(), 0
        while (made := len(await at.instances())) < COUNT:
            gated = [one for one in await at.instances() if closed(one)]
            most = max(most, len(gated))
            assert loop.time() - started < 3, f"{made} of {COUNT} were made"
            await asyncio.sleep(0.005)
        assert 0 < most <= LARGEST_WINDOW
        await at.ready(COUNT)

    staged(tmp_path, story)


def test_a_new_spec_is_not_throttled(tmp_path: Path) -> None:
    """A reconcile pass that only counts so many is throttled; one with writes is not."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.machines.seconds = 0.02
        await at.deploy(deployment(COUNT, policy="Parallel"))
        await at.ready(COUNT)
        await at.change(lambda it: scaled(it, COUNT // 2))
        await asyncio.sleep(0.2)

        assert len([one for one in await at.instances() if not one.deleting]) == COUNT // 2

    staged(tmp_path, story)


def test_slots_whose_names_are_taken_block_no_others(tmp_path: Path) -> None:
    """Instances of an earlier deployment that cannot be deleted leave room for others."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        wanted = deployment(LARGEST_WINDOW + 8, policy="Parallel", uid="", generation=0)
        earlier = with_meta(wanted, uid="uid-of-the-earlier")
        for ordinal in range(LARGEST_WINDOW):
            left = with_meta(build_instance(earlier, ordinal, ()), owner_references=())
            await at.client.create(left)
        await at.deploy(wanted)
        await stage.rest(10)

        made = [one for one in await at.instances() if not is_member(one, earlier)]
        assert len(made) == 8

    staged(tmp_path, story)


def test_many_instances_are_deleted_at_once(tmp_path: Path) -> None:
    """All Instances of a deleted deployment are deleted together, and then it is released."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(COUNT, policy="Parallel"))
        await at.client.delete(await at.ready(COUNT))
        before = _writes(at, "workloaddeployments")
        await stage.gone(PLANE, WorkloadDeployment, "web-home-dfw", NAMESPACE)
        assert await at.names() == []
        assert _writes(at, "workloaddeployments") - before < 10

    staged(tmp_path, story)


def test_instances_that_never_pass_their_gates_do_not_block_the_window(tmp_path: Path) -> None:
    """No watch event reports that an Instance will stay at its gate."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.machines.seconds = 3600.0
        await at.deploy(deployment(20, policy="Parallel"))
        await asyncio.sleep(15)
        assert len(await at.instances()) == FIRST_WINDOW
        await asyncio.sleep(60)
        assert len(await at.instances()) == 20

    staged(tmp_path, story)
