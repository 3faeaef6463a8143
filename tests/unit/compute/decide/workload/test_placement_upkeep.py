"""Deployments that were changed by others, or that cannot get what they need."""

import msgspec

from compute.api import annotations
from compute.api.compute import WorkloadDeployment, WorkloadSpec
from compute.api.instance_spec import InstanceTemplate, NetworkInterface, NetworkRef
from compute.decide import overrides
from compute.decide.networking.network_use import Lack
from compute.decide.workload import placement as subject
from compute.decide.workload.placement import Split
from kubekit.api.meta import OwnerReference
from tests.support.compute.builders import NOW, placement, template, workload
from tests.support.compute.federation_builders import with_meta

WEB = workload("web", placement("a", "DFW", "LHR"))
OFFERED = {"DFW", "LHR", "NRT"}
NEWER = template("registry.test/web:2")
ELSEWHERE = msgspec.structs.replace(
    NEWER,
    spec=msgspec.structs.replace(
        NEWER.spec, network_interfaces=(NetworkInterface(network=NetworkRef(name="other")),)
    ),
)
STRANGER = OwnerReference(api_version="v1", kind="ConfigMap", name="x", uid="x")


def with_template(spec: WorkloadSpec, template: InstanceTemplate) -> WorkloadSpec:
    return msgspec.structs.replace(spec, template=template)


def made() -> tuple[WorkloadDeployment, ...]:
    return subject.split(WEB, (), OFFERED, NOW).create


def resplit(*there: WorkloadDeployment, **spec: object) -> Split:
    """The split of the Workload, its spec changed, with these deployments there."""
    changed = msgspec.structs.replace(WEB, spec=msgspec.structs.replace(WEB.spec, **spec))
    return subject.split(changed, there, OFFERED, NOW)


def test_an_owner_that_was_taken_off_comes_back():
    """Without it the deployment would outlive its Workload. Other owners stay."""
    first, second = made()
    ours = first.metadata.owner_references
    (update,) = resplit(with_meta(first, owner_references=(STRANGER,)), second).update
    assert update.desired.metadata.owner_references == (STRANGER, *ours)


def test_only_the_workload_is_in_control():
    """An object has one controller at most, so another's claim makes way."""
    first, second = made()
    usurper = msgspec.structs.replace(STRANGER, controller=True)
    weak = msgspec.structs.replace(first.metadata.owner_references[0], controller=None)
    (update,) = resplit(with_meta(first, owner_references=(usurper, weak)), second).update
    assert update.desired.metadata.owner_references == first.metadata.owner_references


DEFAULT = frozenset({("default", "default")})
MISSING = Lack(missing=DEFAULT)
TERMINATING = Lack(terminating=DEFAULT)


def test_while_a_network_is_being_deleted_only_what_is_attached_rolls():
    """Deployments whose template names it take a new one; no other deployment is made."""
    more = (placement("a", "DFW", "LHR", "NRT"),)
    got = subject.withheld(resplit(*made(), template=NEWER, placements=more), TERMINATING)
    assert got.create == ()
    assert [d.metadata.name for d in got.withheld] == ["web-a-nrt"]
    assert [u.desired.spec.template for u in got.update] == [NEWER, NEWER]


def test_a_template_that_comes_to_a_network_that_is_being_deleted_is_held_back():
    """A deployment that does not name it is not attached to it."""
    other = Lack(terminating=frozenset({("default", "other")}))
    got = subject.withheld(resplit(*made(), template=ELSEWHERE), other)
    assert got.update == ()
    assert got.keep == made()


def test_a_city_whose_template_does_not_name_the_network_is_not_held_back():
    """A city that is pinned to a template without the missing network is created and updated."""
    elsewhere = msgspec.structs.replace(WEB, spec=with_template(WEB.spec, ELSEWHERE))
    pinned = overrides.pinned(elsewhere, {"DFW": (1, NEWER)})
    missing = Lack(missing=frozenset({("default", "other")}))
    fresh = subject.withheld(subject.split(pinned, (), OFFERED, NOW), missing)
    assert [d.metadata.name for d in fresh.create] == ["web-a-dfw"]
    assert [d.metadata.name for d in fresh.withheld] == ["web-a-lhr"]
    got = subject.withheld(subject.split(pinned, made(), OFFERED, NOW), missing)
    assert [u.desired.spec.template for u in got.update] == [NEWER]
    assert [d.metadata.name for d in got.keep] == ["web-a-lhr"]


def test_while_a_network_is_missing_nothing_is_created():
    """No deployment is made, and those that are there keep their template."""
    more = (placement("a", "DFW", "LHR", "NRT"),)
    got = subject.withheld(resplit(*made(), template=NEWER, placements=more), MISSING)
    assert got.create == ()
    assert got.update == ()
    assert got.keep == made()


def test_while_a_network_is_missing_numbers_change_and_places_are_cleared():
    """Neither needs the network."""
    more = (placement("a", "DFW", replicas=7),)
    got = subject.withheld(resplit(*made(), template=NEWER, placements=more), MISSING)
    (update,) = got.update
    assert update.desired.spec.scale_settings.min_replicas == 7
    assert update.desired.spec.template == WEB.spec.template
    assert [d.metadata.name for d in got.delete] == ["web-a-lhr"]


def test_a_paused_city_keeps_its_template_while_the_others_get_the_new_one():
    """Its deployment inherits the pause, so that the cell holds back what it has not rolled yet."""
    newer = msgspec.structs.replace(WEB, spec=with_template(WEB.spec, NEWER))
    got = subject.split(overrides.paused(newer, ("LHR",)), made(), OFFERED, NOW)
    assert {
        u.desired.spec.city_code: (u.desired.spec.template, u.desired.metadata.annotations)
        for u in got.update
    } == {
        "DFW": (NEWER, {}),
        "LHR": (WEB.spec.template, {annotations.PAUSED: "true"}),
    }


def test_a_pause_of_a_city_that_the_spec_no_longer_has_changes_no_deployment():
    """It neither pauses the others, nor keeps the city."""
    present = overrides.paused(WEB, ("LHR",))
    shrunk = msgspec.structs.replace(
        present, spec=msgspec.structs.replace(WEB.spec, placements=(placement("a", "DFW"),))
    )
    got = subject.split(shrunk, made(), OFFERED, NOW)
    assert [d.metadata.annotations for d in got.keep if d.spec.city_code == "DFW"] == [{}]
    gone = subject.split(shrunk, made()[:1], OFFERED, NOW)
    assert (gone.keep, gone.update, gone.create) == (made()[:1], (), ())


def test_a_request_reaches_only_the_deployment_of_its_instance_and_ends_with_it():
    """The absence of requests is copied too, and annotations of others stay."""
    asked = overrides.replaced(WEB, ("web-a-lhr-0",), NOW)
    noted = tuple(with_meta(d, annotations={"example.com/theirs": "x"}) for d in made())
    (update,) = subject.split(asked, noted, OFFERED, NOW).update
    text = '{"web-a-lhr-0":"2026-06-01T12:00:00Z"}'
    assert update.desired.metadata.annotations == {
        "example.com/theirs": "x",
        annotations.REPLACED_INSTANCES: text,
    }
    there = (noted[0], update.desired)
    assert subject.split(asked, there, OFFERED, NOW).update == ()
    (ended,) = subject.split(WEB, there, OFFERED, NOW).update
    assert ended.desired.metadata.annotations == {"example.com/theirs": "x"}
