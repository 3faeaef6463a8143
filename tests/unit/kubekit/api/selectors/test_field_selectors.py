"""Field selectors."""

import pytest
from hypothesis import given, strategies as st

from kubekit.api.selectors import field_selectors
from kubekit.api.selectors.field_selectors import FieldRequirement, FieldSelector
from kubekit.api.selectors.label_selectors import SelectorError

MEGABYTE = 1_000_000

fields = st.sampled_from(["metadata.name", "metadata.namespace", "status.phase"])
values = st.text(alphabet="ab\\,=! ", max_size=6)
requirements = st.builds(FieldRequirement, fields, st.sampled_from(["=", "!="]), values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", [FieldRequirement("a", "=", "b")]),
        ("a==b", [FieldRequirement("a", "=", "b")]),
        ("a!=b", [FieldRequirement("a", "!=", "b")]),
        ("a=", [FieldRequirement("a", "=", "")]),
        ("a!=", [FieldRequirement("a", "!=", "")]),
        ("b=2,a=1", [FieldRequirement("a", "=", "1"), FieldRequirement("b", "=", "2")]),
        (r"a=b\,c", [FieldRequirement("a", "=", "b,c")]),
        (r"a=b\=c", [FieldRequirement("a", "=", "b=c")]),
        (r"a=b\\,c=d", [FieldRequirement("a", "=", "b\\"), FieldRequirement("c", "=", "d")]),
        ("a=b!c", [FieldRequirement("a", "=", "b!c")]),
        ("a!!=b", [FieldRequirement("a!", "!=", "b")]),
        ("a= b ", [FieldRequirement("a", "=", " b ")]),
        (",a=b,,", [FieldRequirement("a", "=", "b")]),
        ("", []),
        (",", []),
    ],
)
def test_parse(text, expected):
    """Terms are split at plain commas, read, and ordered; empty ones say nothing."""
    assert field_selectors.parse(text) == FieldSelector(tuple(expected))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "'a', character 1: 'a' is not of the form field=value or field!=value"),
        ("a=b,c", "'a=b,c', character 5: 'c' is not of the form field=value or field!=value"),
        ("=b", "'=b', character 1: '=b' is not of the form field=value or field!=value"),
        ("!=b", "'!=b', character 1: '!=b' is not of the form field=value or field!=value"),
        ("a=b=c", r"'a=b=c', character 1: a '=' inside a value is written as '\='"),
        ("a===b", r"'a===b', character 1: a '=' inside a value is written as '\='"),
        ("a!==b", r"'a!==b', character 1: a '=' inside a value is written as '\='"),
        (r"a=\b", r"'a=\\b', character 1: a backslash precedes only one of \ , ="),
        ("a=b\\", r"'a=b\\', character 1: a backslash precedes only one of \ , ="),
    ],
)
def test_what_is_no_selector_is_refused(text, message):
    """The message shows the text, where the wrong term starts, and what is wrong with it."""
    with pytest.raises(SelectorError) as caught:
        field_selectors.parse(text)

    assert str(caught.value) == f"field selector {message}"


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("metadata.name=web", True),
        ("metadata.name=api", False),
        ("metadata.name!=api", True),
        ("metadata.name!=web", False),
        ("metadata.name=web,status.phase=Running", True),
        ("metadata.name=web,status.phase!=Running", False),
        ("spec.nodeName=", True),
        ("spec.nodeName!=", False),
        ("spec.nodeName!=n1", True),
    ],
)
def test_matching(text, matches):
    """Every term must hold; an absent field is an empty one."""
    carried = {"metadata.name": "web", "status.phase": "Running"}

    assert field_selectors.parse(text).matches(carried) == matches


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("b=2,a==1", "a=1,b=2"),
        (r"a=x\,y\=z\\", r"a=x\,y\=z\\"),
        ("a!=", "a!="),
        (",,", ""),
    ],
)
def test_printing(text, printed):
    """Terms come out ordered, with one equals sign and escaped values."""
    assert str(field_selectors.parse(text)) == printed


def test_everything():
    """The empty selector matches any object."""
    assert field_selectors.parse("") == field_selectors.EVERYTHING
    assert field_selectors.EVERYTHING.matches({})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * MEGABYTE, id="no operator"),
        pytest.param("=" * MEGABYTE, id="equals signs"),
        pytest.param("!" * MEGABYTE, id="exclamation marks"),
        pytest.param("\\" * MEGABYTE, id="backslashes"),
        pytest.param("a=" + "\\," * (MEGABYTE // 2) + "\\", id="escapes"),
        pytest.param("a,=" * (MEGABYTE // 3), id="half terms"),
    ],
)
def test_a_hostile_megabyte_is_refused_briefly(text):
    """However long the text, it is read once, and the message about it stays short."""
    with pytest.raises(SelectorError) as caught:
        field_selectors.parse(text)

    assert len(str(caught.value)) < 500


def test_a_long_value_is_read():
    """Length alone is no fault."""
    got = field_selectors.parse("a=" + "\\," * (MEGABYTE // 2))

    assert got == FieldSelector((FieldRequirement("a", "=", "," * (MEGABYTE // 2)),))


@given(st.lists(requirements))
def test_parse_inverts_printing(wanted):
    """What was printed reads back as the same conditions, in the order of their text."""
    ordered = FieldSelector(tuple(sorted(wanted, key=str)))

    assert field_selectors.parse(str(ordered)) == ordered


@given(st.lists(requirements, max_size=4), st.dictionaries(fields, values))
def test_matching_is_the_conjunction_of_comparisons(wanted, carried):
    """A selector matches exactly when each field equals, or differs, as it says."""
    expected = all(
        (carried.get(one.field, "") == one.value) == (one.operator == "=") for one in wanted
    )

    assert FieldSelector(tuple(wanted)).matches(carried) == expected


@given(st.text(alphabet="ab\\,=! ", max_size=20))
def test_any_text_is_parsed_or_refused(text):
    """No text leads to another error than the one for bad selectors."""
    try:
        selector = field_selectors.parse(text)
    except SelectorError:
        return
    assert field_selectors.parse(str(selector)) == selector
