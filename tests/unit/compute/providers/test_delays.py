"""How long something takes, and what is left to chance."""

import math

import pytest

from compute.providers.delays import Delay, drawn, parse_delay, parse_number


def test_the_same_question_has_the_same_answer():
    """A draw depends on nothing but what it is about."""
    assert drawn("uid", "start") == drawn("uid", "start")
    assert drawn("uid", "start") != drawn("uid", "stop") != drawn("uidst", "op")


def test_draws_are_spread():
    """They lie between 0 and 1, and about half of them below a half."""
    draws = [drawn(str(number)) for number in range(1000)]

    assert all(0 <= each < 1 for each in draws)
    assert 400 < sum(each < 0.5 for each in draws) < 600


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", Delay()),
        ("2.5", Delay(2.5, 2.5)),
        ("1-5", Delay(1, 5)),
        ("exp:3", Delay(mean=3)),
    ],
)
def test_how_delays_are_written(text, expected):
    """One number, two with a dash, or a mean."""
    assert parse_delay(text) == expected


@pytest.mark.parametrize("text", ["", "x", "-1", "5-1", "1-x", "exp:", "exp:x", "nan", "1e9"])
def test_what_is_no_delay(text):
    """It is refused, whatever it was meant to be."""
    with pytest.raises(ValueError, match=r"is not a number|ends before"):
        parse_delay(text)


def test_numbers_have_a_limit():
    """From zero up to the limit, both included."""
    assert (parse_number("0"), parse_number("1", 1.0)) == (0.0, 1.0)
    with pytest.raises(ValueError, match=r"is not a number from 0 to 1"):
        parse_number("1.1", 1.0)


def test_a_fixed_delay():
    """It is always the same."""
    assert {Delay(2, 2).seconds(str(number)) for number in range(9)} == {2}


def test_a_uniform_delay():
    """It stays within its bounds and uses all of the room between."""
    took = [Delay(1, 5).seconds(str(number)) for number in range(500)]

    assert all(1 <= each < 5 for each in took)
    assert min(took) < 1.2
    assert max(took) > 4.8


def test_an_exponential_delay():
    """Its mean is the one asked for, and even the longest ends."""
    took = [Delay(mean=3).seconds(str(number)) for number in range(3000)]

    assert math.isclose(sum(took) / len(took), 3, rel_tol=0.1)
    assert min(took) >= 0
    assert max(took) <= 30
