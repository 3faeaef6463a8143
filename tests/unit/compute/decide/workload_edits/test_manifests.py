"""Objects as a file asks for them."""

from compute.api import annotations
from compute.api.networking import Network, NetworkIPAM, NetworkSpec
from compute.decide.workload_edits.manifests import bare, new, rank, updated
from kubekit.api.kinds.core import Namespace, Secret
from kubekit.api.meta import ObjectMeta, with_metadata
from tests.support.compute.builders import NOW, placement, template, workload

FIELDS = ("apiVersion", "kind", "metadata", "spec")
STAMP = {annotations.RESTARTED_AT: "2026-06-01T12:00:00Z"}


def test_a_new_object_has_nothing_that_a_server_writes():
    """A file may have been read from a server."""
    read = with_metadata(
        workload(), namespace="", resource_version="7", creation_timestamp=NOW, labels={"a": "b"}
    )
    made = new(read, "shop")

    assert made.metadata == ObjectMeta(name="web", namespace="shop", labels={"a": "b"})
    assert new(Namespace(metadata=ObjectMeta(name="shop")), "x").metadata == ObjectMeta(name="shop")


def test_a_file_decides_on_the_spec():
    """What it does not name has its default again, but a restart is not undone."""
    existing = workload(
        "web",
        placement(replicas=3, instance_management_policy="Parallel"),
        template=template(annotations=STAMP),
    )
    existing = with_metadata(
        existing, annotations={annotations.PAUSED_CITIES: "DFW"}, labels={"x": "1"}
    )
    wanted = with_metadata(workload(template=template("web:2")), labels={"y": "2"})
    after = updated(existing, wanted, FIELDS)

    assert after.spec == workload(template=template("web:2", annotations=STAMP)).spec
    assert after.metadata.annotations == {annotations.PAUSED_CITIES: "DFW"}
    assert after.metadata.labels == {"x": "1", "y": "2"}
    assert after.metadata.uid == "uid-web"


def test_a_file_may_name_its_own_restart():
    """Then its stamp is the one that counts."""
    later = {annotations.RESTARTED_AT: "2026-07-01T12:00:00Z"}
    existing = workload(template=template(annotations=STAMP))
    after = updated(existing, workload(template=template(annotations=later)), FIELDS)

    assert after.spec.template.metadata.annotations == later


def test_a_file_without_a_change_is_the_existing_object():
    """The same object is the sign that there is nothing to write. An empty policy is the default one."""
    existing = workload()
    same = workload("web", placement(instance_management_policy=""))

    assert updated(existing, with_metadata(same, uid="", generation=0), FIELDS) is existing


def test_a_secret_in_plain_text_is_compared_with_what_is_stored():
    """Its type stays if the file has none."""
    meta = ObjectMeta(name="db", namespace="default", uid="1")
    existing = Secret(metadata=meta, data={"user": "am8="}, type="Opaque")
    plain = Secret(metadata=ObjectMeta(name="db"), string_data={"user": "jo"})
    other = Secret(metadata=ObjectMeta(name="db"), string_data={"user": "al"})
    fields = ("apiVersion", "kind", "metadata", "stringData")

    assert updated(existing, plain, fields) is existing
    assert updated(existing, other, fields).data == {"user": "YWw="}
    assert updated(existing, other, fields).type == "Opaque"


def test_other_kinds_are_merged_alike():
    """The status is the server's."""
    existing = Network(
        metadata=ObjectMeta(name="lab", uid="1"), spec=NetworkSpec(ipam=NetworkIPAM(mode="Auto"))
    )
    wanted = Network(
        metadata=ObjectMeta(name="lab"), spec=NetworkSpec(ipam=NetworkIPAM(mode="Auto"), mtu=1400)
    )

    after = updated(existing, wanted, FIELDS)
    assert (after.spec.mtu, after.metadata.uid) == (1400, "1")


def test_what_others_refer_to_is_written_first():
    """A kind without a rule comes before Workloads."""
    kinds = ["Workload", "Role", "ConfigMap", "Network", "Namespace", "Secret"]

    assert sorted(kinds, key=rank) == [
        "Namespace",
        "Secret",
        "ConfigMap",
        "Network",
        "Role",
        "Workload",
    ]


def test_a_file_of_a_workload_has_nothing_of_the_server():
    """It can be created again somewhere else. Restarts and notes are of the past."""
    read = with_metadata(
        workload(template=template(annotations=STAMP)),
        resource_version="7",
        finalizers=("compute",),
        annotations={annotations.REVISION_NOTE: "{}", annotations.MAX_UNAVAILABLE: "2"},
    )
    document = bare(read)

    assert document["metadata"] == {
        "name": "web",
        "namespace": "default",
        "annotations": {annotations.MAX_UNAVAILABLE: "2"},
    }
    assert list(document) == ["apiVersion", "kind", "metadata", "spec"]
    assert "restartedAt" not in str(document)
