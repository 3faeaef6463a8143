"""A scaling as users read it."""

from compute.api.compute import Metric, MetricTarget, ResourceMetric
from compute.api.quota import AllowanceBucket, AllowanceBucketSpec, AllowanceBucketStatus, ObjectRef
from compute.decide.quota.claims import INSTANCES, MEMORY, VCPUS
from compute.views.scales import CityScaleView, scaling_view
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import placement, workload


def test_each_city_before_and_after():
    """With the quota that is needed besides; fewer Instances need none."""
    before = workload("web", placement("home", "DFW"), placement("away", "SIN", replicas=3))
    after = workload("web", placement("home", "DFW", replicas=2), placement("away", "SIN"))
    view = scaling_view(before, after, written=False)

    assert [(c.placement, c.city, c.before.minimum, c.after.minimum) for c in view.cities] == [
        ("home", "DFW", 1, 2),
        ("away", "SIN", 3, 1),
    ]
    first, second = view.cities
    assert (first.added_instances, first.added_vcpu_millicores) == (1, 1000)
    assert first.added_memory_mebibytes == 2048
    assert (second.added_instances, second.added_memory_mebibytes) == (0, 0)
    assert view.changes
    assert not scaling_view(after, after, written=False).changes


def test_scaling_by_load():
    """The load is that of the CPU; another kind of target has no percentage."""
    target = MetricTarget(average_utilization=70)
    by_load = Metric(resource=ResourceMetric(name="cpu", target=target))
    other = Metric(resource=ResourceMetric(name="cpu", target=MetricTarget(value="2")))
    before = workload("web", placement("home", max_replicas=5, metrics=(Metric(), other)))
    after = workload("web", placement("home", max_replicas=9, metrics=(by_load,)))
    (city,) = scaling_view(before, after, written=True).cities

    assert city.before == CityScaleView(minimum=1, maximum=5, cpu_percent=None)
    assert city.after == CityScaleView(minimum=1, maximum=9, cpu_percent=70)
    assert city.changes


def test_too_little_quota():
    """What the workload has already counts for it."""
    buckets = tuple(
        AllowanceBucket(
            metadata=ObjectMeta(name=kind, namespace="milo-system"),
            spec=AllowanceBucketSpec(
                consumer_ref=ObjectRef(kind="Project", name="shop"), resource_type=kind
            ),
            status=AllowanceBucketStatus(available=left),
        )
        for kind, left in ((INSTANCES, 2), (VCPUS, 9000), (MEMORY, 9000))
    )
    before = workload("web", placement("home"))
    fits, not_fits = (workload("web", placement("home", replicas=n)) for n in (3, 4))

    assert scaling_view(before, fits, buckets, written=False).shortage == ""
    assert "try --min 3" in scaling_view(before, not_fits, buckets, written=False).shortage
