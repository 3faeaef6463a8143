"""Values of ConfigMaps and Secrets, and changes of some of them."""

import base64

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from compute.decide.stored_values import (
    SIZE_LIMIT,
    ValueChange,
    changed_keys,
    key_fault,
    merge_patch,
    refusal,
    values_of,
    with_values,
)
from kubekit.api.kinds.core import ConfigMap, Secret

BINARY = b"\xff\x00\r\n"
KINDS = pytest.mark.parametrize("kind", [ConfigMap, Secret])


@given(values=st.dictionaries(st.sampled_from(["a", "b.c", "D_E"]), st.binary(max_size=40)))
def test_values_are_kept_byte_for_byte(values):
    """Hexadecimal tokens, newlines and what is no text come back as they were."""
    assert values_of(with_values(ConfigMap(), ValueChange(values))) == values
    assert values_of(with_values(Secret(), ValueChange(values))) == values


def test_text_of_a_config_map_stays_readable():
    """Only what is not UTF-8 is encoded."""
    made = with_values(ConfigMap(), ValueChange({"text": b"caf\xc3\xa9\n", "logo": BINARY}))

    assert made.data == {"text": "café\n"}
    assert made.binary_data == {"logo": base64.b64encode(BINARY).decode()}


def test_a_patch_names_only_the_keys_of_the_change():
    """A value of a ConfigMap that becomes binary leaves the other map."""
    change = ValueChange({"a": b"1", "b": BINARY}, frozenset({"old"}))
    encoded = base64.b64encode(BINARY).decode()

    assert merge_patch(Secret, change) == {"data": {"old": None, "a": "MQ==", "b": encoded}}
    assert merge_patch(ConfigMap, change) == {
        "data": {"old": None, "a": "1", "b": None},
        "binaryData": {"old": None, "a": None, "b": encoded},
    }


@KINDS
def test_keys_that_change(kind):
    """An equal value is no change, and neither is the removal of a key that is not there."""
    present = with_values(kind(), ValueChange({"same": b"1", "other": b"2", "gone": b"3"}))
    change = ValueChange({"same": b"1", "other": b"9", "new": b""}, frozenset({"gone", "never"}))

    assert changed_keys(present, change) == {"other", "new", "gone"}
    assert changed_keys(None, change) == {"same", "other", "new"}


@KINDS
def test_a_change_that_fits_is_accepted(kind):
    """What is removed or replaced makes room."""
    full = with_values(kind(), ValueChange({"a": b"x" * SIZE_LIMIT}))

    assert refusal(None, ValueChange({"a": b"x" * SIZE_LIMIT})) == ""
    assert refusal(full, ValueChange({"a": b"y" * SIZE_LIMIT})) == ""
    assert refusal(full, ValueChange({"b": b"y"}, frozenset({"a"}))) == ""


@KINDS
def test_a_change_that_is_too_large_is_refused(kind):
    """The sizes of all values count together, and the largest is named."""
    full = with_values(kind(), ValueChange({"a": b"x" * SIZE_LIMIT}))

    assert refusal(full, ValueChange({"b": b"y"})) == (
        "would have 1048577 bytes of values, and the most is 1048576 (1 MiB); "
        "the largest is a with 1048576"
    )


@KINDS
def test_an_immutable_object_is_left_alone(kind):
    """The refusal says what to do instead."""
    fixed = replace(kind(), immutable=True)

    assert refusal(fixed, ValueChange({"a": b"1"})) == (
        "is immutable: its values can never be changed. "
        "Set them under another name, and name that in the workloads"
    )


@pytest.mark.parametrize("key", ["A", "a.b-c_d", ".env", "x" * 253])
def test_keys_that_can_be_used(key):
    """A key is the name of a file."""
    assert key_fault(key) == ""


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("", "it is empty"),
        ("x" * 254, "it is longer than 253 characters"),
        ("a b", "use letters, digits, '-', '_' and '.'"),
        ("a/b", "use letters, digits, '-', '_' and '.'"),
        (".", "it must not start with '..' or be '.'"),
        ("..a", "it must not start with '..' or be '.'"),
    ],
)
def test_keys_that_cannot_be_used(key, fault):
    """The same rule as the server's."""
    assert key_fault(key) == fault


def test_what_no_server_would_keep_counts_as_it_is():
    """Data that is not base64 is a value, too: it must not end the command."""
    assert values_of(Secret(data={"a": "%"})) == {"a": b"%"}
