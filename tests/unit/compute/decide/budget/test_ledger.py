"""The ledger as texts."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from compute.decide.budget import Ledger, Reservation
from tests.support.compute.builders import NOW

NEEDS = st.lists(st.tuples(st.text(min_size=1, max_size=5), st.integers(0, 2**40))).map(tuple)
RESERVED = st.builds(
    Reservation, namespace=st.text(max_size=5), name=st.text(), uid=st.text(), need=NEEDS
)


@given(
    revision=st.integers(0, 2**63),
    holder=st.text(),
    reserved=st.lists(RESERVED, max_size=5).map(tuple),
    age=st.integers(0, 10**6),
)
def test_a_ledger_that_is_written_can_be_read(revision, holder, reserved, age):
    """Everything comes back as it was."""
    written = NOW - timedelta(seconds=age)
    ledger = Ledger(
        project="uid", revision=revision, holder=holder, written=written, reserved=reserved
    )
    assert Ledger.read(ledger.data(), "uid") == ledger


def test_the_ledger_of_another_project_is_as_good_as_none():
    """A project that was created again has promised nothing."""
    earlier = Ledger(project="before", revision=9)
    assert Ledger.read(earlier.data(), "now") == Ledger(project="now")
    assert Ledger.read({}, "now") == Ledger(project="now")


@pytest.mark.parametrize(
    "broken", [{"revision": "many"}, {"written": "soon"}, {"reserved": "["}], ids=str
)
def test_an_unreadable_ledger_is_not_replaced(broken):
    """Lost promises could grant the same budget twice; an operator has to act."""
    with pytest.raises(ValueError, match=r".+"):
        Ledger.read(Ledger(project="uid").data() | broken, "uid")
