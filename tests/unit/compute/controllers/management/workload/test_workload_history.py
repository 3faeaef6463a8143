"""Every spec of a Workload is kept, with its writer and whether it was ever healthy."""

import asyncio
from typing import Any

import msgspec

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide.deployment.template import template_hash
from compute.decide.workload import history
from compute.decide.workload.history import Revision
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.options import PLAIN_WRITE, PatchType
from kubekit.client.transport import ResourceLocation
from tests.support.compute.builders import placement, template
from tests.support.compute.federation_builders import with_meta
from tests.support.compute.workload_builders import (
    BOTH,
    PROJECT,
    changed,
    controllers,
    deployment_names,
    fresh,
    reports,
    run_story,
    shows,
)
from tests.support.kubekit.stage import Stage

NAME = names.history("web")
HOME = placement("home", "DFW")
NEWER = template("registry.test/web:2")


async def revisions(stage: Stage) -> tuple[Revision, ...]:
    return history.revisions(await stage.client(PROJECT).find(ConfigMap, NAME, "default"))


async def recorded(stage: Stage, count: int) -> tuple[Revision, ...]:
    """The revisions once there are so many."""
    kept = await stage.named(
        PROJECT, ConfigMap, NAME, true=lambda h: len(history.revisions(h)) >= count
    )
    return history.revisions(kept)


async def served(stage: Stage, name: str = "web-home-dfw") -> None:
    """The city serves the spec: its Instance shows it, and its cell reports it."""
    deployment = await stage.named(PROJECT, WorkloadDeployment, name)
    await shows(stage, deployment)
    await reports(stage, name, ready=1)


async def edited(stage: Stage, manager: str, patch: Any) -> None:
    """A change of the Workload by a client."""
    place = ResourceLocation(Workload.RESOURCE, "default", "web")
    raw = stage.client(PROJECT, manager).raw
    await raw.patch(place, PatchType.MERGE, msgspec.to_builtins(patch), PLAIN_WRITE)


def test_the_first_spec_is_the_first_revision(tmp_path):
    """With its author and the hash of its template, in a ConfigMap owned by the Workload."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT, "ann").create(fresh(HOME))
        (first,) = await recorded(stage, 1)
        assert (first.rev, first.actor, first.changes) == (1, "ann", "initial deploy")
        assert first.template_hash == template_hash(made.spec.template)
        assert history.spec_of(first) == made.spec
        kept = await stage.named(PROJECT, ConfigMap, NAME)
        assert [o.uid for o in kept.metadata.owner_references] == [made.metadata.uid]

    run_story(tmp_path, story)


def test_changes_of_all_clients_are_recorded(tmp_path):
    """A scaling too; a change of metadata is none."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT, "ann").create(fresh(HOME))
        await recorded(stage, 1)
        await asyncio.sleep(1)
        await edited(stage, "bob", {"spec": {"template": NEWER}})
        await recorded(stage, 2)
        await asyncio.sleep(1)
        more = [placement("home", "DFW", replicas=3)]
        await edited(stage, "terraform", {"spec": {"placements": more}})
        await recorded(stage, 3)
        await edited(stage, "bob", {"metadata": {"labels": {"team": "blue"}}})
        await stage.rest()
        got = await revisions(stage)
        assert [r.actor for r in got] == ["ann", "bob", "terraform"]
        assert got[1].image == "registry.test/web:2"

    run_story(tmp_path, story)


def test_a_paused_workload_records_its_spec(tmp_path):
    """A spec that is held back is recorded."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(HOME))
        await recorded(stage, 1)
        paused = {"annotations": {"compute.datumapis.com/paused": "true"}}
        await edited(stage, "ann", {"metadata": paused, "spec": {"template": NEWER}})
        await recorded(stage, 2)
        await served(stage)
        await stage.rest()
        assert not (await revisions(stage))[1].healthy_at

    run_story(tmp_path, story)


def test_a_revision_is_healthy_once_every_city_serves_it(tmp_path):
    """Not before, and as soon as the last one does."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(placement("home", "DFW", "LHR")))
        await recorded(stage, 1)
        await served(stage, "web-home-dfw")
        await stage.rest()
        assert not (await revisions(stage))[0].healthy_at
        await served(stage, "web-home-lhr")
        await stage.named(
            PROJECT, ConfigMap, NAME, true=lambda h: history.revisions(h)[0].healthy_at, seconds=0.1
        )
        await stage.rest()
        assert await stage.quiet() == []

    run_story(tmp_path, story)


def test_a_revision_is_healthy_only_with_ready_instances(tmp_path):
    """A cell's report does not name its template; an Instance does."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(HOME))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        await served(stage)
        await stage.rest()
        await edited(stage, "ann", {"spec": {"template": NEWER}})
        got = await stage.named(
            PROJECT, WorkloadDeployment, "web-home-dfw", true=lambda d: d.spec.template == NEWER
        )
        await stage.rest()
        first, second = await revisions(stage)
        assert first.healthy_at
        assert not second.healthy_at  # the report that stands is of the template before
        old = await stage.named(PROJECT, Instance, "web-home-dfw-0")
        await stage.client(PROJECT).delete(old)
        await shows(stage, got)
        kept = await stage.named(
            PROJECT, ConfigMap, NAME, true=lambda h: history.revisions(h)[1].healthy_at, seconds=0.1
        )
        assert len(history.revisions(kept)) == 2

    run_story(tmp_path, story)


def test_an_instance_that_is_not_waited_for_requeues_nothing(tmp_path):
    """Ten thousand of them must cost nothing."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(placement("home", "DFW", replicas=2)))
        got = await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        await reports(stage, "web-home-dfw", ready=1)
        await stage.rest()
        before = _passes(stage)
        await shows(stage, got, 0)
        await shows(stage, got, 1)
        await stage.rest()
        assert _passes(stage) == before

    run_story(tmp_path, story)


def test_a_network_that_is_missing_keeps_a_revision_from_being_healthy(tmp_path):
    """A spec that cannot be placed was never served."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(BOTH))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-lhr")
        spec = msgspec.to_builtins(NEWER)
        spec["spec"]["networkInterfaces"] = [{"network": {"name": "nowhere"}}]
        await edited(stage, "ann", {"spec": {"template": spec}})
        await recorded(stage, 2)
        for name in await deployment_names(stage):
            await served(stage, name)
        await stage.rest()
        assert [bool(r.healthy_at) for r in await revisions(stage)] == [False, False]

    run_story(tmp_path, story)


def test_a_restarted_controller_reads_the_history(tmp_path):
    """After a restart nothing is recorded twice, and what is due is still marked."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(HOME))
        await recorded(stage, 1)
        await served(stage)
        await stage.rest()
        stage.start(*controllers(stage))
        await stage.rest()
        assert len(await revisions(stage)) == 1
        assert await stage.quiet() == []

    run_story(tmp_path, story)


def test_a_deleted_history_starts_over(tmp_path):
    """With the current spec, at the latest when that is served."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(HOME))
        await recorded(stage, 1)
        await stage.client(PROJECT).delete(await stage.named(PROJECT, ConfigMap, NAME))
        await served(stage)
        kept = await stage.named(
            PROJECT, ConfigMap, NAME, true=lambda h: history.revisions(h)[0].healthy_at
        )
        assert [r.changes for r in history.revisions(kept)] == ["initial deploy"]

    run_story(tmp_path, story)


def test_the_history_of_an_earlier_workload_is_not_continued(tmp_path):
    """The garbage collector is about to delete it, with any new revision."""

    async def story(stage: Stage) -> None:
        client = stage.client(PROJECT)
        before = await client.create(fresh(HOME, name="before"))
        kept = await stage.named(PROJECT, ConfigMap, names.history("before"))
        await client.create(with_meta(kept, name=NAME, uid="", resource_version=""))
        made = await client.create(fresh(BOTH))
        seen = await stage.named(
            PROJECT,
            ConfigMap,
            NAME,
            true=lambda h: h.metadata.owner_references[0].uid == made.metadata.uid,
        )
        assert [r.rev for r in history.revisions(seen)] == [1]
        assert history.spec_of(history.revisions(seen)[0]) == made.spec
        assert before.metadata.uid != made.metadata.uid

    run_story(tmp_path, story)


def test_a_stale_cache_records_no_old_spec(tmp_path):
    """The live spec is recorded, and it was recorded already."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(HOME))
        await recorded(stage, 1)
        await stage.rest()
        before = await stage.named(PROJECT, Workload, "web")
        await edited(stage, "ann", {"spec": {"template": NEWER}})
        await recorded(stage, 2)
        await stage.rest()
        stage.role("projects").sole().informers.of(Workload).cache.put(before)
        await reports(stage, "web-home-dfw", ready=1)
        await stage.rest()
        assert len(await revisions(stage)) == 2
        got = await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        assert got.spec.template == NEWER

    run_story(tmp_path, story)


def test_a_stale_cache_deletes_no_history(tmp_path):
    """A cache that has the first Workload takes the history of the second for another's."""

    async def story(stage: Stage) -> None:
        client = stage.client(PROJECT)
        first = await client.create(fresh(HOME))
        await stage.rest()
        before = await stage.seen(PROJECT, first)
        await client.delete(before)
        await stage.gone(PROJECT, Workload, "web", "default")
        await client.create(fresh(HOME))
        await stage.rest()
        kept = await stage.named(PROJECT, ConfigMap, NAME)
        stage.role("projects").sole().informers.of(Workload).cache.put(before)
        await reports(stage, "web-home-dfw", ready=1)
        await stage.rest()
        assert await stage.named(PROJECT, ConfigMap, NAME) == kept

    run_story(tmp_path, story)


def test_a_restored_history_is_continued(tmp_path):
    """It is owned by the Workload from then on."""

    async def story(stage: Stage) -> None:
        client = stage.client(PROJECT)
        await client.create(fresh(HOME, name="before"))
        kept = await stage.named(PROJECT, ConfigMap, names.history("before"))
        bare = with_meta(kept, name=NAME, uid="", resource_version="", owner_references=())
        await client.create(bare)
        made = await client.create(fresh(BOTH))
        got = await recorded(stage, 2)
        assert [r.rev for r in got] == [1, 2]
        seen = await stage.named(PROJECT, ConfigMap, NAME)
        assert [o.uid for o in seen.metadata.owner_references] == [made.metadata.uid]

    run_story(tmp_path, story)


def test_a_history_that_cannot_be_written_stops_nothing(tmp_path):
    """It is immutable; the Workload is placed in its cities all the same."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(HOME))
        await recorded(stage, 1)
        await changed(stage, ConfigMap, NAME, {"immutable": True})
        await edited(stage, "ann", {"spec": {"template": NEWER}})
        await stage.named(
            PROJECT, WorkloadDeployment, "web-home-dfw", true=lambda d: d.spec.template == NEWER
        )
        assert len(await revisions(stage)) == 1

    run_story(tmp_path, story)


def test_an_author_who_is_not_known_is_left_out(tmp_path):
    """The managed fields may have been cleared."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(HOME))
        await recorded(stage, 1)
        wiped = {"metadata": {"managedFields": [{}]}, "spec": {"template": NEWER}}
        await edited(stage, "ann", wiped)
        assert [r.actor for r in await recorded(stage, 2)] == ["kubectl", ""]

    run_story(tmp_path, story)


def test_two_replicas_record_each_change_once(tmp_path):
    """The second finds what the first has written."""

    async def story(stage: Stage) -> None:
        stage.start(*controllers(stage))
        await stage.client(PROJECT).create(fresh(HOME))
        await recorded(stage, 1)
        await edited(stage, "ann", {"spec": {"template": NEWER}})
        await stage.rest()
        assert len(await revisions(stage)) == 2
        await served(stage)
        await stage.rest()
        assert [bool(r.healthy_at) for r in await revisions(stage)] == [False, True]
        assert await stage.quiet() == []

    run_story(tmp_path, story)


def _passes(stage: Stage) -> int:
    return sum(stage.factory.metrics.controller("workload").results.values())
