"""The cities that a user means."""

import pytest

from compute.api import labels
from compute.api.networking import BoundLocation, LocationBinding, LocationBindingSpec
from compute.decide.workload_edits import FlagError
from compute.decide.workload_edits.chosen_cities import chosen, selected
from kubekit.api.meta import ObjectMeta


def binding(name: str, code: str, display: str = "", country: str = "US") -> LocationBinding:
    topology = {labels.TOPOLOGY_CITY_CODE: code, labels.TOPOLOGY_COUNTRY: country} if code else {}
    return LocationBinding(
        metadata=ObjectMeta(name=name),
        spec=LocationBindingSpec(
            display_name=display, location_ref=BoundLocation(name=name), topology=topology
        ),
    )


KNOWN = (
    binding("dfw", "DFW", "Dallas"),
    binding("london-1", "LHR", "London", "GB"),
    binding("nowhere", ""),
)


def refused(*texts: str) -> str:
    with pytest.raises(FlagError) as error:
        chosen(texts, KNOWN)
    return str(error.value)


def test_a_city_has_a_code_and_names():
    """In any case, and each city once."""
    assert chosen(("dfw", "LONDON-1", "Dallas", "lhr"), KNOWN) == ("DFW", "LHR")


def test_a_wrong_city_names_the_nearest():
    """A city that exists elsewhere is no typing error."""
    assert refused("DFW", "DWF") == (
        '--city: there is no city "DWF" in this project, which can use DFW, LHR; did you mean DFW?'
    )
    assert refused("xyz123") == (
        '--city: there is no city "xyz123" in this project, which can use DFW, LHR'
    )
    assert refused("ams") == (
        "--city: AMS (Amsterdam) is not offered to this project, which can use DFW, LHR"
    )
    with pytest.raises(FlagError, match="this project is offered no city yet"):
        chosen(("DFW",), ())


def test_a_city_of_the_workload_stays_possible():
    """It may have been withdrawn from the project."""
    assert chosen(("sin",), KNOWN, kept=("SIN",)) == ("SIN",)


def test_without_a_list_a_text_is_a_code():
    """The server decides then."""
    assert chosen(("dfw", "xyz"), None) == ("DFW", "XYZ")


def test_cities_are_selected_by_labels():
    """They are those that match now. A selector that matches nothing is a mistake."""
    assert selected("topology.datum.net/country in (US,GB)", KNOWN) == ("DFW", "LHR")
    assert selected("topology.datum.net/country=GB", KNOWN) == ("LHR",)
    with pytest.raises(FlagError, match='no city of this project matches "a=b"'):
        selected("a=b", KNOWN)
    with pytest.raises(FlagError, match="--location-selector"):
        selected("a in", KNOWN)
    with pytest.raises(FlagError, match="cannot be read; name them by --city"):
        selected("a=b", None)
