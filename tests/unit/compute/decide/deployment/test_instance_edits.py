"""What was changed by hand in an Instance is seen, named, and put back."""

import msgspec
import pytest

from compute.api.compute import Instance
from compute.api.instance_spec import LocationRef
from compute.decide.deployment.instance_edits import HashedTemplate, is_edited, report_of, restored
from compute.decide.deployment.template import build_instance
from kubekit.api.kinds.value_sources import EnvVar
from tests.support.compute.builders import condition, deployment, template
from tests.support.compute.federation_builders import with_meta

WD = deployment(1)
MADE = build_instance(WD, 0, ("Network", "Quota"))
ORIGIN = HashedTemplate(WD.spec.template)
assert MADE.spec.controller is not None
CONTROLLER = MADE.spec.controller


def with_spec(**changes) -> Instance:
    return msgspec.structs.replace(MADE, spec=msgspec.structs.replace(MADE.spec, **changes))


def with_container(**changes) -> Instance:
    runtime = MADE.spec.runtime
    sandbox = runtime.sandbox
    assert sandbox is not None
    (container,) = sandbox.containers
    edited = (msgspec.structs.replace(container, **changes),)
    sandbox = msgspec.structs.replace(sandbox, containers=edited)
    return with_spec(runtime=msgspec.structs.replace(runtime, sandbox=sandbox))


def test_an_instance_is_as_its_template_says():
    """As made, it is left alone."""
    assert not is_edited(MADE, ORIGIN)
    assert restored(MADE, ORIGIN) is MADE


def test_what_the_system_writes_is_no_edit():
    """Its location is found out, and its gates open one by one."""
    controller = msgspec.structs.replace(CONTROLLER, scheduling_gates=())
    opened = with_spec(controller=controller, location=LocationRef(name="lab", namespace=""))
    assert not is_edited(opened, ORIGIN)


def test_what_is_only_spelt_in_another_way_is_no_edit():
    """An amount is the same however it is written."""

    def asking(cpu: str) -> Instance:
        runtime = MADE.spec.runtime
        resources = msgspec.structs.replace(runtime.resources, requests={"cpu": cpu})
        return with_spec(runtime=msgspec.structs.replace(runtime, resources=resources))

    asked = msgspec.structs.replace(WD.spec.template, spec=asking("1").spec)
    origin = HashedTemplate(asked)
    controller = msgspec.structs.replace(CONTROLLER, template_hash=origin.hash)
    same = asking("1000m")
    same = msgspec.structs.replace(
        same, spec=msgspec.structs.replace(same.spec, controller=controller)
    )
    assert same.spec.runtime != origin.template.spec.runtime
    assert not is_edited(same, origin)
    more = asking("1500m")
    assert is_edited(
        msgspec.structs.replace(
            more, spec=msgspec.structs.replace(more.spec, controller=controller)
        ),
        origin,
    )


EDITS = {
    "image": (with_container(image="other:1"), "spec.runtime.sandbox.containers[app].image"),
    "env": (
        with_container(env=(EnvVar(name="A", value="secret"),)),
        "spec.runtime.sandbox.containers[app].env[A].name, "
        "spec.runtime.sandbox.containers[app].env[A].value",
    ),
    "many": (
        with_container(env=tuple(EnvVar(name=name, value="1") for name in "ABC")),
        "spec.runtime.sandbox.containers[app].env[A].name, "
        "spec.runtime.sandbox.containers[app].env[A].value, "
        "spec.runtime.sandbox.containers[app].env[B].name and 3 more",
    ),
    "networks": (
        with_spec(network_interfaces=()),
        "spec.networkInterfaces, spec.networkInterfaces[0].network.name",
    ),
}


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_is_named_and_put_back(case):
    """By its field, without the value; all else of the Instance stays."""
    edited, fields = EDITS[case]
    assert is_edited(edited, ORIGIN)
    assert report_of(edited, ORIGIN) == (
        f"{fields} was changed by hand and is restored to the template: change the Workload instead"
    )
    assert restored(edited, ORIGIN) == MADE


def test_an_instance_of_an_earlier_template_is_not_compared():
    """It is replaced by the rollout, not put back to what it never was."""
    changed = HashedTemplate(template("other:2"))
    assert not is_edited(MADE, changed)


@pytest.mark.parametrize(
    ("status", "generation", "taken"),
    [("True", 3, True), ("True", 2, False), ("False", 3, False), (None, 3, False)],
)
def test_a_provider_has_taken_up_what_it_reports_of(status, generation, taken):
    """Then the report says how to replace it; what it reported before the edit says nothing of it."""
    edited = with_meta(with_container(image="other:1"), generation=3)
    conditions = (condition("Programmed", status, generation=generation),) if status else ()
    known = msgspec.structs.replace(edited.status, conditions=conditions)
    note = report_of(msgspec.structs.replace(edited, status=known), ORIGIN)
    assert note.endswith("kubectl delete instance web-home-dfw-0 -n ns-1") is taken
