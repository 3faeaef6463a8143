"""Foreign text inside messages."""

import pytest

from kubekit.api.excerpt import excerpt


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", "'plain'", id="short text is quoted"),
        pytest.param("two\nlines", r"'two\nlines'", id="a line break cannot forge a log line"),
        pytest.param("x" * 80, f"'{'x' * 80}'", id="eighty characters still fit"),
        pytest.param("x" * 81, f"'{'x' * 80}'...", id="one more is cut, and the cut is visible"),
        pytest.param(7, "'7'", id="what is not a string is shown as one"),
    ],
)
def test_excerpt(text, expected):
    """An excerpt is quoted, escaped and never long."""
    assert excerpt(text) == expected
