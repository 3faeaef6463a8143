"""Where conditions are, and with which reasons."""

from compute.api.condition_uses import USES
from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.reasons import describe


def test_every_type_of_condition_is_on_some_object():
    """A reader of any condition learns which objects have it."""
    types = {str(kind) for kind in (*ConditionType, *NeighbourCondition)}

    assert {use.condition for use in USES} == types


def test_every_reason_of_a_condition_is_known():
    """Each can be looked up in turn."""
    assert [r for use in USES for r in use.reasons if describe(r) is None] == []


def test_a_condition_is_listed_once_for_each_kind():
    """And a reason once for each condition."""
    places = [(use.condition, use.on) for use in USES]

    assert len(set(places)) == len(places)
    assert all(len(set(use.reasons)) == len(use.reasons) for use in USES)
