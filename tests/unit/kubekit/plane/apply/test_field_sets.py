"""Sets of fields and the text they are written in."""

import pytest
from hypothesis import given, strategies as st

from kubekit.plane.apply.field_sets import (
    BadFields,
    FieldSet,
    contains,
    difference,
    intersection,
    paths,
    read,
    union,
)

STEPS = st.sampled_from(["f:a", "f:b", 'k:{"name":"a"}', 'k:{"name":"b"}', 'v:"x"', "v:1", "i:0"])
PLACES = st.lists(STEPS, min_size=1, max_size=4).map(tuple)
MEMBERS = st.frozensets(PLACES, max_size=8)


def written(members):
    """The set of these paths as ``fieldsV1`` has it, in whatever order."""
    tree: FieldSet = {}
    for path in members:
        node = tree
        for step in path:
            node = node.setdefault(step, {})
        node["."] = {}
    return tree


def set_of(members):
    return read(written(members))


def members_of(fields, prefix=()):
    found = set()
    for step, node in fields.items():
        if step != ".":
            if not node or "." in node:
                found.add((*prefix, step))
            found |= members_of(node, (*prefix, step))
    return frozenset(found)


@given(MEMBERS, MEMBERS)
def test_sets_obey_the_laws_of_sets(one, other):
    """Union, intersection and difference are those of the paths, and containment follows."""
    a, b = set_of(one), set_of(other)

    assert members_of(union(a, b)) == one | other
    assert members_of(intersection(a, b)) == one & other
    assert members_of(difference(a, b)) == one - other
    assert contains(a, b) == (other <= one)


@given(MEMBERS, MEMBERS)
def test_results_are_in_the_one_form(one, other):
    """What was read again is the same, steps and all in the same order."""
    a, b = set_of(one), set_of(other)

    for made in (a, union(a, b), intersection(a, b), difference(a, b)):
        assert repr(read(made)) == repr(made)


@given(MEMBERS, MEMBERS)
def test_nothing_new_is_made_when_nothing_differs(one, other):
    """A set that keeps all it has is the same object, which is how callers tell."""
    a, both = set_of(one), set_of(one | other)

    assert union(both, a) is both
    assert difference(a, set_of(other - one)) is a


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param({}, {}, id="empty"),
        pytest.param(None, {}, id="null"),
        pytest.param({".": {}}, {}, id="the root has no owner"),
        pytest.param({"f:b": {}, "f:a": {}}, {"f:a": {}, "f:b": {}}, id="in order"),
        pytest.param({"f:a": None}, {"f:a": {}}, id="null is a leaf"),
        pytest.param({"f:a": {".": 3}}, {"f:a": {}}, id="a dot alone is a leaf"),
        pytest.param({"f:": {}}, {"f:": {}}, id="a name may be empty"),
        pytest.param({"z:a": {}, "f:a": {}}, {"f:a": {}}, id="kinds of steps to come"),
        pytest.param(
            {'k:{"b": 1.0, "a":"<"}': {}}, {'k:{"a":"\\u003c","b":1}': {}}, id="keys as Go has them"
        ),
        pytest.param({"i:01": {}}, {"i:1": {}}, id="a place"),
        pytest.param({"v:[1]": {}}, {"v:[1]": {}}, id="a list"),
        pytest.param({'v:{"a":1}': {}}, {'v:{"a":1}': {}}, id="an object"),
        pytest.param({"v:1.0": {}, "v:1": {"f:a": {}}}, {"v:1": {".": {}, "f:a": {}}}, id="twice"),
        pytest.param({"v:true": {}, "v:null": {}}, {"v:null": {}, "v:true": {}}, id="words"),
    ],
)
def test_reads_what_kube_apiserver_reads(raw, expected):
    """Every spelling becomes the one that Kubernetes writes."""
    got = read(raw)

    assert got == expected
    assert list(got) == list(expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1e25", "1e+25"),
        ("1e16", "10000000000000000"),
        ("0.00001", "0.00001"),
        ("1e-7", "1e-7"),
        ("1.5", "1.5"),
        ('"\u2028é\\""', '"\\u2028é\\""'),
        ('"' + "x" * 200 + '"', '"' + "x" * 200 + '"'),
    ],
)
def test_values_are_spelled_as_go_spells_them(value, text):
    """Numbers are plain unless very large or small, and only a few characters are escaped."""
    assert read({f"v:{value}": {}}) == {f"v:{text}": {}}


@pytest.mark.parametrize(
    "raw",
    [
        {"x": {}},
        {"spec": {}},
        {"f": {}},
        {"": {}},
        {"f:a": 1},
        {"f:a": {"f:b": []}},
        {"v:{": {}},
        {"v:1 2": {}},
        {"v:NaN": {}},
        {"k:1": {}},
        {"k:[": {}},
        {"i:x": {}},
        {"i:" + "9" * 5000: {}},
        "text",
        [1],
    ],
    ids=str,
)
def test_d3_refuses_what_is_no_set(raw):
    """A text that is not a step, or a step to something else than steps, is an error."""
    with pytest.raises(BadFields):
        read(raw)


def test_d2_deep_sets_are_refused():
    """A set that is nested deeper than anybody can follow is an error, not a crash."""
    deep: FieldSet = {}
    for _ in range(5000):
        deep = {"f:a": deep}

    with pytest.raises(BadFields, match="too deep"):
        read(deep)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"f:a": {"f:b": {}}, "f:c": {}}, [".c", ".a.b"]),
        (
            {'k:{"name":"a","port":80}': {".": {}, "f:v": {}}},
            ['[name="a",port=80]', '[name="a",port=80].v'],
        ),
        (
            {'v:"a"': {}, "v:1.5": {}, "v:true": {}, "i:3": {}},
            ['[="a"]', "[=1.5]", "[=true]", "[3]"],
        ),
        ({'v:"\\n\\"\\u0001é\\u00a0\\udbff\\udfff"': {}}, ['[="\\n\\"\\x01é\\u00a0\\U0010ffff"]']),
        ({"v:[1,null]": {}, 'v:{"a":"b"}': {}}, ["[=[1,null]]", '[=a="b"]']),
    ],
)
def test_paths_are_shown_as_kubectl_shows_them(fields, expected):
    """Fields with a dot, keys and values in brackets, and what is nearer first."""
    assert list(paths(fields)) == expected
