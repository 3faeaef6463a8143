"""Copies of the buckets, for the users of projects."""

import msgspec

from compute.api import names
from compute.api.quota import AllowanceBucket, AllowanceBucketSpec
from compute.decide import quota
from compute.services.quota import bucket_copies
from kubekit.api.meta import ObjectMeta
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
        made = await core.create(
            AllowanceBucket(metadata=ObjectMeta(name=name, namespace=CORE), spec=spec)
        )
        await stage.rest()
        assert (await stage.client("shop").every(AllowanceBucket)).items == ()
        await core.create(project())
        status = msgspec.structs.replace(made.status, limit=5)
        await core.patch_status(made, msgspec.structs.replace(made, status=status))
        await stage.rest()
        assert (await copy(stage)).status.limit == 5

    staged(tmp_path, story, *PLANES)
