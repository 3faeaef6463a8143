"""Pins: templates that an undo restores in single cities."""

import json
from typing import Any

import pytest

from compute.api import annotations
from compute.api.compute import Workload
from compute.api.instance_spec import InstanceTemplate
from compute.decide import overrides
from compute.decide.deployment.template import restamped, template_hash, unstamped_hash
from compute.decide.overrides import CityPin, CityTemplates
from kubekit.api.meta import with_metadata, with_spec
from tests.support.compute.builders import placement, template, workload
from tests.support.compute.validation_builders import decoded, machine, sandbox

OLD, NEW = template("registry.test/web:1"), template("registry.test/web:2")
WEB = workload("web", placement("home", "DFW", "LHR"), template=NEW)
PINNED = overrides.pinned(WEB, {"LHR": (1, OLD)})
STAMP, LATER = "2026-06-01T12:00:00Z", "2026-06-01T13:00:00Z"


def entry(**changes: Any) -> dict[str, Any]:
    """The entry of LHR in the annotation, changed."""
    known = json.loads(PINNED.metadata.annotations[annotations.CITY_TEMPLATES])["LHR"]
    return {k: v for k, v in (known | changes).items() if v is not None}


def noted(value: object) -> Workload:
    text = value if isinstance(value, str) else json.dumps(value)
    return with_metadata(WEB, annotations={annotations.CITY_TEMPLATES: text})


def with_template(present: Workload, changed: InstanceTemplate) -> Workload:
    return with_spec(present, template=changed)


def test_a_pinned_city_has_its_own_template():
    """The others have that of the Workload."""
    templates = CityTemplates(PINNED)
    assert (templates.of("LHR"), templates.of("DFW")) == (OLD, NEW)
    assert templates.pin("LHR") == CityPin(revision=1, template=OLD, instead=unstamped_hash(NEW))
    assert templates.hash_of("LHR") == template_hash(OLD)
    assert templates.hash_of("DFW") == template_hash(NEW)
    assert (templates.is_pinned("LHR"), templates.is_pinned("DFW")) == (True, False)


def test_a_restart_does_not_end_a_pin():
    """The pinned city restarts with the others."""
    restarted = with_template(PINNED, restamped(NEW, STAMP))
    assert overrides.template_for(restarted, "LHR") == restamped(OLD, STAMP)


def test_a_pinned_template_never_goes_back_to_an_earlier_restart():
    """Its stamp is that of the Workload if that is later, else its own."""
    for own, of_pin in ((STAMP, LATER), (LATER, STAMP)):
        present = with_template(WEB, restamped(NEW, own))
        pinned = overrides.pinned(present, {"LHR": (1, restamped(OLD, of_pin))})
        assert overrides.template_for(pinned, "LHR") == restamped(OLD, LATER)


def test_a_pin_ends_when_the_template_changes():
    """The next change is for every city again. The entry stays until a client prunes it."""
    changed = with_template(PINNED, template("registry.test/web:3"))
    assert CityTemplates(changed).pin("LHR") is None
    assert overrides.template_for(changed, "LHR") == changed.spec.template
    assert overrides.pruned(changed).metadata.annotations == {}


def test_a_city_that_is_given_the_template_of_the_workload_is_not_pinned():
    """It runs what the others run, restarts aside."""
    for same in (NEW, restamped(NEW, STAMP)):
        assert overrides.pinned(PINNED, {"LHR": (2, same)}) == WEB


def test_other_pins_stay_while_they_hold():
    """Of those that do not hold, and of cities that the spec does not have, nothing is kept."""
    both = overrides.pinned(PINNED, {"DFW": (1, OLD), "NRT": (1, OLD)})
    assert set(json.loads(both.metadata.annotations[annotations.CITY_TEMPLATES])) == {"DFW", "LHR"}
    changed = with_template(both, template("registry.test/web:3"))
    again = overrides.pinned(changed, {"DFW": (1, OLD)})
    assert [CityTemplates(again).is_pinned(city) for city in ("DFW", "LHR")] == [True, False]


def test_a_pin_of_the_template_of_the_workload_pins_nothing():
    """Otherwise a later stamp in it would go away when a client prunes the pin, and restart the city."""
    same = CityPin(template=restamped(NEW, LATER), instead=unstamped_hash(NEW))
    present = noted(json.dumps({"LHR": {**entry(), "template": entry_of(same)}}))
    assert overrides.template_for(present, "LHR") == NEW
    assert not CityTemplates(present).is_pinned("LHR")
    assert overrides.template_for(overrides.pruned(present), "LHR") == NEW


def entry_of(pin: CityPin) -> dict[str, Any]:
    """The template of a pin as JSON."""
    written = overrides.pinned(workload("web", placement()), {"DFW": (1, pin.template)})
    found: dict[str, Any] = json.loads(written.metadata.annotations[annotations.CITY_TEMPLATES])
    return dict(found["DFW"]["template"])


@pytest.mark.parametrize("document", [sandbox(), machine()], ids=["sandbox", "machine"])
def test_a_template_is_read_as_it_was_written(document):
    """With every default filled in, so that the deployment does not differ after each write."""
    present = decoded(document)
    other = with_template(present, NEW)
    pinned = overrides.pinned(other, {"DFW": (1, present.spec.template)})
    assert overrides.template_for(pinned, "DFW") == present.spec.template


@pytest.mark.parametrize(
    "value",
    [
        "",
        "{",
        "null",
        "[]",
        "[" * 100_000,
        {"LHR": None},
        {"LHR": "text"},
        {"LHR": {}},
        {"LHR": entry(instead=None)},
        {"LHR": entry(instead="another")},
        {"LHR": entry(revision=-1)},
        {"LHR": entry(revision=2**63)},
        {"LHR": entry(revision=1.0)},
        {"LHR": entry(template={})},
        {"LHR": entry(template={"spec": {"runtime": {}}})},
        {"LHR": entry(template={**entry()["template"], "metadata": {"labels": {"a": 1}}})},
        {"lhr": entry()},
    ],
    ids=str,
)
def test_an_unreadable_pin_is_ignored(value):
    """It changes nothing, and stops nothing."""
    present = noted(value)
    assert overrides.template_for(present, "LHR") is present.spec.template
    assert CityTemplates(present).pin("LHR") is None
    assert overrides.pinned(present, {"DFW": (1, OLD)}) == overrides.pinned(WEB, {"DFW": (1, OLD)})


def test_a_pin_without_the_number_of_its_revision_holds():
    """The number is for users."""
    pin = CityTemplates(noted({"LHR": entry(revision=None)})).pin("LHR")
    assert pin is not None
    assert (pin.revision, pin.template) == (0, OLD)
