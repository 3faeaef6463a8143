"""Instances made from a template, and whether they still match it."""

import msgspec
import pytest

from compute.api import labels
from compute.api.instance_spec import (
    InstanceController,
    InstanceTemplate,
    LocationRef,
    SchedulingGate,
)
from compute.decide.deployment.template import (
    build_instance,
    controller_labels,
    matches,
    template_hash,
)
from kubekit.api.meta import OwnerReference, TemplateMeta
from tests.support.compute.builders import deployment
from tests.support.compute.rollout_builders import member

# A template with a map at every depth.
MAPS = msgspec.json.decode(
    """
    {"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}},
     "spec": {"networkInterfaces": [{"network": {"name": "default"}}],
              "runtime": {"resources": {"instanceType": "small", "requests": {"cpu": 1}},
                          "sandbox": {"containers": [{"name": "app", "image": "web",
                                                      "resources": {"limits": {"cpu": 1}}}]}},
              "volumes": [{"name": "data", "disk": {"template": {
                  "metadata": {"labels": {"a": "b"}},
                  "spec": {"resources": {"requests": {"storage": "10Gi"}}}}}}]}}
    """,
    type=InstanceTemplate,
)


def test_built_instance():
    """Labels of the template and ours, its annotations, its spec, our gates, the deployment's."""
    wd = deployment(image="registry.test/web:2")
    meta = TemplateMeta(labels={"app": "shop"}, annotations={"note": "kept"}, name="ignored")
    wd = msgspec.structs.replace(
        wd,
        spec=msgspec.structs.replace(
            wd.spec, template=msgspec.structs.replace(wd.spec.template, metadata=meta)
        ),
        status=msgspec.structs.replace(wd.status, location=LocationRef(name="dfw")),
    )

    got = build_instance(wd, 3, ("Network", "Quota"))

    assert (got.metadata.namespace, got.metadata.name) == ("ns-1", "web-home-dfw-3")
    assert got.metadata.labels == {"app": "shop"} | controller_labels(wd, 3)
    assert got.metadata.annotations == {"note": "kept"}
    assert got.spec == msgspec.structs.replace(
        wd.spec.template.spec,
        location=LocationRef(name="dfw"),
        controller=InstanceController(
            template_hash=template_hash(wd.spec.template),
            scheduling_gates=(SchedulingGate(name="Network"), SchedulingGate(name="Quota")),
        ),
    )
    assert got.metadata.owner_references == (
        OwnerReference(
            api_version="compute.datumapis.com/v1alpha",
            kind="WorkloadDeployment",
            name="web-home-dfw",
            uid="uid-wd",
            controller=True,
            block_owner_deletion=True,
        ),
    )


def test_instance_without_a_location():
    """A deployment that knows no Location yet makes Instances all the same."""
    assert build_instance(deployment(), 0, ()).spec.location is None


def test_controller_labels():
    """Seven labels, by which every plane finds the Instance and what it is a part of."""
    assert controller_labels(deployment(), 12) == {
        labels.INSTANCE_INDEX: "12",
        labels.WORKLOAD_UID: "uid-web",
        labels.WORKLOAD_NAME: "web",
        labels.DEPLOYMENT_UID: "uid-wd",
        labels.DEPLOYMENT_NAME: "web-home-dfw",
        labels.PLACEMENT_NAME: "home",
        labels.CITY_CODE: "DFW",
    }


def test_controller_labels_win():
    """A template cannot make an Instance pass for another's."""
    wd = deployment()
    forged = TemplateMeta(labels={labels.WORKLOAD_UID: "another"})
    made = msgspec.structs.replace(wd.spec.template, metadata=forged)
    wd = msgspec.structs.replace(wd, spec=msgspec.structs.replace(wd.spec, template=made))

    assert build_instance(wd, 0, ()).metadata.labels[labels.WORKLOAD_UID] == "uid-web"


def test_w44_instances_share_nothing_with_the_template():
    """Writing into a built Instance changes neither the template nor its sibling."""
    wd = deployment()
    wd = msgspec.structs.replace(wd, spec=msgspec.structs.replace(wd.spec, template=MAPS))
    first, second = build_instance(wd, 0, ()), build_instance(wd, 1, ())

    maps = [{id(m) for m in dicts_in(thing)} for thing in (wd, first, second)]

    assert not maps[0] & maps[1]
    assert not maps[1] & maps[2]


def dicts_in(value):
    """Every dict within an object, itself included."""
    if isinstance(value, dict):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from dicts_in(item)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from dicts_in(getattr(value, name))


@pytest.mark.parametrize(("stale", "expected"), [(False, True), (True, False)])
def test_an_instance_matches_the_template_it_was_made_from(stale, expected):
    """The recorded hash tells."""
    wd = deployment()

    assert matches(wd, member(wd, 0, stale=stale)) is expected


def test_an_instance_that_records_nothing_matches_nothing():
    """Without a controller block its template is unknown."""
    wd = deployment()
    made = member(wd, 0)
    bare = msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, controller=None))

    assert not matches(wd, bare)
