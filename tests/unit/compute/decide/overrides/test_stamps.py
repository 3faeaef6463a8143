"""The times in annotations."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from compute.decide.overrides import stamps
from kubekit.api import times
from kubekit.api.meta import EPOCH
from tests.support.compute.builders import NOW

INSTANTS = st.integers(0, 2**37).map(lambda quarters: EPOCH + timedelta(seconds=quarters / 4))
STAMPS = INSTANTS.map(times.format_time) | INSTANTS.map(times.format_micro)
TEXTS = st.one_of(STAMPS, st.text(max_size=30))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-06-01T12:00:00Z", True),
        ("2026-06-01T12:00:00.5+02:00", True),
        ("2026-06-01", False),
        ("9999-12-31T23:59:59-12:00", False),
        ("", False),
        (5, False),
        (None, False),
    ],
)
def test_what_is_a_stamp(value, expected):
    """A text with a time of RFC 3339, within what a clock can show."""
    assert stamps.is_stamp(value) is expected


def test_the_latest_is_as_it_was_written():
    """Times are compared as instants, and of equal ones the first counts."""
    assert stamps.latest("2026-06-01T12:00:00Z", "2026-06-01T14:00:00+02:00") == (
        "2026-06-01T12:00:00Z"
    )
    assert stamps.latest("2026-06-01T12:00:00Z", "2026-06-01T12:00:00-02:00", "soon") == (
        "2026-06-01T12:00:00-02:00"
    )
    assert stamps.latest("soon", "") == ""


@given(INSTANTS, st.lists(TEXTS, max_size=4))
def test_a_stamp_is_later_than_all_before_it(now, texts):
    """It is the present second, or one second after the latest stamp if a clock was ahead."""
    got = times.parse(stamps.following(now, *texts))
    known = [times.parse(text) for text in texts if stamps.is_stamp(text)]
    assert all(got > each for each in known)
    assert got >= times.seconds(now)
    assert got <= max([now, *(each + timedelta(seconds=1) for each in known)])


def test_the_end_of_time_does_not_stop_a_restart():
    """No stamp can be later than the last that can be written."""
    assert stamps.following(NOW, "9999-12-31T23:59:59Z") == "9999-12-31T23:59:59Z"
