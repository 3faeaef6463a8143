"""Paths of printer columns, scales and selectable fields."""

import contextlib

import pytest
from hypothesis import given, strategies as st

from kubekit.plane.registry import json_path

DOCUMENT = {
    "spec": {
        "replicas": 3,
        "list": ["p", "q", "r"],
        "map": {"a.b": "dotted", "c d": "spaced", "it's": "quoted"},
        "nothing": None,
        "items": [
            {"type": "a", "n": 1, "on": True, "sub": {"x": "1"}},
            {"type": "b", "n": 2.5, "extra": None},
            {"type": "c", "n": "2"},
        ],
    }
}

FOUND = [
    (".spec.replicas", [3]),
    (".spec['replicas']", [3]),
    ('["spec"]["replicas"]', [3]),
    (r".spec.map.a\.b", ["dotted"]),
    (".spec.map['a.b']", ["dotted"]),
    (".spec.map['c d']", ["spaced"]),
    (r".spec.map['it\'s']", ["quoted"]),
    (".spec.map.*", ["dotted", "spaced", "quoted"]),
    (".spec.nothing", [None]),
    (".spec.absent", []),
    (".spec.replicas.deeper", []),
    (".spec.list.p", []),
    (".spec.list[0]", ["p"]),
    (".spec.list[-1]", ["r"]),
    (".spec.list[-2]", ["q"]),
    (".spec.list[9]", []),
    (".spec.map[0]", []),
    (".spec.list[*]", ["p", "q", "r"]),
    (".spec.list.*", ["p", "q", "r"]),
    (".spec.map[*]", []),
    (".spec.replicas.*", []),
    (".spec.list[1:]", ["q", "r"]),
    (".spec.list[-1:]", ["r"]),
    (".spec.list[:2]", ["p", "q"]),
    (".spec.list[1:2]", ["q"]),
    (".spec.items[*].type", ["a", "b", "c"]),
    ('.spec.items[?(@.type=="b")].n', [2.5]),
    (".spec.items[?(@.type=='b')].n", [2.5]),
    (".spec.items[?( @.type == 'z' )].n", []),
    (".spec.items[?(@.type!='b')].type", ["a", "c"]),
    (".spec.items[?(@.n!=1)].type", ["b", "c"]),
    (".spec.items[?(@.n==1)].type", ["a"]),
    (".spec.items[?(@.n<2)].type", ["a"]),
    (".spec.items[?(@.n<=1.0)].type", ["a"]),
    (".spec.items[?(@.n>1)].type", ["b"]),
    (".spec.items[?(@.n>='2')].type", ["c"]),
    (".spec.items[?(@.on==true)].type", ["a"]),
    (".spec.items[?(@.on==1)].type", []),
    (".spec.items[?(@.extra)].type", ["b"]),
    (".spec.items[?(@.sub.x=='1')].type", ["a"]),
    (".spec.items[?(@['type']=='a')].n", [1]),
    (".spec.list[?(@=='q')]", ["q"]),
    (".spec.map[?(@.x)]", []),
]

UNREADABLE = [
    "",
    ".",
    "spec",
    "..spec",
    ".spec.",
    ".spec..replicas",
    "{.spec.replicas}",
    "$.spec",
    ".spec[",
    ".spec[]",
    ".spec['a]",
    ".list[0,1]",
    ".list[12345678901]",
    ".list[\N{ARABIC-INDIC DIGIT ONE}]",
    ".items[?(@.type=='a']",
    ".items[?(@.type=)]",
    ".items[?(@..type)]",
    ".items[?(.type)]",
    ".items[?(@.type==a)]",
    ".items[?(@.type==null)]",
    ".spec.replicas ",
]


@pytest.mark.parametrize(("text", "expected"), FOUND, ids=[text for text, _ in FOUND])
def test_a_path_finds_its_values_in_document_order(text, expected):
    """Names, quotes, escapes, indexes, slices, wildcards and filters lead where they say."""
    assert json_path.compile(text).values(DOCUMENT) == expected


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_cannot_be_read_is_refused(text):
    """An unsupported path fails when it is compiled, not when it is used."""
    with pytest.raises(json_path.JsonPathError):
        json_path.compile(text)


def test_the_refusal_says_from_where_on():
    """The message quotes the rest that could not be read."""
    with pytest.raises(json_path.JsonPathError, match=r"from '\[0,1\]' on"):
        json_path.compile(".list[0,1]")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (".spec.replicas", ("spec", "replicas")),
        (r".a.b\.c['d e']", ("a", "b.c", "d e")),
        (".spec.list[0]", ()),
        (".spec.*", ()),
        (".items[?(@.x)].y", ()),
    ],
)
def test_a_path_of_names_tells_its_names(text, fields):
    """Only a path that leads to one place can be written to."""
    assert json_path.compile(text).fields == fields


@given(st.text(max_size=40))
def test_any_text_is_a_path_or_refused(text):
    """Nothing but the refusal comes out of a text, and a path reads any document."""
    try:
        found = json_path.compile(text).values(DOCUMENT)
    except json_path.JsonPathError:
        return
    assert isinstance(found, list)


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4))
def test_any_name_can_be_spelled(names):
    """With every character escaped, a name stands for itself."""
    text = "".join("." + "".join(f"\\{character}" for character in name) for name in names)
    document: object = "found"
    for name in reversed(names):
        document = {name: document}
    assert json_path.compile(text).values(document) == ["found"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        ".a" * 50_000,
        "." + "a\\" * 50_000,
        ".x[?(@" + ".a" * 50_000,
        ".x[?(@.a=='" + "\\'" * 50_000,
        "['" + "\\" * 100_001,
        ".x[?(@" + "[*]" * 30_000 + " " * 30_000 + "=",
    ],
    ids=["names", "escapes", "open filter", "open text", "open quote", "spaces"],
)
def test_reading_a_path_takes_linear_time(text):
    """A hundred kilobytes of path are read or refused at once."""
    with contextlib.suppress(json_path.JsonPathError):
        json_path.compile(text)


@pytest.mark.timeout(60)
def test_finding_takes_linear_time():
    """Wildcards and filters visit each place once."""
    document = {"rows": [[{"n": n, "m": [n]} for n in range(100)] for _ in range(300)]}
    path = json_path.compile(".rows[*][?(@.m[*]>=50)].m[*]")
    found = path.values(document)
    assert len(found) == 300 * 50
