"""Copies of the buckets, for the users of projects."""

import asyncio

import msgspec
import pytest

from compute.api import names
from compute.api.quota import AllowanceBucket, AllowanceBucketSpec
from compute.decide import quota
from compute.services.planes import ServicePlanes
from compute.services.quota import bucket_copies
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.counters import PassResult
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from tests.support.compute.budget_builders import bucket, reasons, started
from tests.support.compute.service_builders import (
    CORE,
    PLANES,
    claim,
    consumer,
    namespace,
    planes,
    project,
)
from tests.support.kubekit.deaf import SilenceableTransport, listener
from tests.support.kubekit.stage import Stage, staged


async def copy(stage: Stage, kind: str = quota.INSTANCES) -> AllowanceBucket:
    return await stage.client("shop").get(
        AllowanceBucket, names.bucket(kind, "Project", "shop"), CORE
    )


def test_a_project_has_a_copy_of_each_of_its_buckets(tmp_path):
    """They have the labels by which clients select them, and the same amounts."""

    async def story(stage: Stage) -> None:
        await started(stage, instances=3)
        await stage.client("shop").create(claim(0))
        await stage.rest()
        assert await reasons(stage) == {"QuotaAvailable": 1}
        for kind in (quota.INSTANCES, quota.VCPUS, quota.MEMORY):
            original, seen = await bucket(stage, kind), await copy(stage, kind)
            assert seen.spec == original.spec
            assert seen.metadata.labels == original.metadata.labels
            assert seen.status == original.status
        assert (await copy(stage)).status.available == 2
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_copy_is_put_back_and_goes_with_its_bucket(tmp_path):
    """A copy that was changed or deleted comes back; one without a bucket is removed."""

    async def story(stage: Stage) -> None:
        await started(stage, instances=3)
        await stage.rest()
        shop, first = stage.client("shop"), await copy(stage)
        status = msgspec.structs.replace(first.status, limit=99)
        await shop.patch_status(first, msgspec.structs.replace(first, status=status))
        await shop.delete(await copy(stage, quota.VCPUS))
        meta = msgspec.structs.replace(first.metadata, name="left", uid="", resource_version="")
        await shop.create(msgspec.structs.replace(first, metadata=meta))
        await stage.rest()
        assert (await copy(stage)).status.limit == 3
        assert (await copy(stage, quota.VCPUS)).status.limit == 40_000
        assert await shop.find(AllowanceBucket, "left", CORE) is None
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_project_that_is_gone_gets_no_copies(tmp_path):
    """Its buckets may still be there for a moment."""

    async def story(stage: Stage) -> None:
        stage.start(bucket_copies.controller(planes(stage), stage.factory))
        core = stage.client("core")
        await core.create(namespace(CORE))
        name = names.bucket(quota.INSTANCES, "Project", "shop")
        spec = AllowanceBucketSpec(consumer_ref=consumer(), resource_type=quota.INSTANCES)
        await core.create(
            AllowanceBucket(metadata=ObjectMeta(name=name, namespace=CORE), spec=spec)
        )
        await changed(stage, 4)
        await stage.rest()
        assert (await stage.client("shop").every(AllowanceBucket)).items == ()
        await core.create(project())
        await changed(stage, 5)
        await stage.rest()
        assert (await copy(stage)).status.allocated == 5

    staged(tmp_path, story, *PLANES)


async def changed(stage: Stage, allocated: int) -> None:
    """The bucket of instances shows this usage now."""
    first = await bucket(stage)
    status = msgspec.structs.replace(
        first.status, allocated=allocated, last_reconciliation=stage.environment.now()
    )
    await stage.client("core").patch_status(first, msgspec.structs.replace(first, status=status))


async def observing(stage: Stage, role: str) -> tuple[Controller, SilenceableTransport]:
    """Copies by a process whose watches in the planes of one role can be stopped."""
    stops = {}
    for each, name in (("core", "core"), ("projects", "shop")):
        stops[each], client = listener(await stage.plane(name))
        await stage.role(f"{each} again").engage(cluster_name(name), client)
    there = ServicePlanes(
        core=stage.role("core again"),
        hub=stage.role("hub"),
        projects=stage.role("projects again"),
        cells=stage.role("cells"),
    )
    copies = bucket_copies.controller(there, ControllerFactory(stage.environment, Metrics(), "2"))
    stage.start(copies)
    await stage.rest()
    return copies, stops[role]


async def with_one_bucket(stage: Stage) -> None:
    """A bucket of shop, and its copy. Only a test changes the bucket."""
    stage.start(bucket_copies.controller(planes(stage), stage.factory))
    core = stage.client("core")
    await core.create(namespace(CORE))
    await core.create(project())
    name = names.bucket(quota.INSTANCES, "Project", "shop")
    spec = AllowanceBucketSpec(consumer_ref=consumer(), resource_type=quota.INSTANCES)
    await core.create(AllowanceBucket(metadata=ObjectMeta(name=name, namespace=CORE), spec=spec))
    await stage.rest()
    assert (await stage.client("shop").every(AllowanceBucket)).items == ()  # it says nothing yet
    await changed(stage, 0)
    await stage.rest()


def copies_written(stage: Stage, before: int) -> int:
    kinds = [(plane, kind.rpartition("/")[2]) for plane, kind, _ in stage.writes[before:]]
    return kinds.count(("shop", "allowancebuckets"))


def test_changes_within_a_second_are_copied_in_one_write(tmp_path):
    """Two services that disagree may write a bucket twice a second for minutes."""

    async def story(stage: Stage) -> None:
        await with_one_bucket(stage)
        before = len(stage.writes)
        for second in range(10):
            for change in range(10):
                await changed(stage, 10 * second + change + 1)
                await asyncio.sleep(0.1)
        await stage.rest()
        assert (await copy(stage)).status.allocated == 100
        assert copies_written(stage, before) <= 11

    staged(tmp_path, story, *PLANES)


@pytest.mark.parametrize("role", ["core", "projects"])
def test_an_old_view_causes_no_write_and_no_conflict(tmp_path, role):
    """What a process has seen of a bucket, or of its copy, may be minutes old."""

    async def story(stage: Stage) -> None:
        await with_one_bucket(stage)
        copies, watches = await observing(stage, role)
        watches.stop(AllowanceBucket)
        before = len(stage.writes)
        for usage in range(1, 61):
            await changed(stage, usage)
            await asyncio.sleep(5.0)
        await stage.rest()
        assert (await copy(stage)).status.allocated == 60
        assert copies_written(stage, before) == 60
        assert sum(copies.counters.results.values()) < 300
        assert copies.counters.errors == 0
        assert copies.counters.results[PassResult.REQUEUE] <= 60  # both copied at the same instant

    staged(tmp_path, story, *PLANES)


def test_a_plane_that_is_engaged_again_gets_the_copies_that_it_lacks(tmp_path):
    """Nothing else may happen to their buckets, so no other event asks for them."""

    async def story(stage: Stage) -> None:
        await with_one_bucket(stage)
        await stage.role("projects").disengage(cluster_name("shop"))
        await stage.client("shop").delete(await copy(stage))
        await stage.engage("projects", "shop")
        await stage.rest()
        assert (await copy(stage)).spec == (await bucket(stage)).spec

    staged(tmp_path, story, *PLANES)
