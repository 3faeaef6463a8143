"""Quantities: the grammar, the canonical form and exact arithmetic of Kubernetes."""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from kubekit.api.quantity import ZERO, Notation, Quantity, QuantityError

MAX_INT64 = 2**63 - 1
SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
EXPONENTS = ["e3", "E3", "e-3", "e+6", "e1", "e-12", "E0"]

numbers = st.from_regex(r"[+-]?([0-9]{1,22}(\.[0-9]{0,14})?|\.[0-9]{1,14})", fullmatch=True)
texts = st.builds(str.__add__, numbers, st.sampled_from(SUFFIXES + EXPONENTS))
quantities = texts.map(Quantity.parse)


def exact(quantity):
    """The amount as a fraction, which knows nothing of notations."""
    return Fraction(quantity.nanos, 10**9)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("0Ki", "0"),
        ("0.000e3", "0"),
        ("1", "1"),
        ("+1", "1"),
        ("-1", "-1"),
        ("010", "10"),
        ("1.", "1"),
        (".5", "500m"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1.500", "1500m"),
        ("-1.5", "-1500m"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("100m", "100m"),
        ("1000000u", "1"),
        ("1234u", "1234u"),
        ("1000", "1k"),
        ("1024", "1024"),
        ("1500k", "1500k"),
        ("1000k", "1M"),
        ("100000", "100k"),
        ("1.2M", "1200k"),
        ("0.001M", "1k"),
        ("1000000000", "1G"),
        ("1000G", "1T"),
        ("1000T", "1P"),
        ("1000P", "1E"),
        ("9E", "9E"),
        ("1Ki", "1Ki"),
        ("1024Ki", "1Mi"),
        ("1000Ki", "1000Ki"),
        ("1025Ki", "1025Ki"),
        ("1.5Ki", "1536"),
        ("1.5Mi", "1536Ki"),
        ("1.5Gi", "1536Mi"),
        ("0.5Gi", "512Mi"),
        ("-1.5Gi", "-1536Mi"),
        ("1024Gi", "1Ti"),
        ("1024Ti", "1Pi"),
        ("1024Pi", "1Ei"),
        ("0.5Ki", "512"),
        ("-0.5Ki", "-512"),
        ("1.1Ki", "1126400m"),
        ("0.1Mi", "104857600m"),
        ("0.0001Ki", "102400u"),
        ("1e3", "1e3"),
        ("1E3", "1e3"),
        ("1e+3", "1e3"),
        ("12e6", "12e6"),
        ("100e3", "100e3"),
        ("12e5", "1200e3"),
        ("1e1", "10"),
        ("5e0", "5"),
        ("1e-3", "1e-3"),
        ("1.5e3", "1500"),
        ("15e-1", "1500e-3"),
        ("1e19", "10e18"),
    ],
)
def test_canonical_form(text, canonical):
    """The notation is kept, and the suffix is the largest that leaves no fraction."""
    assert str(Quantity.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1n", "1n"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("1.1n", "2n"),
        ("0.0000000001", "1n"),
        ("1.0000000001", "1000000001n"),
        ("1e-10", "1e-9"),
        ("1e-100", "1e-9"),
        ("1.0000000000001Ki", "1024000000001n"),
    ],
)
def test_what_is_finer_than_a_nano_is_rounded_away_from_zero(text, canonical):
    """A very small request is not rounded to zero."""
    assert str(Quantity.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("7Ei", "7Ei"),
        ("8Ei", str(MAX_INT64)),
        ("10Ei", str(MAX_INT64)),
        ("-10Ei", str(-MAX_INT64)),
        ("9223372036854775808", "9223372036854775808"),
        ("100E", "100E"),
        ("1000E", "1000E"),
        ("1000000E", "1000000E"),
    ],
)
def test_only_binary_quantities_stop_at_the_largest_int64(text, canonical):
    """A binary quantity is capped; a decimal one is kept, even beyond the largest suffix."""
    assert str(Quantity.parse(text)) == canonical


def test_sums_beyond_the_largest_binary_suffix_lose_nothing():
    """A total may exceed what one quantity may be written as."""
    seven = Quantity.parse("7Ei")

    assert str(seven * 1024 * 1024) == "7340032Ei"


@pytest.mark.parametrize(
    ("number", "canonical"), [(0, "0"), (5, "5"), (-3, "-3"), (2000, "2k"), (1024, "1024")]
)
def test_an_integer_is_a_quantity(number, canonical):
    """Manifests may leave out the quotes."""
    assert str(Quantity.parse(number)) == canonical


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not start with a number"),
        ("+", "does not start with a number"),
        (".", "does not start with a number"),
        ("Ki", "does not start with a number"),
        ("--1", "does not start with a number"),
        (" 1", "does not start with a number"),
        ("one", "does not start with a number"),
        ("\N{ARABIC-INDIC DIGIT THREE}", "does not start with a number"),
        (True, "does not start with a number"),
        ("1 ", "suffix ' ' is not known"),
        ("1GiB", "suffix 'GiB' is not known"),
        ("1K", "suffix 'K' is not known"),
        ("1ki", "suffix 'ki' is not known"),
        ("1.2.3", "suffix '.3' is not known"),
        ("1e", "suffix 'e' is not known"),
        ("1e+", "suffix 'e+' is not known"),
        ("1e--3", "suffix 'e--3' is not known"),
        ("1e1.5", "suffix 'e1.5' is not known"),
        ("1e3Ki", "suffix 'e3Ki' is not known"),
        ("1_000", "suffix '_000' is not known"),
        ("1e1000000000", "exponent is not within 100 of zero"),
        ("1e-101", "exponent is not within 100 of zero"),
        ("1e100", "not below 1e100"),
        ("-1e100", "not below 1e100"),
        ("9" * 129, "longer than 128 characters"),
    ],
)
def test_what_is_not_a_quantity_is_refused(text, why):
    """The message shows the text, what is wrong with it and what would be right."""
    with pytest.raises(QuantityError) as caught:
        Quantity.parse(text)

    message = str(caught.value)
    assert message.startswith(repr(str(text)[:80]))
    assert why in message
    assert "one of Ki Mi Gi Ti Pi Ei" in message


def test_an_immense_integer_is_refused():
    """Python would rather raise than print an integer of ten thousand digits."""
    with pytest.raises(QuantityError, match="below 1e100"):
        Quantity.parse(10**10_000)


@pytest.mark.parametrize("text", ["9" * 1_000_000, "0." + "0" * 1_000_000, "1e" + "9" * 1_000_000])
def test_a_long_text_costs_nothing(text):
    """A megabyte of digits is refused by its length, before any arithmetic."""
    with pytest.raises(QuantityError, match="longer than 128"):
        Quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ("1", Notation.DECIMAL_SI),
        ("1k", Notation.DECIMAL_SI),
        ("1E", Notation.DECIMAL_SI),
        ("1Ki", Notation.BINARY_SI),
        ("1Ei", Notation.BINARY_SI),
        ("0.5Ki", Notation.BINARY_SI),
        ("0Ki", Notation.BINARY_SI),
        ("0.0001Ki", Notation.DECIMAL_SI),
        ("1e3", Notation.DECIMAL_EXPONENT),
        ("1E3", Notation.DECIMAL_EXPONENT),
    ],
)
def test_notation(text, notation):
    """The suffix decides the notation, except that a binary part of one is decimal."""
    assert Quantity.parse(text).notation is notation


@pytest.mark.parametrize(
    ("left", "right", "total", "difference"),
    [
        ("1Gi", "512Mi", "1536Mi", "512Mi"),
        ("1Gi", "1", "1073741825", "1073741823"),
        ("1", "1Ki", "1025", "-1023"),
        ("500m", "0.5", "1", "0"),
        ("0", "1Gi", "1Gi", "-1Gi"),
        ("0", "1e3", "1e3", "-1e3"),
        ("1e3", "1k", "2e3", "0"),
        ("1n", "1E", "1000000000000000000000000001n", "-999999999999999999999999999n"),
    ],
)
def test_sum_and_difference(left, right, total, difference):
    """Arithmetic is exact, in the notation of the left operand unless that is zero."""
    one, other = Quantity.parse(left), Quantity.parse(right)

    assert str(one + other) == total
    assert str(one - other) == difference


def test_summing_starts_from_zero():
    """Zero takes on the notation of what is added to it, so a total reads like its parts."""
    parts = [Quantity.parse("256Mi"), Quantity.parse("768Mi")]

    assert str(sum(parts, ZERO)) == "1Gi"


@pytest.mark.parametrize(
    ("quantity", "times", "expected"),
    [("250m", 4, "1"), ("512Mi", 3, "1536Mi"), ("1e3", 2, "2e3"), ("3", 0, "0"), ("3", -1, "-3")],
)
def test_multiplication(quantity, times, expected):
    """A quantity times a whole number keeps its notation, on either side of the sign."""
    assert str(Quantity.parse(quantity) * times) == expected
    assert str(times * Quantity.parse(quantity)) == expected


def test_negation_keeps_the_notation():
    """Minus a gibibyte is written in gibibytes."""
    assert str(-Quantity.parse("1Gi")) == "-1Gi"


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [
        ("1", 1, 1000),
        ("1500m", 2, 1500),
        ("1n", 1, 1),
        ("1001u", 1, 2),
        ("0", 0, 0),
        ("-1500m", -2, -1500),
        ("-1n", -1, -1),
        ("1Gi", 2**30, 2**30 * 1000),
    ],
)
def test_whole_values_round_away_from_zero(text, value, milli):
    """Half a unit counts as a unit, so that the result is not less than was requested."""
    quantity = Quantity.parse(text)

    assert (quantity.value(), quantity.milli_value()) == (value, milli)


@pytest.mark.parametrize(
    ("amount", "unit", "count"),
    [("1Gi", "1Mi", 1024), ("1G", "1Mi", 953), ("1023Ki", "1Mi", 0), ("2", "500m", 4)],
)
def test_whole_units(amount, unit, count):
    """A unit that does not fit in entirely is not counted."""
    assert Quantity.parse(amount).floor_units(Quantity.parse(unit)) == count


def test_equality_is_by_value():
    """Spelling does not matter, neither for comparing nor for keys."""
    assert Quantity.parse("1024Mi") == Quantity.parse("1Gi")
    assert len({Quantity.parse("1000m"), Quantity.parse("1"), Quantity.parse("1e0")}) == 1


def test_representation():
    """A failing test shows the quantity as one would write it."""
    assert repr(Quantity.parse("1.5Gi")) == "Quantity.parse('1536Mi')"


@given(quantities)
def test_printing_loses_nothing(quantity):
    """What was printed reads back as the same value, and prints the same again."""
    printed = str(quantity)
    again = Quantity.parse(printed)

    assert again == quantity
    assert str(again) == printed


@given(quantities, quantities)
def test_addition_is_exact_and_commutes(left, right):
    """Sums are those of the exact values, whatever the order and the notations."""
    assert exact(left + right) == exact(left) + exact(right)
    assert left + right == right + left
    assert left + right - right == left


@given(quantities, quantities)
def test_order_is_that_of_the_values(left, right):
    """Quantities compare like the numbers they stand for."""
    assert (left < right) == (exact(left) < exact(right))
    assert (left <= right) == (exact(left) <= exact(right))
    assert (left == right) == (exact(left) == exact(right))


@given(st.text(max_size=200))
def test_any_text_is_parsed_or_refused(text):
    """No text leads to another error than the one for bad quantities."""
    try:
        quantity = Quantity.parse(text)
    except QuantityError:
        return
    assert Quantity.parse(str(quantity)) == quantity
