"""Sources: from a change of an object to requests."""

import logging

import msgspec
import pytest

from compute.api.compute import Workload
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret
from kubekit.api.meta import OwnerReference
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import ClusterName, Request
from kubekit.runtime.sources import Source, mapped, own, owned
from kubekit.runtime.watching.changes import CacheChange
from tests.support.kubekit.plane_builders import environment
from tests.support.kubekit.runtime_builders import A, B, secret

CLUSTERS = Clusters("project", environment())


def changed(old: Secret | None = None, new: Secret | None = None) -> CacheChange[Secret]:
    name = (new or old or secret("?")).metadata.name
    return CacheChange(A, "default", name, Secret, old=old, new=new)


def asked(source: Source[Secret], change: CacheChange[Secret]) -> list[Request]:
    return list(source.requests(change))


def reference(**more: object) -> OwnerReference:
    plain = OwnerReference(
        api_version="v1", kind="ConfigMap", name="parent", uid="1", controller=True
    )
    return msgspec.structs.replace(plain, **more)


def test_an_own_object_asks_for_itself():
    """A change of an object requests the object without decoding it."""
    unreadable = CacheChange(A, "default", "one", Secret, new=b"not JSON")

    assert asked(own(Secret, CLUSTERS), unreadable) == [Request(A, "default", "one")]


def test_an_owned_object_asks_for_its_controller():
    """Of all its owners, the one that controls it and is of the kind is asked for."""
    owners = (reference(controller=None, name="other"), reference(), reference(kind="Pod"))
    got = asked(owned(Secret, CLUSTERS, ConfigMap), changed(new=secret("child", owners)))

    assert got == [Request(A, "default", "parent")]


@pytest.mark.parametrize(
    ("api_version", "expected"),
    [
        ("compute.datumapis.com/v1alpha", 1),
        ("compute.datumapis.com/v9", 1),
        ("other.example.com/v1alpha", 0),
        ("v1alpha", 0),
    ],
)
def test_an_owner_is_known_by_group_and_kind(api_version, expected):
    """A reference written in another version is to the same kind; in another group it is not."""
    owner = reference(api_version=api_version, kind="Workload")
    got = asked(owned(Secret, CLUSTERS, Workload), changed(new=secret("child", [owner])))

    assert len(got) == expected


def test_an_owner_without_namespace_is_asked_for_without_one():
    """A kind that has no namespaces is not looked for in the child's."""
    owner = reference(kind="Namespace", name="default")
    got = asked(owned(Secret, CLUSTERS, Namespace), changed(new=secret("child", [owner])))

    assert got == [Request(A, "", "default")]


def test_both_the_old_and_the_new_object_ask():
    """An object that changes hands concerns the owner it leaves, and each of them once."""
    before = secret("child", [reference(name="first")])
    after = secret("child", [reference(name="second")])
    source = owned(Secret, CLUSTERS, ConfigMap)

    assert [r.name for r in asked(source, changed(before, after))] == ["first", "second"]
    assert [r.name for r in asked(source, changed(before, before))] == ["first"]
    assert [r.name for r in asked(source, changed(old=before))] == ["first"]


def test_trap_1_5_a_mapped_request_keeps_the_cluster_it_names():
    """A change seen in one cluster may ask for an object in another, and does not lose its name."""

    def to(_: ClusterName, obj: Secret) -> list[Request]:
        return [Request(B, "elsewhere", obj.metadata.name)]

    got = asked(mapped(Secret, CLUSTERS, to), changed(new=secret("one")))

    assert got == [Request(B, "elsewhere", "one")]


def test_trap_1_5_an_empty_cluster_name_cannot_be_mapped_to(caplog):
    """A mapping that leaves the cluster out asks for nothing, and the log says which object."""

    def to(_: ClusterName, obj: Secret) -> list[Request]:
        return [Request(ClusterName(""), "default", obj.metadata.name)]

    assert asked(mapped(Secret, CLUSTERS, to), changed(new=secret("one"))) == []
    assert caplog.records[0].object == "a/default/one"
    assert caplog.records[0].levelno == logging.ERROR


def test_an_object_that_cannot_be_mapped_stops_no_other(caplog):
    """When the old object cannot be mapped, the new one still asks."""

    def to(cluster: ClusterName, obj: Secret) -> list[Request]:
        return [Request(cluster, "default", obj.metadata.labels["for"])]

    bad = secret("one")
    labels = msgspec.structs.replace(bad.metadata, labels={"for": "parent"})
    good = msgspec.structs.replace(bad, metadata=labels)
    got = asked(mapped(Secret, CLUSTERS, to), changed(bad, good))

    assert [request.name for request in got] == ["parent"]
    assert len(caplog.records) == 1
