"""Programs that are killed while work is under way: nothing is lost, and nothing is restarted for it."""

import signal

import pytest

from compute.api.compute import Instance, Workload
from kubekit.api.kinds.coordination import Lease
from tests.e2e.federation.real_stage import PlatformStage
from tests.peers.deployed.platform import management
from tests.peers.stack.assembly import HUB, PROJECT
from tests.support.compute.user_stage import is_ready, with_image, with_replicas

pytestmark = [pytest.mark.stack, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]

CITIES = ("DFW", "LHR")
NEXT = with_image("registry.test/web:2")


async def leader(stage: PlatformStage, lease: str = "compute-management") -> str:
    """The process of management that leads."""
    names = management(stage.platform.pods)

    async def held() -> str:
        found = await stage.client(HUB).find(Lease, lease, "compute-system")
        holder = found.spec.holder_identity if found else ""
        return next((name for name in names if holder and name in holder), "")

    return await stage.until(held, what="a leader of management")


def test_the_leader_is_killed_during_a_rollout(play):
    """The other replica takes over, and the rollout ends."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy(cities=CITIES, replicas=2)
        first = await leader(stage)
        await stage.edit("web", NEXT)
        async with stage.without(first):
            await stage.served("web")
            assert await leader(stage) != first

    play(story)


def test_the_leader_is_stopped_during_a_rollout(play):
    """It releases its leases, so the other replica takes over at once."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy(cities=CITIES)
        first = await leader(stage)
        await stage.edit("web", NEXT)
        stage.stack.stop(first)
        try:
            await stage.served("web", 60.0)
        finally:
            await stage.bring_back(first)

    play(story)


@pytest.mark.parametrize("name", ["karmada-controller-manager", "karmada-scheduler"])
def test_karmada_restarts_during_a_rollout(play, name):
    """What its controllers missed, they catch up with."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy(cities=CITIES)
        async with stage.without(name):
            await stage.edit("web", NEXT)
            await stage.user.get(Workload, "web", stage.namespace)
        await stage.served("web")

    play(story)


def test_the_api_server_of_a_cell_is_killed(play):
    """The other city goes on; nothing in the dead one is restarted, and it catches up afterwards."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy(cities=CITIES)
        before = await stage.machines("DFW")
        async with stage.without("dfw-kube-apiserver"):
            await stage.cell_is("dfw", "False")
            await stage.edit("web", with_replicas(2))
            await stage.named(PROJECT, Instance, "web-home-lhr-1", stage.namespace, is_ready)
        await stage.served("web")
        after = await stage.machines("DFW")
        assert after.items() >= before.items()

    play(story)


def test_the_hub_is_away_for_a_while(play):
    """Cells keep running what they have, and repair it; what was asked meanwhile is done afterwards."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy(cities=CITIES)
        before = {city: await stage.machines(city) for city in CITIES}
        space = await stage.hub_namespace()
        async with stage.without("hub-kube-apiserver"):
            await stage.edit("web", with_replicas(2))
            cell = stage.client("dfw")
            instance = await cell.get(Instance, "web-home-dfw-0", space)
            await cell.delete(instance)
            await stage.named(
                "dfw",
                Instance,
                "web-home-dfw-0",
                space,
                lambda i: i.metadata.uid != instance.metadata.uid and is_ready(i),
            )
        await stage.served("web")
        assert (await stage.machines("LHR")).items() >= before["LHR"].items()

    play(story)


def test_a_cell_manager_that_hangs(play):
    """One that is held for a moment does not lose what was asked of it."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy()
        stage.stack.send("dfw-manager-0", signal.SIGSTOP)
        try:
            await stage.edit("web", with_replicas(2))
        finally:
            stage.stack.send("dfw-manager-0", signal.SIGCONT)
        await stage.served("web")

    play(story)
