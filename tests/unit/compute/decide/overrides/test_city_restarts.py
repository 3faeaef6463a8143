"""Restarts of a Workload and of single cities."""

import json

import pytest

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide import overrides
from compute.decide.deployment.template import restamped, restart_stamp
from compute.decide.overrides import CityTemplates
from kubekit.api.meta import with_metadata, with_spec
from tests.support.compute.builders import NOW, placement, template, workload

WEB = workload("web", placement("home", "DFW", "LHR", "SIN"))
AT_NOON = "2026-06-01T12:00:00Z"
A_SECOND_LATER = "2026-06-01T12:00:01Z"


def stamps_of(present: Workload) -> dict[str, str]:
    templates = CityTemplates(present)
    return {city: restart_stamp(templates.of(city)) for city in ("DFW", "LHR", "SIN")}


def noted(text: str, stamp: str | None = None) -> Workload:
    stamped = with_spec(WEB, template=restamped(WEB.spec.template, stamp))
    return with_metadata(stamped, annotations={annotations.RESTARTED_CITIES: text})


def test_a_restart_of_a_city_is_a_stamp_of_that_city():
    """The spec stays as it is, so it is no new revision."""
    got = overrides.restarted(WEB, ("LHR",), NOW)
    assert got.spec == WEB.spec
    assert got.metadata.annotations == {annotations.RESTARTED_CITIES: f'{{"LHR":"{AT_NOON}"}}'}
    assert stamps_of(got) == {"DFW": "", "LHR": AT_NOON, "SIN": ""}


def test_a_restart_of_all_replaces_the_stamps_of_cities():
    """The stamp of the template is later than all of them."""
    got = overrides.restarted(overrides.restarted(WEB, ("LHR",), NOW), (), NOW)
    assert got.metadata.annotations == {}
    assert set(stamps_of(got).values()) == {A_SECOND_LATER}


def test_a_restart_of_a_city_is_later_than_one_of_all():
    """A stamp that is older than that of the template would restart nothing."""
    got = overrides.restarted(overrides.restarted(WEB, (), NOW), ("DFW",), NOW)
    assert stamps_of(got) == {"DFW": A_SECOND_LATER, "LHR": AT_NOON, "SIN": AT_NOON}


def test_restarts_of_several_cities_are_kept_side_by_side():
    """Entries of cities that the spec does not have, and unreadable ones, are dropped."""
    known = {"DFW": AT_NOON, "NRT": AT_NOON, "SIN": "soon"}
    got = overrides.restarted(noted(json.dumps(known)), ("LHR", "OSL"), NOW)
    assert json.loads(got.metadata.annotations[annotations.RESTARTED_CITIES]) == {
        "DFW": AT_NOON,
        "LHR": AT_NOON,
    }


@pytest.mark.parametrize("text", ["", "[]", '{"LHR":1}', '{"LHR":"soon"}', "{"])
@pytest.mark.parametrize("stamp", [None, "soon", AT_NOON])
def test_an_unreadable_stamp_is_ignored(text, stamp):
    """The city has the template of the Workload, also where its own stamp is unreadable."""
    present = noted(text, stamp)
    assert overrides.template_for(present, "LHR") is present.spec.template


def test_an_older_stamp_of_a_city_is_ignored():
    """The later restart was of all cities."""
    present = noted('{"LHR":"2026-05-01T12:00:00Z"}', AT_NOON)
    assert overrides.template_for(present, "LHR") is present.spec.template


def test_a_restart_of_a_pinned_city_keeps_its_pin():
    """Its own template is stamped."""
    old = template("registry.test/web:0")
    got = overrides.restarted(overrides.pinned(WEB, {"LHR": (1, old)}), ("LHR",), NOW)
    assert overrides.template_for(got, "LHR") == restamped(old, AT_NOON)


def test_a_restart_of_all_restarts_a_pinned_city_too():
    """Without an end of its pin, also where the pinned template was restarted later than others."""
    old = restamped(template("registry.test/web:0"), A_SECOND_LATER)
    pinned = overrides.pinned(WEB, {"LHR": (1, old)})
    got = overrides.restarted(pinned, (), NOW)
    assert overrides.template_for(got, "LHR") == restamped(old, "2026-06-01T12:00:02Z")
