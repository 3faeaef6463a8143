"""Instances as their objects change, with the revision that each runs."""

import asyncio

from msgspec.structs import replace

from compute.api.compute import Workload
from compute.decide.workload import history
from compute.views.instance_reading import INSTANCE_KINDS, LiveInstances
from compute.views.instances import InstanceFilter
from compute.views.live import live_objects
from compute.views.reading import ProjectReader
from kubekit.api.errors import Unavailable
from tests.support.compute.builders import NOW, placement, template, workload
from tests.support.compute.progress_builders import NEW, OLD, running
from tests.support.kubekit.following_builders import World, run_in_world
from tests.support.kubekit.plane_worlds import environment

WEB = workload("web", placement("home", "DFW"), template=template(OLD))


def with_image(of: Workload, image: str) -> Workload:
    return replace(of, spec=replace(of.spec, template=template(image)))


async def revisions(instances: LiveInstances) -> list[tuple[int | None, bool]]:
    return [(view.revision, view.outdated) for view in await instances.views(NOW)]


def test_a_revision_is_known_once_it_is_recorded(tmp_path):
    """The platform records it after the change, so a history that was read with the change is old."""

    async def story(world: World) -> None:
        made = await world.writer.create(WEB)
        recorded = history.record(None, made, "jo", NOW)
        assert recorded is not None
        kept = await world.writer.create(recorded)
        await world.writer.create(running(0, image=OLD))
        await world.writer.create(running(1, image=NEW))
        reader = ProjectReader(world.client, "default")
        async with live_objects(world.client, environment(), "default", *INSTANCE_KINDS) as live:
            await live.listed()
            instances = LiveInstances(live, reader, InstanceFilter())
            assert await revisions(instances) == [(1, False), (None, True)]

            changed = await world.writer.patch(made, with_image(made, NEW))
            await asyncio.sleep(1)
            assert await revisions(instances) == [(1, True), (1, False)]

            newest = history.record(kept, changed, "jo", NOW)
            assert newest is not None
            await world.writer.patch(kept, newest)
            observed = replace(changed.status, observed_generation=changed.metadata.generation)
            await world.writer.patch_status(changed, replace(changed, status=observed))
            await asyncio.sleep(1)
            assert await revisions(instances) == [(1, True), (2, False)]

    run_in_world(tmp_path, story)


def test_a_history_that_cannot_be_read_now_is_read_later(tmp_path):
    """A watch does not end because one answer is missing."""

    async def story(world: World) -> None:
        made = await world.writer.create(WEB)
        recorded = history.record(None, made, "jo", NOW)
        assert recorded is not None
        await world.writer.create(recorded)
        await world.writer.create(running(0, image=OLD))
        reader = ProjectReader(world.client, "default")
        async with live_objects(world.client, environment(), "default", *INSTANCE_KINDS) as live:
            await live.listed()
            instances = LiveInstances(live, reader, InstanceFilter())
            world.transport.refusals["ConfigMap"] = Unavailable("no connection")
            assert await revisions(instances) == [(None, False)]
            world.transport.refusals.clear()
            assert await revisions(instances) == [(1, False)]

    run_in_world(tmp_path, story)
