"""Restarts, templates, pauses and history, through the whole chain."""

import asyncio

import msgspec
import pytest

from compute.api import annotations, labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.quota import ResourceClaim
from compute.decide.conditions import find
from compute.decide.workload import history
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.events import Event
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


def restarted(present: Workload) -> Workload:
    """The Workload as a restart leaves it."""
    template = present.spec.template
    stamped = {annotations.RESTARTED_AT: "2026-01-01T01:00:00Z"}
    metadata = msgspec.structs.replace(template.metadata, annotations=stamped)
    template = msgspec.structs.replace(template, metadata=metadata)
    spec = msgspec.structs.replace(present.spec, template=template)
    return msgspec.structs.replace(present, spec=spec)


def paused(present: Workload, value: str | None = "true") -> Workload:
    """The Workload with its template changes held back, or not."""
    others = {k: v for k, v in present.metadata.annotations.items() if k != annotations.PAUSED}
    metadata_annotations = others | ({annotations.PAUSED: value} if value else {})
    metadata = msgspec.structs.replace(present.metadata, annotations=metadata_annotations)
    return msgspec.structs.replace(present, metadata=metadata)


async def _unready_at_once(world: Watched, cell: str, wanted: int, until: asyncio.Event) -> int:
    """The most Instances of a cell that were not serving at the same moment."""
    most = 0
    while not until.is_set():
        there = (await world.client(cell).every(Instance)).items
        serving = sum(is_ready(i) and not i.deleting for i in there)
        most = max(most, wanted - serving)
        await asyncio.sleep(0.02)
    return most


def test_a_restart_goes_from_the_highest_down_one_at_a_time_and_keeps_its_claims():
    """W65: no more than one is missing at a time, and the quota of a slot is never released."""

    async def story(world: Watched) -> None:
        await world.set_provider("dfw", startSeconds="2")
        await world.deploy(workload(cities=("DFW",), replicas=3))
        claims = {c.metadata.uid for c in (await world.user.every(ResourceClaim)).items}
        before = {i.metadata.name: i for i in (await world.client("dfw").every(Instance)).items}
        done = asyncio.Event()
        most = asyncio.ensure_future(_unready_at_once(world, "dfw", 3, done))
        await world.change("web", restarted)
        await world.served("web")
        done.set()
        assert await most == 1
        after = (await world.client("dfw").every(Instance)).items
        assert all(i.metadata.uid != before[i.metadata.name].metadata.uid for i in after)
        made = sorted(after, key=lambda i: str(i.metadata.creation_timestamp))
        assert [i.metadata.labels[labels.INSTANCE_INDEX] for i in made] == ["2", "1", "0"]
        assert {c.metadata.uid for c in (await world.user.every(ResourceClaim)).items} == claims

    run_story(story)


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
@pytest.mark.parametrize("repaired", ["registry.test/web:1", "registry.test/web:2"])
def test_w41_a_bad_image_is_rolled_back_or_repaired(policy, repaired):
    """One Instance at most is lost to it, its cause is reported at every level, and nothing else helps.

    What never became ready blocks nothing, and what still ran of the old is kept by a rollback.
    """

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=3, instance_management_policy=policy))
        before = await _uids(world)
        await world.change("web", with_image("registry.test/does-not-exist:1"))
        await world.rest()
        bad = await world.user.get(Workload, "web", "default")
        assert "cannot be pulled" in str(bad.status.conditions)
        assert bad.status.ready_replicas == 2
        deployment = await world.user.get(WorkloadDeployment, "web-home-dfw", "default")
        assert "cannot be pulled" in str(deployment.status.conditions)
        (broken,) = [i for i in (await world.user.every(Instance)).items if not is_ready(i)]
        assert reason_of(broken, "Ready") == "ImageUnavailable"
        warned = {e.reason for e in (await world.user.every(Event)).items if e.type == "Warning"}
        assert warned == {"ImageUnavailable", "CityStuck"}
        await world.change("web", with_image(repaired))
        await world.served("web")
        assert await _images(world) == [repaired] * 3
        kept = before.items() & (await _uids(world)).items()
        assert len(kept) == (2 if repaired == "registry.test/web:1" else 0)

    run_story(story)


def test_a_paused_workload_keeps_its_template_and_still_scales():
    """The pause is reported, and what was held back is applied at its end."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=1))
        await world.change("web", paused)
        await world.named(
            PROJECT,
            Workload,
            "web",
            true=lambda w: find(w.status.conditions, ConditionType.PAUSED) is not None,
        )
        await world.change("web", with_image("registry.test/web:2"))
        await world.change("web", with_replicas(2))
        await world.rest()
        images = await _images(world)
        assert images == ["registry.test/web:1", "registry.test/web:1"]
        await world.change("web", lambda w: paused(w, None))
        await world.served("web")
        assert await _images(world) == ["registry.test/web:2", "registry.test/web:2"]
        ended = await world.user.get(Workload, "web", "default")
        assert find(ended.status.conditions, ConditionType.PAUSED) is None

    run_story(story)


def test_every_change_of_a_spec_is_in_its_history_with_its_author():
    """The revision names the manager that wrote it, and is marked once every city served it."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR")))
        await world.rest()  # managed fields tell the last writer by times of whole seconds
        present = await world.user.get(Workload, "web", "default")
        changed = with_image("registry.test/web:2")(present)
        await world.client(PROJECT, "another-client").patch(present, changed)
        await world.served("web")
        await world.rest()
        kept = await world.user.get(ConfigMap, names.history("web"), "default")
        first, second = history.revisions(kept)
        assert (first.changes, first.actor) == ("initial deploy", "kubectl")
        assert (second.image, second.actor) == ("registry.test/web:2", "another-client")
        assert first.healthy_at
        assert second.healthy_at

    run_story(story)


async def _images(world: Watched) -> list[str]:
    there = (await world.client("dfw").every(Instance)).items
    return [
        container.image
        for instance in there
        if instance.spec.runtime.sandbox
        for container in instance.spec.runtime.sandbox.containers
    ]


async def _uids(world: Watched) -> dict[str, str]:
    there = (await world.client("dfw").every(Instance)).items
    return {i.metadata.name: i.metadata.uid for i in there}
