"""Execution with stale caches: copies, their Works and their namespaces are never set back."""

import msgspec
import pytest

from compute.api import names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.karmada_work import Work
from compute.decide.federation.policies import policy
from compute.federation import engine
from compute.federation.binder import Binder
from compute.federation.bindings import Bindings
from compute.federation.execution import Execution
from compute.federation.members import Members
from compute.federation.namespaces import Namespaces
from compute.federation.planes import EnginePlanes
from kubekit.api.errors import Unavailable
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import K
from kubekit.client.options import PLAIN_WRITE, WriteOptions
from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Clusters
from tests.support.compute.engine_builders import (
    NS,
    WD,
    arrived,
    bound,
    change,
    member,
    remove,
    report,
    run_story,
    scaled,
    send,
    sent,
    settle,
    work,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.compute.stale_caches import (
    BINDING,
    CELL,
    HUB,
    PLACE,
    frozen,
    halted,
    reconcile_once,
    recreated,
    removed_at_once,
)
from tests.support.kubekit.stage import Stage


async def both(stage: Stage) -> EnginePlanes:
    hub, cell = await frozen(stage, "hub", "hub"), await frozen(stage, "cell", "dfw")
    return EnginePlanes(hub, cell)


async def dispatched(stage: Stage) -> None:
    """Let an engine with current caches update the Work."""
    hub = stage.role("hub")
    for reconciler, name in (
        (Binder(WorkloadDeployment, hub, stage.environment), WD),
        (Bindings(engine.KINDS, hub, stage.environment), BINDING),
    ):
        await settle(stage)
        await reconcile_once(reconciler, HUB, NS, name)


def observes(late: Clusters, made: Work, stage: Stage) -> Bindings:
    """Bindings with caches that have received this Work, and nothing else since."""
    late.get(HUB).informers.of(Work).cache.put(made)
    return Bindings(engine.KINDS, late, stage.environment)


def test_a_work_that_has_gone_is_not_carried_out(tmp_path):
    """A deleted object does not come back because of a stale cache."""

    async def story(stage: Stage) -> None:
        made = await work(stage)
        await remove(stage, "dfw", sent())
        late = await both(stage)
        await removed_at_once(stage, made)
        execution = Execution(engine.KINDS, late, stage.environment)
        await reconcile_once(execution, CELL, PLACE, made.metadata.name)
        assert await stage.client("dfw").find(WorkloadDeployment, WD, NS) is None

    halted(tmp_path, story)


class Overtaken(LocalClient):
    """A client to a cell that is so slow that the Work is deleted during the create."""

    def __init__(self, stage: Stage, made: Work, *, answers: bool) -> None:
        super().__init__(stage.planes["dfw"])
        self._stage, self._work, self._answers = stage, made, answers

    async def create(self, obj: K, options: WriteOptions = PLAIN_WRITE) -> K:
        await removed_at_once(self._stage, self._work)
        made = await super().create(obj, options)
        if not self._answers:
            raise Unavailable("the answer was lost")
        return made


async def overtaken(stage: Stage, made: Work, *, answers: bool) -> Execution:
    """An engine whose copy was created after its Work was gone, and that has received the deletion."""
    await remove(stage, "dfw", sent())
    cells = await frozen(stage, "cell", "dfw", Overtaken(stage, made, answers=answers))
    execution = Execution(engine.KINDS, EnginePlanes(stage.role("hub"), cells), stage.environment)
    await reconcile_once(execution, CELL, PLACE, made.metadata.name)
    await settle(stage)
    return execution


@pytest.mark.parametrize("answers", [True, False], ids=["answered", "the answer is lost"])
def test_a_copy_that_comes_after_its_work_has_gone_is_taken_back(tmp_path, answers):
    """The engine that released the Work found no copy yet, and no other pass would look for one."""

    async def story(stage: Stage) -> None:
        made = await work(stage)
        execution = await overtaken(stage, made, answers=answers)
        assert await stage.client("dfw").find(WorkloadDeployment, WD, NS) is not None

        await reconcile_once(execution, CELL, PLACE, made.metadata.name)

        assert await stage.client("dfw").find(WorkloadDeployment, WD, NS) is None

    halted(tmp_path, story)


def test_a_copy_is_left_to_the_next_work_of_its_name(tmp_path):
    """It is that one's by now, and runs what is wanted."""

    async def story(stage: Stage) -> None:
        made = await work(stage)
        execution = await overtaken(stage, made, answers=True)
        await stage.client("hub").create(recreated(made))
        await reconcile_once(execution, CELL, PLACE, made.metadata.name)

        assert await stage.client("dfw").find(WorkloadDeployment, WD, NS) is not None

    halted(tmp_path, story)


def test_a_copy_that_was_made_again_outlives_a_hub_that_loses_its_work(tmp_path):
    """It was seen to be wanted after it had been made, though there was nothing new to tell of it."""

    async def story(stage: Stage) -> None:
        name = names.work("", NS, "Namespace")
        made = await stage.client("hub").get(Work, name, PLACE)
        planes = EnginePlanes(stage.role("hub"), stage.role("cell"))
        execution = Execution((Namespace, *engine.KINDS), planes, stage.environment)
        await remove(stage, "dfw", sent())
        await remove(stage, "dfw", Namespace(metadata=ObjectMeta(name=NS)))
        await settle(stage)
        for _ in range(3):
            await reconcile_once(execution, CELL, PLACE, name)
            await settle(stage)

        await removed_at_once(stage, made)
        await settle(stage)
        await reconcile_once(execution, CELL, PLACE, name)

        left = await stage.client("dfw").get(Namespace, NS)
        assert not left.deleting

    halted(tmp_path, story)


def test_a_copy_is_not_set_back_to_what_the_hub_said_before(tmp_path):
    """A Work that is behind what the cell has, and a binding that is behind its Work, change nothing."""

    async def story(stage: Stage) -> None:
        late = await frozen(stage, "hub", "hub")
        await change(stage, "hub", sent(), lambda wd: scaled(wd, 5))
        now = EnginePlanes(stage.role("hub"), stage.role("cell"))
        fresh = Bindings(engine.KINDS, now.hub, stage.environment)
        await settle(stage)
        await reconcile_once(fresh, HUB, NS, BINDING)
        made = await work(stage)
        cells = await frozen(stage, "cell", "dfw")
        await reconcile_once(
            Execution(engine.KINDS, now, stage.environment), CELL, PLACE, made.metadata.name
        )
        behind = Execution(engine.KINDS, EnginePlanes(late, now.cells), stage.environment)
        await settle(stage)
        await reconcile_once(behind, CELL, PLACE, made.metadata.name)
        assert (await arrived(stage)).spec.scale_settings.min_replicas == 5
        assert len(cells) == 1

    halted(tmp_path, story)


def test_a_work_is_not_set_back_to_a_deployment_that_has_gone(tmp_path):
    """An engine that receives events of Works only does not change the Work of the next deployment."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        before, late = await hub.get(WorkloadDeployment, WD, NS), await frozen(stage, "hub", "hub")
        await removed_at_once(stage, await bound(stage))
        await remove(stage, "hub", before)
        await hub.create(scaled(recreated(before), 5))
        await dispatched(stage)
        made = await work(stage)
        assert made.spec.workload.manifests[0]["spec"]["scaleSettings"]["minReplicas"] == 5

        await reconcile_once(observes(late, made, stage), HUB, NS, BINDING)

        assert await work(stage) == made

    halted(tmp_path, story)


def test_what_was_noted_on_a_deployment_is_not_taken_back(tmp_path):
    """A note does not count as another generation, and is not lost by a view from before it."""

    async def story(stage: Stage) -> None:
        late = await frozen(stage, "hub", "hub")
        noted = {"compute.datumapis.com/paused": "true"}
        await change(stage, "hub", sent(), lambda wd: with_meta(wd, annotations=noted))
        await dispatched(stage)
        made = await work(stage)
        assert noted.items() <= made.spec.workload.manifests[0]["metadata"]["annotations"].items()

        await reconcile_once(observes(late, made, stage), HUB, NS, BINDING)

        assert await work(stage) == made

    halted(tmp_path, story)


def test_a_copy_is_not_set_back_to_a_work_of_another_life(tmp_path):
    """An engine that receives events of cells only does not change the copy of the next deployment."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        before, late = await hub.get(WorkloadDeployment, WD, NS), await frozen(stage, "hub", "hub")
        await removed_at_once(stage, await bound(stage))
        await remove(stage, "hub", before)
        await hub.create(scaled(recreated(before), 5))
        await dispatched(stage)
        name = (await work(stage)).metadata.name
        now = EnginePlanes(stage.role("hub"), stage.role("cell"))
        await settle(stage)
        await reconcile_once(Execution(engine.KINDS, now, stage.environment), CELL, PLACE, name)
        copy = await arrived(stage)
        assert copy.spec.scale_settings.min_replicas == 5
        await settle(stage)

        behind = Execution(engine.KINDS, EnginePlanes(late, now.cells), stage.environment)
        await reconcile_once(behind, CELL, PLACE, name)

        assert await arrived(stage) == copy

    halted(tmp_path, story)


def test_an_old_status_is_not_reported_again(tmp_path):
    """The status that another engine has reported meanwhile stays."""

    async def story(stage: Stage) -> None:
        cells, now = await frozen(stage, "cell", "dfw"), stage.role("cell")
        name = (await work(stage)).metadata.name
        await report(stage, ready=1)
        await settle(stage)
        hub = stage.role("hub")
        await reconcile_once(
            Execution(engine.KINDS, EnginePlanes(hub, now), stage.environment), CELL, PLACE, name
        )
        reported = await work(stage)
        await settle(stage)
        behind = Execution(engine.KINDS, EnginePlanes(hub, cells), stage.environment)
        await reconcile_once(behind, CELL, PLACE, name)
        assert (await work(stage)).status == reported.status

    halted(tmp_path, story)


def test_no_status_is_reported_for_a_copy_that_has_gone(tmp_path):
    """When its deletion is observed, it is created again."""

    async def story(stage: Stage) -> None:
        made = await work(stage)
        emptied = msgspec.structs.replace(made, status=type(made.status)())
        made = await stage.client("hub").patch_status(made, emptied)
        late = await both(stage)
        await remove(stage, "dfw", sent())
        execution = Execution(engine.KINDS, late, stage.environment)
        await reconcile_once(execution, CELL, PLACE, made.metadata.name)
        assert await work(stage) == made

    halted(tmp_path, story)


def test_a_work_of_another_life_is_not_released(tmp_path):
    """The end of one Work is not the end of the next one of its name."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        old = await work(stage)
        await hub.delete(old)
        late = await both(stage)
        await change(stage, "hub", old, lambda it: with_meta(it, finalizers=()))
        await stage.gone("hub", Work, old.metadata.name, PLACE)
        await hub.create(recreated(old))
        execution = Execution(engine.KINDS, late, stage.environment)
        await reconcile_once(execution, CELL, PLACE, old.metadata.name)
        assert not (await arrived(stage)).deleting

    halted(tmp_path, story)


def test_a_namespace_that_has_gone_is_sent_to_no_cell(tmp_path):
    """A Work for a namespace is made only while the hub has the namespace."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        made = await hub.create(Namespace(metadata=ObjectMeta(name="brief")))
        late = await frozen(stage, "hub", "hub")
        await hub.delete(made)
        await reconcile_once(Namespaces(late, stage.environment), HUB, "", "brief")
        name = names.work("", "brief", "Namespace")
        assert await hub.find(Work, name, PLACE) is None

    halted(tmp_path, story)


def test_a_member_that_is_back_under_its_name_keeps_its_works(tmp_path):
    """The one that left is not the one that is there."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        await remove(stage, "hub", member())
        late = await both(stage)
        await change(stage, "hub", member(), lambda it: with_meta(it, finalizers=()))
        await hub.create(member())
        await reconcile_once(Members(late), HUB, "", "dfw")
        assert not (await work(stage)).deleting

    halted(tmp_path, story)


def test_a_policy_of_the_federator_is_enough(tmp_path):
    """The policy that the federator writes is taken as it is, and only given its id."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await arrived(stage)
        kept = await stage.client("hub").get(PropagationPolicy, "city-dfw", NS)
        assert kept.spec == policy("DFW", NS).spec

    run_story(tmp_path, story)
