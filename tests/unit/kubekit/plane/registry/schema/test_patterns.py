"""Patterns, as RE2 and so Kubernetes understands them."""

import pytest
from hypothesis import given, strategies as st

from kubekit.plane.registry.schema import patterns


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^a+$", "aa", True),
        ("^a+$", "aa\n", False),
        ("b", "abc", True),
        (r"^\d$", "\N{ARABIC-INDIC DIGIT FIVE}", False),
        (r"^\w$", "é", False),
        ("^.$", "é", True),
        (r"^\pL$", "é", True),
        ("(?i)^AB$", "ab", True),
        ("(?s)a.b", "a\nb", True),
        ("a.b", "a\nb", False),
        ("^a{,3}$", "a{,3}", True),
        ("^é+$", "éé", True),
        ("^a$", "\ud800", False),
        ("(?!a)", "b", False),
        ("(", "(", False),
        ("^b", "b" * 100, True),
    ],
)
def test_a_pattern_is_found_as_kubernetes_finds_it(pattern, text, expected):
    """Anywhere in the text; ``$`` is the very end; what is no pattern is never found."""
    assert patterns.matches(pattern, text) is expected


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "missing closing ): `(`"),
        ("[a", "missing closing ]: `[a`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("(?!a)", "invalid or unsupported Perl syntax: `(?!`"),
        (r"\1", r"invalid escape sequence: `\1`"),
        (r"\\\C", r"invalid escape sequence: `\C`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        (")", "unexpected ): `)`"),
        ("((a{100}){100}){100}", "invalid repeat count: `{100}`"),
    ],
)
def test_an_invalid_pattern_has_the_error_of_kubernetes(pattern, words):
    """The engine words some of these differently."""
    assert patterns.fault_of(pattern) == f"error parsing regexp: {words}"


@pytest.mark.parametrize(
    "pattern", ["", "^a$", r"\\C", "(?P<n>a)", "x{", r"\Qa.b\E", "[[:alpha:]]"]
)
def test_a_pattern_is_no_fault(pattern):
    """Whatever the engine takes."""
    assert patterns.fault_of(pattern) is None


def test_d4_a_pattern_that_needs_too_much_memory_is_refused():
    """Its program would be larger than what one pattern may have."""
    assert patterns.fault_of(r"\pL{1000}") == ("error parsing regexp: expression too large: ``")


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*a){20}", "(x+x+)+y"])
def test_d4_catastrophic_patterns_take_a_megabyte(pattern):
    """With a backtracking engine none of these would ever answer."""
    assert patterns.matches(pattern, "a" * 10**6 + "!") in (True, False)


def test_d4_the_engine_is_not_that_of_python():
    """It knows classes that Python does not, and none of what needs backtracking."""
    assert patterns.matches(r"^\p{Greek}$", "λ")
    assert all(patterns.fault_of(p) for p in ("(?=a)", r"(a)\1", "(?<=a)b", "(?>a)", "a++"))


def test_d4_a_large_pattern_is_not_tried_on_a_long_text():
    """Time is the product of both."""
    assert patterns.matches("^a{1,900}", "a" * 1000)
    assert not patterns.matches("^a{1,900}", "a" * 10**6)


@given(st.text(max_size=80))
def test_any_text_is_pattern_and_text(text):
    """Nothing raises, and what is no pattern is not found."""
    assert patterns.matches(text, text) in (True, False)
    assert patterns.fault_of(text) is None or not patterns.matches(text, text)
