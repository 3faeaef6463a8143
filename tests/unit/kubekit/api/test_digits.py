"""ASCII digits and nothing else."""

import pytest

from kubekit.api import digits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12ab3", ("12", "ab3")),
        ("ab", ("", "ab")),
        ("007", ("007", "")),
        ("", ("", "")),
        ("\N{ARABIC-INDIC DIGIT THREE}4", ("", "\N{ARABIC-INDIC DIGIT THREE}4")),
    ],
)
def test_leading(text, expected):
    """The digits at the start are split from what follows."""
    assert digits.leading(text) == expected


@pytest.mark.parametrize("text", ["0", "007", "1234567890"])
def test_only_digits(text):
    """Digits alone are a number."""
    assert digits.only(text)


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "+1", "-1", "1_0", "1.0", "1a1", "\N{ARABIC-INDIC DIGIT THREE}"]
)
def test_not_only_digits(text):
    """Whatever else `int` would swallow is not a number here."""
    assert not digits.only(text)
