"""Cells that are cut off, cells that share a city, and what the project can know of them."""

import msgspec

from compute.api import annotations, labels
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster, Taint
from compute.api.quota import ResourceClaim
from compute.app.planes import PlaneRef
from kubekit.api.kinds.events import Event
from tests.integration.operators import lose
from tests.integration.worlds import (
    PROJECT,
    Watched,
    is_ready,
    reason_of,
    run_story,
    with_image,
    with_replicas,
    workload,
)
from tests.support.kubekit.runtime_builders import annotated

DFW = PlaneRef("cell", "dfw")


async def cut(world: Watched, cell: str, value: str = "true") -> None:
    """Cut a cell off as a user does, or heal it."""
    hub = world.client("hub")
    cluster = await hub.get(MemberCluster, cell)
    await hub.patch(cluster, annotated(cluster, **{annotations.CUT: value}))


def test_a_cell_that_is_cut_off_keeps_what_runs_and_is_reported_as_unreachable():
    """The project says Unknown with the time of the last report; healing brings the truth back."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR")))
        space = await world.space()
        before = await world.client("dfw").get(Instance, "web-home-dfw-0", space)
        await cut(world, "dfw")
        silent = await world.named(
            PROJECT,
            WorkloadDeployment,
            "web-home-dfw",
            true=lambda d: reason_of(d, "Available") == "CellUnreachable",
            seconds=300.0,
        )
        (said,) = [c for c in silent.status.conditions if c.type == "Available"]
        assert said.status == "Unknown"
        assert "has not reported since 2026-01-01T00:0" in said.message
        assert is_ready(await world.user.get(Instance, "web-home-dfw-0", "default"))
        assert await world.client("dfw").get(Instance, "web-home-dfw-0", space) == before
        whole = await world.user.get(Workload, "web", "default")
        assert "web-home-dfw: Cell dfw has not reported since" in str(whole.status.conditions)
        seen = len(world.writes)
        await cut(world, "dfw", "false")
        await world.served("web")
        await world.rest()
        assert await world.client("dfw").get(Instance, "web-home-dfw-0", space) == before
        kinds = {kind for _, kind, _ in world.writes[seen:]}
        assert "compute.datumapis.com/instances" not in kinds
        recovered = await world.user.get(WorkloadDeployment, "web-home-dfw", "default")
        assert reason_of(recovered, "Available") == "StableInstanceFound"

    run_story(story)


def test_a_new_deployment_for_a_silent_cell_says_so_at_once():
    """It names the cell and since when, does not say that anything runs there, and starts later."""

    async def story(world: Watched) -> None:
        await cut(world, "dfw")
        await world.quiet(60.0)
        await world.user.create(workload(cities=("DFW", "LHR")))
        silent = await world.named(
            PROJECT,
            WorkloadDeployment,
            "web-home-dfw",
            true=lambda d: reason_of(d, "Available") == "CellUnreachable",
            seconds=2.0,
        )
        assert "Cell dfw has not reported since 2026-01-01T00:0" in str(silent.status.conditions)
        assert "goes on" not in str(silent.status.conditions)
        await cut(world, "dfw", "false")
        await world.served("web")

    run_story(story, cities=("DFW", "LHR"))


def test_a_city_that_is_cut_off_is_not_up_to_date_with_a_change_that_it_has_not_seen():
    """Neither its deployment nor the Workload counts what runs there as the newest."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR")))
        await cut(world, "dfw")
        await world.quiet(60.0)
        await world.change("web", with_image("registry.test/web:2"))
        await world.quiet(60.0)
        held = await world.user.get(WorkloadDeployment, "web-home-dfw", "default")
        assert (held.status.ready_replicas, held.status.updated_replicas) == (1, 0)
        assert "without the latest change" in str(held.status.conditions)
        whole = await world.user.get(Workload, "web", "default")
        assert (whole.status.ready_replicas, whole.status.updated_replicas) == (2, 1)
        await cut(world, "dfw", "false")
        await world.served("web")

    run_story(story, cities=("DFW", "LHR"))


def test_a_cell_that_is_cut_off_finishes_its_own_deletions_and_heals():
    """An Instance that is deleted there is made again once its quota can be asked for."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        space, cell = await world.space(), world.client("dfw")
        await cut(world, "dfw")
        await world.until(_is_cut(world))
        gone = await cell.get(Instance, "web-home-dfw-1", space)
        await cell.delete(gone)
        await world.named(
            "dfw",
            Instance,
            "web-home-dfw-1",
            space,
            lambda i: i.metadata.uid != gone.metadata.uid,
        )
        await cut(world, "dfw", "false")
        await world.served("web")

    run_story(story)


def test_what_changed_meanwhile_reaches_the_cell_when_it_is_back():
    """Scaling while the cell is unreachable waits, and only that difference is written afterwards."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=1))
        await cut(world, "dfw")
        await world.until(_is_cut(world))
        await world.change("web", with_replicas(2))
        await world.rest()
        assert await world.instances("dfw") == ["web-home-dfw-0"]
        await cut(world, "dfw", "false")
        await world.served("web")
        assert await world.instances("dfw") == ["web-home-dfw-0", "web-home-dfw-1"]

    run_story(story)


def test_w62_two_cells_of_one_city_share_its_deployments():
    """Each deployment runs in one of them, and both are used."""

    async def story(world: Watched) -> None:
        for number in range(4):
            await world.deploy(workload(f"w{number}", cities=("DFW",)))
        first, second = await world.instances("dfw"), await world.instances("dfw-2")
        assert sorted(first + second) == [f"w{n}-home-dfw-0" for n in range(4)]
        assert len(first) == len(second) == 2
        assert await world.instances(PROJECT) == sorted(first + second)

    run_story(story, cities=("DFW", "DFW"))


def test_nothing_is_moved_while_a_cell_is_only_unreachable():
    """The other cell of the city is not given what may still run in the first."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",)))
        (home,) = [c for c in ("dfw", "dfw-2") if await world.instances(c)]
        (other,) = {"dfw", "dfw-2"} - {home}
        await cut(world, home)
        await world.named(
            PROJECT,
            WorkloadDeployment,
            "web-home-dfw",
            true=lambda d: reason_of(d, "Available") == "CellUnreachable",
            seconds=300.0,
        )
        await world.rest()
        assert await world.instances(other) == []
        await cut(world, home, "false")
        await world.served("web")

    run_story(story, cities=("DFW", "DFW"))


def test_a_city_whose_cells_take_nothing_new_is_named():
    """Nothing else could say why nothing happens; what runs there stays."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("LHR",)))
        hub = world.client("hub")
        cluster = await hub.get(MemberCluster, "lhr")
        closed = Taint(key="maintenance", effect="NoSchedule")
        spec = msgspec.structs.replace(cluster.spec, taints=(closed,))
        await hub.patch(cluster, msgspec.structs.replace(cluster, spec=spec))
        await world.user.create(workload("late", cities=("LHR",)))
        deployment = await world.named(
            PROJECT,
            WorkloadDeployment,
            "late-home-lhr",
            true=lambda d: reason_of(d, "Available") == "NoCellForCity",
        )
        assert "LHR" in str(deployment.status.conditions)
        reasons = {e.reason for e in (await world.user.every(Event)).items}
        assert "NoCellForCity" in reasons
        await world.served("web")
        present = await hub.get(MemberCluster, "lhr")
        opened = msgspec.structs.replace(present.spec, taints=())
        await hub.patch(present, msgspec.structs.replace(present, spec=opened))
        await world.served("late")

    run_story(story, cities=("DFW", "LHR"))


def _is_cut(world: Watched):
    async def check() -> bool:
        return world.world.links[DFW].is_cut

    return check


def test_the_second_cell_of_a_city_goes_on_when_the_first_is_lost():
    """Its copies and claims are its own at the end, and nothing names the lost cell any more."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        first, second = ("dfw", "dfw-2") if await world.instances("dfw") else ("dfw-2", "dfw")
        await lose(world, first)
        await world.until(_served_by(world, second), 900.0, "the second cell to serve")
        await world.served("web")
        for plane, kind in (("hub", Instance), (PROJECT, ResourceClaim)):
            found = (await world.client(plane).every(kind)).items
            assert {each.metadata.labels[labels.SOURCE_CLUSTER] for each in found} == {second}

    run_story(story, cities=("DFW", "DFW"))


def _served_by(world: Watched, cell: str):
    async def is_so() -> bool:
        found = (await world.client(cell).every(Instance)).items
        return len(found) == 2 and all(is_ready(each) for each in found)

    return is_so
