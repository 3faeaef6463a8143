"""Codes of cities that a user types."""

import pytest

from compute.api.cities import CITIES
from compute.decide import city_codes


@pytest.mark.parametrize("code", ["DFW", "LHR", "SIN"])
def test_a_known_code_has_no_fault(code):
    """It is the code of an airport of the city."""
    assert city_codes.fault(code) is None


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ("DFX", "DFW (Dallas)"),
        ("dfw", "DFW (Dallas)"),
        ("DWF", "DFW (Dallas)"),
        ("DFWW", "DFW (Dallas)"),
        ("LHX", "LAX (Los Angeles)"),
        ("NRT", "HND (Tokyo)"),
        ("lgw", "LHR (London)"),
        ("LONDON", "LHR (London)"),
        ("Sao Paulo", "GRU (São Paulo)"),
    ],
)
def test_an_unknown_code_is_refused_with_the_nearest(code, meant):
    """A slip in the code, its case, or the name of the city."""
    why = city_codes.fault(code)
    assert why == f"no city has the code '{code}'; did you mean {meant}?"


@pytest.mark.parametrize("code", ["QQQ", "TOOLONG", "", "X" * 100_000])
def test_what_is_like_no_city_is_refused_with_an_example(code):
    """Whatever its length."""
    why = city_codes.fault(code)
    assert why is not None
    assert why.endswith(
        "; the 222 known cities have the code of one airport each, such as DFW, LHR or SIN; "
        "for the name of a city, its code is suggested"
    )
    assert len(why) < 300


def test_a_further_airport_is_that_of_a_known_city():
    """And has no city of its own."""
    assert set(city_codes._HERE.values()) <= set(CITIES)
    assert set(city_codes._HERE).isdisjoint(CITIES)
