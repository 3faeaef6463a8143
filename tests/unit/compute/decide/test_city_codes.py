"""Codes of cities that a user types."""

import pytest

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
    assert why.endswith("write the code of an airport of the city, such as DFW, LHR or SIN")
    assert len(why) < 200
