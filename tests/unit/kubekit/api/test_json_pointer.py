"""JSON pointers, by the examples and rules of RFC 6901."""

import pytest
from hypothesis import given, strategies as st

from kubekit.api import json_pointer
from kubekit.api.json_pointer import PointerError, PointerSyntaxError

# The document of RFC 6901, section 5.
DOCUMENT = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ],
)
def test_the_examples_of_the_standard(text, expected):
    """Every example of RFC 6901 finds what it should."""
    assert json_pointer.resolve(DOCUMENT, json_pointer.parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("/a/b", ("a", "b")),
        ("//", ("", "")),
        ("/~01", ("~1",)),
        ("/~10", ("/0",)),
        ("/~0~1", ("~/",)),
    ],
)
def test_parse(text, tokens):
    """Slashes separate tokens; an escaped tilde does not start another escape."""
    assert json_pointer.parse(text) == tokens


@pytest.mark.parametrize("text", ["a", "a/b", "#/a", "/~", "/~2", "/a~", "/~~0"])
def test_what_is_no_pointer_is_refused(text):
    """A pointer starts with a slash, and a tilde is always escaped."""
    with pytest.raises(PointerSyntaxError, match="pointer"):
        json_pointer.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/bar", "nothing at '/bar': the object has no 'bar'"),
        ("/bar/x/y", "nothing at '/bar': the object has no 'bar'"),
        ("/foo/2", "nothing at '/foo/2': the array has only 2 elements"),
        ("/foo/-", "nothing at '/foo/-': the array has only 2 elements"),
        ("/foo/99", "nothing at '/foo/99': the array has only 2 elements"),
        ("/foo/00", "nothing at '/foo/00': '00' is not an array index"),
        ("/foo/+1", "nothing at '/foo/+1': '+1' is not an array index"),
        ("/foo/", "nothing at '/foo/': '' is not an array index"),
        ("/foo/0/x", "nothing at '/foo/0/x': its parent is neither an object nor an array"),
        ("/a~1b/c", "nothing at '/a~1b/c': its parent is neither an object nor an array"),
    ],
)
def test_a_missing_place_is_named(text, message):
    """The error points at the first token that leads nowhere, and says why."""
    with pytest.raises(PointerError) as caught:
        json_pointer.resolve(DOCUMENT, json_pointer.parse(text))

    assert str(caught.value) == message


@pytest.mark.parametrize(("token", "place"), [("0", 0), ("1", 1), ("-1", 1), ("-2", 0)])
def test_an_element_is_counted_from_either_end(token, place):
    """``-1`` is the last one."""
    assert json_pointer.element(token, 2) == place


@pytest.mark.parametrize(
    ("token", "place"), [("0", 0), ("1", 1), ("2", 2), ("-", 2), ("-1", 2), ("-2", 1), ("-3", 0)]
)
def test_a_gap_is_before_an_element_or_past_the_last(token, place):
    """There is one more of them than of elements."""
    assert json_pointer.insertion_index(token, 2) == place


OUTSIDE = ["-0", "01", "-01", "+1", "x", "", "--1", "9" * 1_000_000, "-" + "9" * 1_000_000]


@pytest.mark.parametrize("token", ["2", "-", "-3", *OUTSIDE], ids=lambda token: token[:4])
def test_an_element_that_is_not_there_is_refused(token):
    """No leading zeros, no plus, and nothing beyond the ends."""
    with pytest.raises(PointerError):
        json_pointer.element(token, 2)


@pytest.mark.parametrize("token", ["3", "-4", *OUTSIDE], ids=lambda token: token[:4])
def test_a_gap_that_is_not_there_is_refused(token):
    """Nothing can be put beyond the place past the last."""
    with pytest.raises(PointerError):
        json_pointer.insertion_index(token, 2)


@given(st.lists(st.text()))
def test_parse_inverts_format(tokens):
    """Any tokens survive being written as a pointer."""
    assert json_pointer.parse(json_pointer.format_pointer(tokens)) == tuple(tokens)


@given(st.text(alphabet="/~01a"))
def test_format_inverts_parse(text):
    """There is one way to write a pointer."""
    try:
        tokens = json_pointer.parse(text)
    except PointerSyntaxError:
        return
    assert json_pointer.format_pointer(tokens) == text
