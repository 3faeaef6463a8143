"""The names of Locations."""

from hypothesis import given, strategies as st

from compute.api import names
from kubekit.api.selectors import label_syntax


def test_a_location_is_called_by_its_city():
    """The plain name is the code in lower case; no other spelling passes for it."""
    assert names.location("DFW") == "dfw"
    assert names.location("dfw") != "dfw"


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_two_cities_share_a_location(one, other):
    """Whatever a city is called, its name fits, can be a name, and is no other city's."""
    name = names.location(one)
    assert (name == names.location(other)) == (one == other)
    assert len(name) <= names.LABEL_LIMIT
    assert not label_syntax.value_fault(name)
