"""Which deployments and Instances belong to a Workload."""

from msgspec.structs import replace

from compute.api import labels
from compute.api.compute import WorkloadRef
from compute.views.reading import ProjectObjects
from tests.support.compute.builders import deployment, instance, workload

WEB, EDGE = workload("web"), workload("edge")
OF_WEB = deployment()
OF_EDGE = deployment(name="edge-home-dfw")
OF_EDGE = replace(
    OF_EDGE, spec=replace(OF_EDGE.spec, workload_ref=WorkloadRef(name="edge", uid="uid-edge"))
)


def of_edge(**meta):
    return instance(name="edge-home-dfw-0", labels=meta)


def parts(*instances, deployments=(OF_WEB, OF_EDGE)):
    """The names of the deployments and of the Instances, by Workload."""
    found = ProjectObjects((WEB, EDGE), deployments, instances).by_workload()
    return {
        uid: ([d.metadata.name for d in own.deployments], [i.metadata.name for i in own.instances])
        for uid, own in found.items()
    }


def test_each_workload_has_its_own_objects():
    """An Instance belongs to the Workload of its deployment."""
    assert parts(instance(0), instance(1), of_edge()) == {
        "uid-web": (["web-home-dfw"], ["web-home-dfw-0", "web-home-dfw-1"]),
        "uid-edge": (["edge-home-dfw"], ["edge-home-dfw-0"]),
    }


def test_an_instance_without_its_deployment_is_known_by_its_name():
    """The deployment is deleted before the projections of its Instances are."""
    assert parts(of_edge(), deployments=())["uid-edge"] == ([], ["edge-home-dfw-0"])


def test_an_instance_of_an_earlier_workload_of_the_name_is_left_out():
    """The uid that it records counts, not the name."""
    old = of_edge(**{labels.WORKLOAD_UID: "uid-of-old"})

    assert parts(old, deployments=())["uid-edge"] == ([], [])


def test_one_workload_alone():
    """The same for a Workload that is asked for."""
    own = ProjectObjects((WEB, EDGE), (OF_WEB, OF_EDGE), (instance(0), of_edge())).of(EDGE)

    assert own.workloads == (EDGE,)
    assert own.deployments == (OF_EDGE,)
    assert [i.metadata.name for i in own.instances] == ["edge-home-dfw-0"]
