"""A process ends in bounded time, whatever its parts do."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import msgspec

from kubekit.api.errors import Conflict
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.times import format_micro
from kubekit.plane.local import LocalClient
from kubekit.runtime.manager import BackgroundTask
from kubekit.runtime.reconciling.passes import PassOver
from tests.support.kubekit.plane_worlds import START
from tests.support.kubekit.runtime_builders import Reconciling, config, run_story
from tests.unit.kubekit.runtime.test_manager import Looking, box, on_a_plane, process


def test_duties_share_one_grace(tmp_path):
    """Ten recorders whose plane is away take no longer than one."""

    async def story(plane, scope):
        background_tasks = [
            BackgroundTask(f"d{n}", lambda: asyncio.sleep(1000), asyncio.sleep) for n in range(10)
        ]
        manager = process(plane, Looking(), grace=7.0, background_tasks=background_tasks)
        running = scope.spawn(manager.run(), "manager")
        await asyncio.sleep(1)
        manager.stop()
        await running
        assert asyncio.get_running_loop().time() < 1 + 7.0 + 1

    on_a_plane(tmp_path, story)


def test_a_pass_that_outlives_the_end_cannot_write_without_a_leader(tmp_path):
    """Without a lease there is no term to refuse it: the end of the process does."""
    caught = []

    async def story(world):
        async def reconcile(_):
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                await asyncio.sleep(5)
            try:
                await world.writer().create(config("late"))
            except PassOver as error:
                caught.append(error)

        await world.write("one")
        controller = world.controller(Reconciling(reconcile))
        world.start(controller)
        await asyncio.sleep(1)
        await controller.drain(2)
        await asyncio.sleep(20)
        assert await world.client().find(ConfigMap, "late", "default") is None

    run_story(tmp_path, story)
    assert len(caught) == 1


def test_a_leader_that_loses_the_lease_while_it_ends_does_not_compete_again(tmp_path):
    """Another process leads by then; competing again would wait indefinitely."""

    async def story(plane, scope):
        client = LocalClient(plane)
        manager = process(plane, Looking(20.0), elected=True)
        running = scope.spawn(manager.run(), "manager")
        await client.create(box())
        await asyncio.sleep(5)
        manager.stop()
        await asyncio.sleep(1)
        lease = await client.get(Lease, "test", "default")
        other = msgspec.structs.replace(lease.spec, holder_identity="other")
        holding = scope.spawn(_held(client, msgspec.structs.replace(lease, spec=other)), "other")
        await asyncio.sleep(60)
        assert (running.done(), holding.done()) == (True, False)

    on_a_plane(tmp_path, story)


async def _held(client, lease):
    """A holder of the lease, which renews it."""
    number = 0
    while True:
        number += 1
        present = await client.get(Lease, "test", "default")
        renewed = format_micro(START + timedelta(seconds=number))
        spec = msgspec.structs.replace(lease.spec, renew_time=renewed)
        with suppress(Conflict):
            await client.patch(present, msgspec.structs.replace(present, spec=spec))
        await asyncio.sleep(1)
