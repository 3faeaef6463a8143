"""What of a workload does not fit into the quota that is left, and what would."""

import pytest

from compute.api.quota import (
    AllowanceBucket,
    AllowanceBucketSpec,
    AllowanceBucketStatus,
    ObjectRef,
)
from compute.decide import quota
from compute.decide.workload.preview import Need
from compute.decide.workload.shortfall import remaining, shortfall
from kubekit.api.meta import ObjectMeta

PLENTY = 1_000_000


def left(instances: int = PLENTY, vcpus: int = PLENTY, memory: int = PLENTY) -> dict[str, int]:
    return {quota.INSTANCES: instances, quota.VCPUS: vcpus * 1000, quota.MEMORY: memory}


def need(count: int) -> Need:
    """Instances of one vCPU in one city."""
    return Need(count, count * 1000, count * 2048)


def bucket(kind: str, available: int, name: str = "one") -> AllowanceBucket:
    consumer = ObjectRef(kind="Project", name="shop")
    return AllowanceBucket(
        metadata=ObjectMeta(name=name),
        spec=AllowanceBucketSpec(consumer_ref=consumer, resource_type=kind),
        status=AllowanceBucketStatus(available=available),
    )


@pytest.mark.parametrize(
    ("wanted", "room", "sentence"),
    [
        ([need(4), need(4)], left(vcpus=6), "needs 8 vCPU, 6 left; try --min 3"),
        ([need(2)], left(instances=1), "needs 2 instances, 1 left; try --min 1"),
        (
            [need(6), need(6)],
            left(instances=10, memory=4096),
            "needs 12 instances, 10 left; 24576 MiB of memory, 4096 left; try --min 1",
        ),
        ([need(1)] * 3, left(instances=2), "needs 3 instances, 2 left; try --min 1 in 2 cities"),
        ([need(1)] * 2, left(vcpus=1), "needs 2 vCPU, 1 left; try --min 1 in 1 city"),
        (
            [need(1)],
            left(vcpus=0),
            "needs 1 vCPU, 0 left; delete something, or ask for more quota",
        ),
        ([need(1), Need()], {quota.INSTANCES: 3, quota.VCPUS: 500}, None),
    ],
)
def test_a_shortfall_says_what_is_needed_what_is_left_and_what_fits(wanted, room, sentence):
    """The largest number for all cities first, else how many cities have room for one instance."""
    lacks = shortfall(wanted, room)

    expected = sentence or (
        "needs 1 vCPU, 0.5 left; 2048 MiB of memory, 0 left; "
        "delete something, or ask for more quota"
    )
    assert lacks is not None
    assert lacks.sentence == expected


@pytest.mark.parametrize("room", [left(), left(instances=4, vcpus=4, memory=8192), {}])
def test_what_fits_has_no_shortfall(room):
    """Exactly enough is enough; where no quota is enforced everything fits."""
    assert shortfall([need(2), need(2)], room) is None


def test_a_workload_keeps_what_it_has():
    """Two more instances are needed, not four."""
    assert shortfall([need(4)], left(instances=2), held=need(2)) is None
    lacks = shortfall([need(5)], left(instances=2), held=need(2))
    assert lacks is not None
    assert lacks.sentence == "needs 3 more instances, 2 left; try --min 4"


def test_a_size_that_is_not_known_needs_instances_alone():
    """As it is claimed."""
    lacks = shortfall([Need(3)], {quota.INSTANCES: 2})

    assert lacks is not None
    assert lacks.sentence == "needs 3 instances, 2 left; try --min 2"


def test_what_remains_is_the_sum_of_the_buckets():
    """A type that has no bucket is not in it."""
    buckets = [bucket(quota.VCPUS, 500), bucket(quota.VCPUS, 250, "two")]

    assert remaining(buckets) == {quota.VCPUS: 750}
