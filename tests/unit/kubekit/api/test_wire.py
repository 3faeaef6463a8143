"""How objects read and write."""

import msgspec

from compute.api.compute import Instance, Workload, WorkloadStatus
from kubekit.api.meta import Condition, ObjectMeta
from kubekit.api.resource import Resource
from kubekit.api.wire import Rule
from tests.support.compute.builders import NOW, condition, instance, workload


def test_what_says_nothing_is_not_written():
    """Absent fields stay absent; kind, version and counters are always there."""
    got = msgspec.json.decode(msgspec.json.encode(WorkloadStatus()))

    assert got == {
        "currentReplicas": 0,
        "deployments": 0,
        "desiredReplicas": 0,
        "readyReplicas": 0,
        "replicas": 0,
        "updatedReplicas": 0,
    }
    assert msgspec.json.decode(msgspec.json.encode(workload()))["kind"] == "Workload"


def test_unknown_fields_are_passed_over():
    """A field of a newer release does not keep an older one from reading the object."""
    document = msgspec.to_builtins(workload())
    document["spec"]["newer"] = document["metadata"]["newer"] = {"a": 1}

    assert msgspec.convert(document, Workload) == workload()


def test_a_condition_always_says_why():
    """Reason and message are written even when empty, since the schema requires them."""
    wire = msgspec.json.encode(condition("Ready", "Unknown", reason="", message=""))

    assert wire == (
        b'{"type":"Ready","status":"Unknown","lastTransitionTime":"1970-01-01T00:00:00Z",'
        b'"reason":"","message":""}'
    )
    assert msgspec.json.decode(wire, type=Condition).observed_generation == 0


def test_deletion_shows():
    """An object is being deleted from the moment it carries the timestamp."""
    assert not instance().deleting
    assert Instance(metadata=ObjectMeta(deletion_timestamp=NOW), spec=instance().spec).deleting


def test_rules_add_up():
    """Of two rules on one field, the outer takes precedence."""
    inner, outer = Rule(format="int32", minimum=0), Rule(minimum=1, maximum=5)

    assert outer.over(inner) == Rule(format="int32", minimum=1, maximum=5)


def test_names_of_a_resource():
    """A resource knows how manifests, discovery and its CRD call it."""
    core = Resource(group="", version="v1", kind="Pod", plural="pods")

    assert core.api_version == "v1"
    assert Workload.RESOURCE.api_version == "compute.datumapis.com/v1alpha"
    assert Workload.RESOURCE.singular == "workload"
    assert Workload.RESOURCE.list_kind == "WorkloadList"
    assert Workload.RESOURCE.crd_name == "workloads.compute.datumapis.com"
