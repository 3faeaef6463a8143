"""Values as the bytes of the wire."""

import math
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, strategies as st

from kubekit.api.errors import BadRequest
from kubekit.client.writing import encoded

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text("ab"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner),
)


@given(VALUES)
def test_what_is_written_is_read_as_it_was(value):
    """Every value comes back as it was; one with a number that is none is not written."""
    if _is_real(value):
        assert msgspec.json.decode(encoded(value)) == value
        return
    with pytest.raises(BadRequest, match="is not a number"):
        encoded(value)


def _is_real(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_real, value.values()))
    if isinstance(value, list):
        return all(map(_is_real, value))
    return not isinstance(value, float) or math.isfinite(value)


def test_what_is_nested_deeply_is_written_or_refused():
    """However deep it is, it is never an error of another kind."""
    value: object = None
    written = []
    for depth in range(2000):
        value = [value]
        with suppress(BadRequest):
            written.append(encoded(value).count(b"["))
            assert written[-1] == depth + 1
    assert len(written) > 100


@pytest.mark.parametrize("value", [object(), {"a": "\ud800"}], ids=["object", "half"])
def test_what_json_does_not_have_is_refused(value):
    """What has no place in JSON is named."""
    with pytest.raises(BadRequest, match="cannot be written as JSON"):
        encoded({"x": value})
