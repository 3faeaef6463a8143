"""Pauses of a whole Workload and of single cities."""

import pytest

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide import overrides
from compute.decide.overrides import city_pauses
from kubekit.api.meta import with_metadata
from tests.support.compute.builders import placement, workload

WEB = workload("web", placement("home", "DFW", "LHR"), placement("away", "LHR", "SIN"))


def noted(paused: str | None = None, cities: str | None = None) -> Workload:
    known = {annotations.PAUSED: paused, annotations.PAUSED_CITIES: cities}
    return with_metadata(WEB, annotations={k: v for k, v in known.items() if v is not None})


@pytest.mark.parametrize(
    ("present", "paused"),
    [
        (noted(), ()),
        (noted("false"), ()),
        (noted("true"), ("DFW", "LHR", "SIN")),
        (noted("true", "LHR"), ("DFW", "LHR", "SIN")),
        (noted("false", "LHR"), ("LHR",)),
        (noted(None, " SIN , DFW,,DFW"), ("DFW", "SIN")),
        (noted(None, "NRT,lhr"), ()),
    ],
)
def test_which_cities_are_paused(present, paused):
    """Each city of the spec once, in its order; others in the annotation do not count."""
    assert overrides.paused_cities(present) == paused
    assert tuple(c for c in ("DFW", "LHR", "SIN") if overrides.is_paused(present, c)) == paused


def test_a_pause_without_cities_is_of_the_whole_workload():
    """So cities that are added later are paused too, and no city is named."""
    assert overrides.paused(noted(None, "LHR")) == noted("true")


def test_a_pause_of_cities_adds_to_those_that_are_paused():
    """What the spec does not have is not written."""
    assert overrides.paused(noted("false", "SIN,NRT"), ("DFW", "OSL")) == noted(None, "DFW,SIN")


@pytest.mark.parametrize("cities", [(), ("LHR",)])
def test_a_workload_that_is_paused_as_a_whole_stays_as_it_is(cities):
    """A pause of one of its cities would end the pause of cities that are added later."""
    assert overrides.paused(noted("true"), cities) == noted("true")


def test_a_resume_of_one_city_keeps_the_others_paused_by_name():
    """Also where the whole Workload was paused before."""
    assert overrides.resumed(noted("true"), ("LHR",)) == noted(None, "DFW,SIN")
    assert overrides.resumed(noted(None, "DFW,LHR"), ("LHR",)) == noted(None, "DFW")
    assert overrides.resumed(noted(None, "LHR"), ("LHR",)) == noted()


@pytest.mark.parametrize("present", [noted("true", "LHR"), noted(None, "LHR"), noted()])
def test_a_resume_without_cities_ends_every_pause(present):
    """No city stays paused."""
    assert overrides.resumed(present) == noted()


def test_a_city_that_left_and_returns_is_still_paused():
    """The annotation is the user's: the spec alone does not change it. A client may prune it."""
    gone = workload("web", placement("home", "DFW"))
    gone = with_metadata(gone, annotations={annotations.PAUSED_CITIES: "LHR"})
    assert overrides.paused_cities(gone) == ()
    assert city_pauses.named(gone) == ("LHR",)
    assert overrides.paused_cities(noted(None, "LHR")) == ("LHR",)
    assert overrides.pruned(gone).metadata.annotations == {}
