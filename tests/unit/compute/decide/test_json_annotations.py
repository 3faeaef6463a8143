"""Annotations whose value is a JSON object."""

import pytest
from hypothesis import given, strategies as st

from compute.decide import json_annotations

KEY = "example.com/key"
UNREADABLE = ["", " ", "{", "null", "5", '"text"', "[]", '{"a":1', "[" * 100_000, '{"a":' * 100_000]


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_is_no_object_has_no_entries(text):
    """Reading it never fails, however it is broken."""
    assert json_annotations.read(text) is None
    assert json_annotations.entries({KEY: text}, KEY) == {}


def test_an_absent_annotation_has_no_entries():
    assert json_annotations.entries({}, KEY) == {}


def test_texts_are_the_entries_that_are_not_empty_texts():
    """Others are ignored, so that one wrong entry does not hide the right ones."""
    text = '{"a":"x","b":"","c":1,"d":null,"e":{"f":"y"},"g":"z"}'
    assert json_annotations.texts({KEY: text}, KEY) == {"a": "x", "g": "z"}


@given(st.text())
def test_no_text_is_too_strange(text):
    """The result is an object, or that there is none."""
    assert isinstance(json_annotations.read(text), dict | None)


@given(st.dictionaries(st.text(), st.text() | st.integers(-(2**53), 2**53) | st.booleans()))
def test_what_is_written_is_read_again(value):
    """Equal objects have the same text, whatever the order of their entries."""
    text = json_annotations.write(value)
    assert json_annotations.read(text) == value
    assert json_annotations.write(dict(reversed(value.items()))) == text
