"""Quota as people read it."""

from datetime import timedelta

import msgspec

from compute.api import labels, names
from compute.api.compute import Instance
from compute.api.quota import (
    AllowanceBucket,
    AllowanceBucketSpec,
    AllowanceBucketStatus,
    ObjectRef,
    RequestAllocation,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceRequest,
)
from compute.decide import quota
from compute.views.project.quota import CityUse, QuotaObjects, QuotaView, WaitingAmount, quota_view
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import NOW, condition, instance

GPUS = "example.com/gpus"
NEED = {quota.INSTANCES: 1, quota.VCPUS: 1500, quota.MEMORY: 2048}


def bucket(
    kind: str, limit: int, used: int, *, project: str = "shop", consumer: str = "Project"
) -> AllowanceBucket:
    return AllowanceBucket(
        metadata=ObjectMeta(name=names.bucket(kind, consumer, project)),
        spec=AllowanceBucketSpec(
            consumer_ref=ObjectRef(kind=consumer, name=project), resource_type=kind
        ),
        status=AllowanceBucketStatus(limit=limit, allocated=used, available=limit - used),
    )


def claim(
    name: str, *, granted: bool = True, reason: str = "QuotaExceeded", namespace: str = "ns-1"
) -> ResourceClaim:
    """The claim of an Instance, granted or waiting."""
    state = condition("Granted", "True" if granted else "False", reason, "too little")
    allocations = tuple(
        RequestAllocation(
            resource_type=kind, allocated_amount=amount, status="Granted", last_transition_time=NOW
        )
        for kind, amount in NEED.items()
    )
    return ResourceClaim(
        metadata=ObjectMeta(name=names.claim(name), namespace=namespace, creation_timestamp=NOW),
        spec=ResourceClaimSpec(
            requests=tuple(
                ResourceRequest(resource_type=kind, amount=amount) for kind, amount in NEED.items()
            )
        ),
        status=ResourceClaimStatus(conditions=(state,), allocations=allocations if granted else ()),
    )


def of_city(city: str, ordinal: int = 0, *, waits: str = "") -> Instance:
    """An Instance in a city; ``waits`` is the reason for which its quota is not granted."""
    said = condition("QuotaGranted", "False" if waits else "True", waits or "QuotaAvailable")
    name = f"web-home-{city.lower()}-{ordinal}"
    made = instance(ordinal, conditions=(said,), name=name)
    meta = msgspec.structs.replace(made.metadata, labels={labels.CITY_CODE: city})
    return msgspec.structs.replace(made, metadata=meta)


def view(
    buckets: list[AllowanceBucket] | None,
    claims: list[ResourceClaim] | None,
    *instances: Instance,
    cities: tuple[str, ...] = (),
    constrained: bool = False,
) -> QuotaView:
    objects = QuotaObjects(buckets=buckets, claims=claims, instances=instances)
    return quota_view(objects, project="shop", cities=cities, constrained=constrained)


def test_a_row_has_the_amounts_in_the_unit_that_people_use():
    """The types of compute come first; a type that is not known here is shown as it is counted."""
    buckets = [
        bucket(GPUS, 4, 1),
        bucket(quota.VCPUS, 40_000, 2500),
        bucket(quota.INSTANCES, 10, 2),
    ]

    rows = view(buckets, []).rows

    assert [row.display_name for row in rows] == ["Instances", "vCPUs", "gpus"]
    assert (rows[1].limit, rows[1].used, rows[1].available) == (40, 2.5, 37.5)
    assert (rows[0].unit, rows[1].unit, rows[2].unit) == ("instance", "vCPU", "")
    assert rows[0].share == 0.2


def test_buckets_of_others_do_not_count():
    """A plane may have those of an organization, or of other projects."""
    buckets = [
        bucket(quota.INSTANCES, 10, 2),
        bucket(quota.INSTANCES, 99, 9, project="other"),
        bucket(quota.INSTANCES, 99, 9, consumer="Organization"),
    ]

    (row,) = view(buckets, []).rows

    assert (row.limit, row.used) == (10, 2)


def test_the_use_of_a_city_is_that_of_its_granted_claims():
    """The city is that of the Instance, else it is read from the name."""
    claims = [claim("web-home-dfw-0"), claim("web-home-dfw-1"), claim("web-home-lhr-0"), claim("x")]
    claims.append(claim("web-home-sin-0", granted=False))

    shown = view([bucket(quota.VCPUS, 40_000, 6000)], claims, of_city("DFW"))

    assert shown.cities == ("?", "DFW", "LHR")
    assert shown.use["DFW"] == {quota.INSTANCES: 2, quota.VCPUS: 3, quota.MEMORY: 4096}
    assert shown.rows[0].cities[1:] == (
        CityUse(city="DFW", used=3),
        CityUse(city="LHR", used=1.5),
    )


def test_without_claims_the_sizes_of_instances_are_added_up():
    """An Instance that waits for quota uses none."""
    waiting = of_city("DFW", 1, waits="QuotaExceeded")

    shown = view(None, None, of_city("DFW"), waiting, of_city("LHR"))

    assert shown.rows == ()
    assert shown.use["DFW"] == {quota.INSTANCES: 1, quota.VCPUS: 1, quota.MEMORY: 2048}
    assert shown.cities == ("DFW", "LHR")


def test_what_waits_says_what_it_needs_and_why():
    """The claim has the amounts and the time; without one, the size of the Instance has."""
    claims = [claim("web-home-dfw-0", granted=False)]
    instances = (
        of_city("DFW", waits="QuotaExceeded"),
        of_city("LHR", waits="QuotaBackendUnavailable"),
    )

    shown = view([bucket(quota.VCPUS, 4000, 3000)], claims, *instances)

    first, second = shown.waiting
    assert (first.instance, first.workload, first.city) == ("web-home-dfw-0", "web", "DFW")
    assert first.needs == "1 instance, 1.5 vCPU, 2048 MiB of memory"
    assert second.needs == "1 instance, 1 vCPU, 2048 MiB of memory"
    assert second.why.startswith("The quota service has not answered")
    assert shown.rows[0].waiting == (
        WaitingAmount(instance="web-home-dfw-0", amount=1.5),
        WaitingAmount(instance="web-home-lhr-0", amount=1),
    )


def test_a_claim_of_another_namespace_is_not_that_of_the_instance():
    """A project has several namespaces, and a workload may have the same name in each."""
    claims = [claim("web-home-dfw-0", granted=False, namespace="ns-2")]

    own, other = sorted(
        view([], claims, of_city("DFW", waits="QuotaExceeded")).waiting, key=lambda w: w.needs
    )

    assert (own.needs, other.needs) == (
        "1 instance, 1 vCPU, 2048 MiB of memory", "1 instance, 1.5 vCPU, 2048 MiB of memory",
    )  # fmt: skip


def test_a_claim_whose_instance_is_not_seen_yet_waits_too():
    """Its city is in its name; a name with a hash shows none."""
    claims = [claim("web-home-lhr-2", granted=False), claim("web-0123456789-1", granted=False)]

    waiting = {each.instance: each for each in view([], claims).waiting}

    assert waiting["web-home-lhr-2"].city == "LHR"
    assert waiting["web-home-lhr-2"].workload == "web"
    assert waiting["web-0123456789-1"].city == ""


def test_what_is_being_deleted_or_was_never_asked_for_does_not_wait():
    """A new Instance has no condition yet."""
    leaving = of_city("DFW", waits="QuotaExceeded")
    meta = msgspec.structs.replace(leaving.metadata, deletion_timestamp=NOW)
    leaving = msgspec.structs.replace(leaving, metadata=meta)

    assert view([], [], leaving, instance(1)).waiting == ()


def test_the_oldest_waits_first():
    """As the quota service serves them."""
    old = claim("web-home-sin-0", granted=False)
    meta = msgspec.structs.replace(old.metadata, creation_timestamp=NOW - timedelta(hours=1))
    claims = [claim("web-home-dfw-0", granted=False), msgspec.structs.replace(old, metadata=meta)]

    shown = view([], claims)

    assert [each.instance for each in shown.waiting] == ["web-home-sin-0", "web-home-dfw-0"]


def test_cities_are_selected_and_limits_are_not():
    """The limits are those of the project."""
    claims = [claim("web-home-dfw-0"), claim("web-home-lhr-0", granted=False)]

    shown = view([bucket(quota.INSTANCES, 10, 1)], claims, cities=("LHR",))

    assert shown.cities == ()
    assert [each.city for each in shown.waiting] == ["LHR"]
    assert (shown.rows[0].used, shown.rows[0].cities) == (1, ())


def test_constrained_is_what_is_used_up_or_too_little():
    """Half a vCPU is too little for an Instance that needs one and a half."""
    buckets = [
        bucket(quota.INSTANCES, 10, 10),
        bucket(quota.VCPUS, 4000, 3500),
        bucket(quota.MEMORY, 9999, 1),
        bucket(GPUS, 0, 0),
    ]
    claims = [claim("web-home-dfw-0", granted=False)]

    rows = view(buckets, claims, constrained=True).rows

    assert [row.display_name for row in rows] == ["Instances", "vCPUs", "gpus"]
    assert rows[2].share == 1.0
