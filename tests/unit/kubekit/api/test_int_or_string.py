"""Counts written as numbers or as shares."""

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given, strategies as st

from kubekit.api.int_or_string import IntOrStringError, scaled


@pytest.mark.parametrize(
    ("value", "total", "down", "up"),
    [
        (0, 10, 0, 0),
        (1, 10, 1, 1),
        (7, 3, 7, 7),
        ("0%", 10, 0, 0),
        ("25%", 4, 1, 1),
        ("25%", 3, 0, 1),
        ("25%", 10, 2, 3),
        ("100%", 10, 10, 10),
        ("150%", 10, 15, 15),
        ("1%", 0, 0, 0),
    ],
)
def test_scaled(value, total, down, up):
    """A number counts as it is; a share is taken of the total and rounded as asked."""
    assert scaled(value, total, round_up=False) == down
    assert scaled(value, total, round_up=True) == up


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (-1, "negative"),
        ("5", "share"),
        ("", "share"),
        ("%", "share"),
        ("-5%", "share"),
        ("+5%", "share"),
        ("2.5%", "share"),
        ("5 %", "share"),
        ("5%%", "share"),
        ("many", "share"),
        ("9" * 11 + "%", "too large"),
        ("9" * 1_000_000 + "%", "too large"),
    ],
)
def test_what_is_neither_is_refused(value, why):
    """The message shows the value and what would be right."""
    with pytest.raises(IntOrStringError, match=why):
        scaled(value, 10, round_up=True)


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_share_is_exact_before_it_is_rounded(percent, total):
    """No floating point comes between the share and the count."""
    share = Fraction(percent * total, 100)

    assert scaled(f"{percent}%", total, round_up=False) == floor(share)
    assert scaled(f"{percent}%", total, round_up=True) == ceil(share)
