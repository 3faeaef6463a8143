"""New templates, restarts, repairs and scaling."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from compute.api import annotations
from compute.api.compute import Instance, WorkloadDeployment
from compute.decide.conditions import find
from compute.decide.deployment import slots
from kubekit.api.meta import with_spec
from tests.support.compute.builders import deployment, template
from tests.support.compute.cell_neighbours import Cell, cell, image, instance_image, scaled
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage, staged

GOOD, BAD = "registry.test/web:2", "registry.test/broken:2"


class Watcher:
    """Watches the cell, and keeps what it sees."""

    def __init__(self, at: Cell) -> None:
        self.at = at
        self.serving: list[int] = []
        self.replaced: list[str] = []

    async def run(self) -> None:
        while True:
            there = await self.at.instances()
            self.serving.append(sum(map(slots.is_ready, there)))
            for one in there:
                if one.deleting and one.metadata.name not in self.replaced:
                    self.replaced.append(one.metadata.name)
            await asyncio.sleep(0.05)


def watched(at: Cell) -> Watcher:
    watcher = Watcher(at)
    at.stage.scope.spawn(watcher.run(), "watcher")
    return watcher


def restarted(of: WorkloadDeployment) -> WorkloadDeployment:
    fresh = template(annotations={annotations.RESTARTED_AT: "2026-06-01T12:00:00Z"})
    return with_spec(of, template=fresh)


@pytest.mark.parametrize(
    "change", [restarted, lambda of: image(of, GOOD)], ids=["restart", "new image"]
)
def test_a_new_template_replaces_one_by_one_from_the_highest(
    tmp_path: Path, change: Callable[[WorkloadDeployment], WorkloadDeployment]
) -> None:
    """Delete and create again, descending, and the next only when all others are Ready."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(3))
        await at.ready(3)
        before = [one.metadata.uid for one in await at.instances()]
        watcher = watched(at)
        await at.change(change)
        await at.ready(3)
        after = [one.metadata.uid for one in await at.instances()]
        assert not set(before) & set(after)
        assert watcher.replaced == ["web-home-dfw-2", "web-home-dfw-1", "web-home-dfw-0"]
        assert min(watcher.serving) == 2
        await stage.rest()
        assert await stage.quiet(60) == []

    staged(tmp_path, story)


def test_two_controllers_roll_as_one(tmp_path: Path) -> None:
    """Run twice, the controller still takes no more than one Instance down at a time."""

    async def story(stage: Stage) -> None:
        at = await cell(stage, copies=2)
        await at.deploy(deployment(4))
        await at.ready(4)
        watcher = watched(at)
        await at.change(restarted)
        await at.ready(4)
        assert min(watcher.serving) == 3
        assert len(watcher.replaced) == 4

    staged(tmp_path, story)


def test_w41_a_bad_image_is_repaired_by_a_new_template(tmp_path: Path) -> None:
    """A rollout that is stuck takes down one Instance only, and a good template frees it."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.machines.bad = ("*/broken:*",)
        await at.deploy(deployment(3))
        await at.ready(3)
        await at.change(lambda of: image(of, BAD))
        await at.reported(lambda one: one.status.updated_replicas == 1)
        await asyncio.sleep(600)
        images = [instance_image(one) for one in await at.instances()]
        assert images == ["registry.test/web:1", "registry.test/web:1", BAD]
        await at.change(lambda of: image(of, GOOD))
        await at.ready(3)
        assert [instance_image(one) for one in await at.instances()] == [GOOD] * 3

    staged(tmp_path, story)


def test_w41_the_first_template_may_be_the_bad_one(tmp_path: Path) -> None:
    """An ordinal 0 that never became ready blocks nothing: it is replaced at once."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.machines.bad = ("*/broken:*",)
        await at.deploy(deployment(2, image=BAD))
        await at.reported(lambda one: _reason(one) == "ImageUnavailable")
        assert await at.names() == ["web-home-dfw-0"]
        await at.change(lambda of: image(of, GOOD))
        await at.ready(2)

    staged(tmp_path, story)


def test_w41_scaling_down_does_not_wait_for_health(tmp_path: Path) -> None:
    """Surplus Instances are deleted, though a lower ordinal is not ready."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.machines.bad = ("*/broken:*",)
        await at.deploy(deployment(3, policy="Parallel", image=BAD))
        await at.reported(lambda one: one.status.updated_replicas == 3)
        await at.change(lambda of: scaled(of, 1))
        await at.reported(lambda one: one.status.replicas == 1)
        assert await at.names() == ["web-home-dfw-0"]

    staged(tmp_path, story)


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_w38_scaling_is_followed_in_both_directions(tmp_path: Path, policy: str) -> None:
    """As many Instances run as the deployment specifies, and nothing else changes."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(2, policy=policy))
        await at.ready(2)
        first = [one.metadata.uid for one in await at.instances()]
        await at.change(lambda of: scaled(of, 4))
        await at.ready(4)
        await at.change(lambda of: scaled(of, 1))
        await at.ready(1)
        assert [one.metadata.uid for one in await at.instances()] == first[:1]
        await at.change(lambda of: scaled(of, 0))
        done = await at.ready(0)
        assert _reason(done) == "Stopped"

    staged(tmp_path, story)


def test_w42_parallel_keeps_to_its_limit(tmp_path: Path) -> None:
    """Parallel comes up at once, and an update leaves no more unserved than allowed."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        limit = {annotations.MAX_UNAVAILABLE: "2"}
        wanted = deployment(6, policy="Parallel", annotations=limit)
        await at.deploy(wanted)
        await at.ready(6, seconds=5)
        watcher = watched(at)
        await at.change(restarted)
        await at.ready(6)
        assert min(watcher.serving) == 4
        assert watcher.replaced[:2] == ["web-home-dfw-4", "web-home-dfw-5"]

    staged(tmp_path, story)


def test_paused_holds_templates_back_but_replaces_and_scales(tmp_path: Path) -> None:
    """While a deployment is paused nothing is replaced; slots are filled and removed all the same."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(2, annotations={annotations.PAUSED: "true"}))
        await at.ready(2)
        kept = (await at.instances())[0]
        await at.change(lambda of: scaled(image(of, GOOD), 3))
        await at.reported(lambda one: one.status.ready_replicas == 3)
        await asyncio.sleep(600)
        images = [instance_image(one) for one in await at.instances()]
        assert images == ["registry.test/web:1", "registry.test/web:1", GOOD]
        assert (await at.instances())[0].metadata.uid == kept.metadata.uid
        await at.change(lambda of: with_meta(of, annotations={}))
        await at.ready(3)
        assert [instance_image(one) for one in await at.instances()] == [GOOD] * 3

    staged(tmp_path, story)


def test_an_unknown_policy_is_treated_as_ordered(tmp_path: Path) -> None:
    """A deployment whose policy has another name still gets its Instances."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(2, policy="Sometimes"))
        await at.ready(2)

    staged(tmp_path, story)


def test_w43_a_default_written_out_rolls_nothing(tmp_path: Path) -> None:
    """Equal templates have equal hashes, even if a default is written out."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(2))
        await at.ready(2)
        before = [one.metadata.uid for one in await at.instances()]

        def labelled(of: WorkloadDeployment) -> WorkloadDeployment:
            settings = msgspec.structs.replace(of.spec.scale_settings, min_replicas=2)
            return msgspec.structs.replace(
                with_meta(of, labels={"new": "label"}),
                spec=msgspec.structs.replace(of.spec, scale_settings=settings),
            )

        await at.change(labelled)
        await stage.rest()
        assert [one.metadata.uid for one in await at.instances()] == before

    staged(tmp_path, story)


def test_w44_instances_share_no_annotations(tmp_path: Path) -> None:
    """An annotation of one Instance is on no other, nor in the template."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        noted = template(annotations={"a": "1"})
        wanted = deployment(2)
        spec = msgspec.structs.replace(wanted.spec, template=noted)
        await at.deploy(msgspec.structs.replace(wanted, spec=spec))
        await at.ready(2)
        first, second = await at.instances()
        marked = first.metadata.annotations | {"b": "2"}
        await at.client.patch(first, with_meta(first, annotations=marked))
        await stage.rest()
        first, second = await at.instances()
        assert (first.metadata.annotations, second.metadata.annotations) == (marked, {"a": "1"})

    staged(tmp_path, story)


def test_w45_the_longest_names_fit(tmp_path: Path) -> None:
    """A deployment of the longest name gets Instances whose labels the API takes."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        name = f"{'w' * 48}-dfw"
        await at.deploy(deployment(name=name))
        await stage.named("dfw", WorkloadDeployment, name, "ns-1", _serves)
        assert await at.names() == [f"{name}-0"]

    staged(tmp_path, story)


def test_w46_a_failed_rollout_is_reported(tmp_path: Path) -> None:
    """While others serve, the status reports which Instance of the new template does not, and why."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.machines.bad = ("*/broken:*",)
        await at.deploy(deployment(2))
        await at.ready(2)
        await at.change(lambda of: image(of, BAD))
        seen = await at.reported(lambda one: "no such image" in _message(one))
        assert _reason(seen) == "StableInstanceFound"
        assert _message(seen) == "1 of 2 instances ready; web-home-dfw-1: no such image"
        assert (seen.status.updated_replicas, seen.status.current_replicas) == (1, 0)

    staged(tmp_path, story)


def test_a_stray_is_deleted(tmp_path: Path) -> None:
    """An Instance that the deployment controls but no slot is named after is removed."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy()
        await at.ready(1)
        (made,) = await at.instances()
        stray = with_meta(made, name="web-home-dfw-x", uid="", resource_version="", finalizers=())
        await at.client.create(stray)
        await stage.gone("dfw", Instance, "web-home-dfw-x", "ns-1")
        await at.ready(1)
        assert [one.metadata.uid for one in await at.instances()] == [made.metadata.uid]

    staged(tmp_path, story)


def _available(of: WorkloadDeployment) -> tuple[str, str, str]:
    condition = find(of.status.conditions, "Available")
    return (condition.status, condition.reason, condition.message) if condition else ("", "", "")


def _serves(of: WorkloadDeployment) -> bool:
    return _available(of)[0] == "True"


def _reason(of: WorkloadDeployment) -> str:
    return _available(of)[1]


def _message(of: WorkloadDeployment) -> str:
    return _available(of)[2]
