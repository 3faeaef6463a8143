"""Label keys and values."""

import pytest

from kubekit.api.selectors import label_syntax

NAME = "1 to 63 letters, digits, '-', '_' or '.'"


@pytest.mark.parametrize(
    "key",
    [
        "a",
        "A",
        "app",
        "9",
        "a-b_c.D",
        "x" * 63,
        "example.com/app",
        "a/b",
        "0.1-2.c/N",
        f"{'p' * 253}/n",
    ],
)
def test_keys(key):
    """A key is a name, with or without a DNS subdomain and a slash before it."""
    assert label_syntax.key_fault(key) is None


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("", f"it must be {NAME}"),
        ("x" * 64, f"it must be {NAME}"),
        ("-a", f"it must be {NAME}"),
        ("a-", f"it must be {NAME}"),
        ("a b", f"it must be {NAME}"),
        ("a=b", f"it must be {NAME}"),
        ("caf\N{LATIN SMALL LETTER E WITH ACUTE}", f"it must be {NAME}"),
        ("a\n", f"it must be {NAME}"),
        ("example.com/", f"its part after '/' must be {NAME}"),
        ("a/b/c", f"its part after '/' must be {NAME}"),
        ("/a", "its part before '/' must be a DNS subdomain"),
        ("Example.com/a", "its part before '/' must be a DNS subdomain"),
        ("a..b/c", "its part before '/' must be a DNS subdomain"),
        ("-a/b", "its part before '/' must be a DNS subdomain"),
        ("a_b/c", "its part before '/' must be a DNS subdomain"),
        (f"{'p' * 254}/n", "its part before '/' must be a DNS subdomain"),
    ],
)
def test_key_faults(key, fault):
    """A fault says which part of the key breaks which rule."""
    got = label_syntax.key_fault(key)

    assert got is not None
    assert got.startswith(fault)


@pytest.mark.parametrize("value", ["", "a", "A", "1.2-3_x", "x" * 63])
def test_values(value):
    """A value is a name, or empty."""
    assert label_syntax.value_fault(value) is None


@pytest.mark.parametrize("value", ["x" * 64, "-a", "a.", "_", "a/b", "a b", " "])
def test_value_faults(value):
    """A value obeys the rule of names."""
    got = label_syntax.value_fault(value)

    assert got is not None
    assert got.startswith(f"it must be {NAME}")
