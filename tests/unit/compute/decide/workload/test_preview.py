"""What a manifest would make, before anything is made."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api import names
from compute.api.compute import Placement
from compute.decide.workload.placement import Unmatched
from compute.decide.workload.preview import Need, Planned, preview
from tests.support.compute.builders import placement, workload


def document(*placements: Placement) -> dict[str, Any]:
    """A Workload as its author writes it."""
    wire = msgspec.json.encode(workload("web", *placements))
    manifest: dict[str, Any] = msgspec.json.decode(wire)
    return manifest | {"metadata": {"name": "web"}}


def test_shows_deployments_instances_and_quota_in_order_of_the_spec():
    """Every city shows its deployment, its instances as they start, and what they cost."""
    got = preview(document(placement("b", "LHR", replicas=2), placement("a", "DFW")))

    assert got.errors == ()
    assert (got.workload, got.namespace) == ("web", "default")
    assert got.deployments == (
        Planned("b", "LHR", "web-b-lhr", "OrderedReady", Need(2, 2000, 4096)),
        Planned("a", "DFW", "web-a-dfw", "OrderedReady", Need(1, 1000, 2048)),
    )
    assert got.deployments[0].instances == ("web-b-lhr-0", "web-b-lhr-1")
    assert got.need == Need(3, 3000, 6144)


def test_a_city_that_is_not_offered_is_an_error_and_makes_nothing():
    """With the project's cities given, others are refused and shown."""
    got = preview(document(placement("a", "DFW", "XXX")), ["DFW", "LHR"])

    assert [d.city for d in got.deployments] == ["DFW"]
    assert got.unmatched == (Unmatched("a", "XXX"),)
    assert [e.path for e in got.errors] == ["spec.placements[0].cityCodes[1]"]


def test_a_size_that_is_not_known_counts_the_instances():
    """An unknown instance type is an error; what can be counted still is."""
    manifest = document()
    manifest["spec"]["template"]["spec"]["runtime"]["resources"]["instanceType"] = "huge"
    got = preview(manifest)

    assert got.need == Need(1, 0, 0)
    assert got.errors != ()


def test_the_quota_is_that_of_the_corrected_manifest():
    """Limits that admission refuses are not added up; what the author meant is."""
    manifest = document(placement("a", "DWF", "dfw", replicas=2))
    containers = manifest["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"]
    containers[0]["resources"] = {"limits": {"cpu": "8", "memory": "9Gi"}}
    got = preview(manifest, ["DFW", "LHR"])

    assert [(d.city, d.need) for d in got.deployments] == [("DFW", Need(2, 2000, 4096))]
    assert got.unmatched == (Unmatched("a", "DWF"), Unmatched("a", "dfw"))
    assert not got.is_least


def test_a_quota_that_the_errors_leave_open_is_the_least():
    """A number that is refused is not replaced by a guess."""
    got = preview(document(placement("a", "DFW", replicas=0), placement("b", "LHR")))

    assert got.is_least
    assert got.need == Need(1, 1000, 2048)


def test_a_manifest_that_cannot_be_read_shows_its_errors():
    """Without a readable Workload, the errors are all there is."""
    got = preview(
        {"apiVersion": "compute.datumapis.com/v1alpha", "kind": "Workload", "metadata": 7}
    )

    assert (got.workload, got.namespace, got.deployments) == ("", "default", ())
    assert {e.path for e in got.errors} >= {"metadata", "spec"}


@pytest.mark.parametrize("replicas", [-3, 0, 1001, 2**31 - 1])
def test_numbers_out_of_bounds_plan_nothing(replicas):
    """A count that is refused costs neither time nor memory to show."""
    got = preview(document(placement("a", "DFW", replicas=replicas)))

    assert [len(d.instances) for d in got.deployments] == [0]
    assert [e.path for e in got.errors] == ["spec.placements[0].scaleSettings.minReplicas"]


def test_a_name_left_empty_is_no_name():
    """A key without a value is the same as no key."""
    got = preview(document() | {"metadata": {"name": None, "namespace": None}})

    assert (got.workload, got.namespace) == ("", "default")


CITIES = st.lists(st.sampled_from(["DFW", "LHR", "NRT"]), min_size=1, max_size=3, unique=True)


@given(st.lists(st.tuples(CITIES, st.integers(1, 5)), min_size=1, max_size=3))
def test_the_total_is_the_sum_of_the_parts(shapes):
    """Whatever the placements, the need is that of every instance, each named once."""
    placements = [placement(f"p{i}", *cities, replicas=n) for i, (cities, n) in enumerate(shapes)]
    got = preview(document(*placements))
    instances = [name for d in got.deployments for name in d.instances]

    assert got.errors == ()
    assert len(set(instances)) == len(instances) == got.need.instances
    assert got.need.instances == sum(len(cities) * n for cities, n in shapes)
    assert got.need == Need(len(instances), 1000 * len(instances), 2048 * len(instances))


def test_the_plan_names_what_the_controller_makes():
    """The names are those that the controllers derive, and no others."""
    got = preview(document(placement("us-east", "DFW")))

    assert got.deployments[0].deployment == names.deployment("web", "us-east", "DFW")
