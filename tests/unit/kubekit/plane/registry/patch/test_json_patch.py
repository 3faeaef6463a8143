"""RFC 6902 as Kubernetes reads it: every operation, and every way one can fail."""

import contextlib
import copy

import pytest
from hypothesis import given, strategies as st

from kubekit.api.errors import BadRequest, Invalid, TooLarge
from kubekit.plane.registry.patch import json_patch


def op(name, path, **rest):
    rest = {"from" if key == "source" else key: value for key, value in rest.items()}
    return {"op": name, "path": path, **rest}


WORKING = [
    pytest.param({"a": 1}, op("add", "/b", value=2), {"a": 1, "b": 2}, id="add a field"),
    pytest.param({"a": 1}, op("add", "/a", value=None), {"a": None}, id="add over a field"),
    pytest.param({"a": [1, 3]}, op("add", "/a/1", value=2), {"a": [1, 2, 3]}, id="insert"),
    pytest.param({"a": [1]}, op("add", "/a/1", value=2), {"a": [1, 2]}, id="insert at the end"),
    pytest.param({"a": [1]}, op("add", "/a/-", value=[2]), {"a": [1, [2]]}, id="append"),
    pytest.param({"a": 1}, op("add", "", value={"b": 1}), {"b": 1}, id="add the whole"),
    pytest.param({"a/b": {"~": 1}}, op("add", "/a~1b/~0", value=2), {"a/b": {"~": 2}}, id="escape"),
    pytest.param({}, op("add", "/", value=1), {"": 1}, id="the empty name is a name"),
    pytest.param({"a": 1, "b": 2}, op("remove", "/a"), {"b": 2}, id="remove a field"),
    pytest.param({"a": [1, 2, 3]}, op("remove", "/a/1"), {"a": [1, 3]}, id="remove an entry"),
    pytest.param({"a": 1}, op("replace", "/a", value={}), {"a": {}}, id="replace a field"),
    pytest.param({"a": [1, 2]}, op("replace", "/a/0", value=9), {"a": [9, 2]}, id="replace entry"),
    pytest.param({"a": 1}, op("replace", "", value={"c": 1}), {"c": 1}, id="replace the whole"),
    pytest.param({"a": {"b": 1}}, op("move", "/c", source="/a/b"), {"a": {}, "c": 1}, id="move"),
    pytest.param({"a": [1, 2, 3]}, op("move", "/a/2", source="/a/0"), {"a": [2, 3, 1]}, id="shift"),
    pytest.param({"a": {"b": {}}}, op("move", "", source="/a"), {"b": {}}, id="move to the top"),
    pytest.param({"a": 1}, op("move", "/a", source="/a"), {"a": 1}, id="move to where it is"),
    pytest.param({"a": [1]}, op("copy", "/b", source="/a"), {"a": [1], "b": [1]}, id="copy"),
    pytest.param({"a": 1}, op("copy", "/b", source=""), {"a": 1, "b": {"a": 1}}, id="copy whole"),
    pytest.param({"a": 1}, op("test", "/a", value=1.0), {"a": 1}, id="numbers by value"),
    pytest.param({"a": [{"b": 1}]}, op("test", "/a", value=[{"b": 1}]), {"a": [{"b": 1}]}, id="eq"),
    pytest.param({"a": None}, op("test", "/a", value=None), {"a": None}, id="null is a value"),
    pytest.param({"a": 1}, op("test", "", value={"a": 1}), {"a": 1}, id="test the whole"),
    pytest.param({"a": 1}, op("remove", "/a", more="words"), {}, id="unknown words are ignored"),
    pytest.param({"a": 1}, op("replace", "/b", value=2), {"a": 1, "b": 2}, id="replace nothing"),
    pytest.param({"a": 1}, op("copy", "/c", source="/b"), {"a": 1, "c": None}, id="copy nothing"),
    pytest.param({"a": 1}, op("test", "/b", value=None), {"a": 1}, id="nothing is null"),
    pytest.param({"a": 1}, op("add", "/a"), {"a": None}, id="add no value"),
    pytest.param({"a": 1}, op("replace", "/a"), {"a": None}, id="replace by no value"),
    pytest.param({"a": None}, op("test", "/a"), {"a": None}, id="test for no value"),
    pytest.param({"a": [1, 2]}, op("add", "/a/-1", value=3), {"a": [1, 2, 3]}, id="add last"),
    pytest.param({"a": [1, 2]}, op("add", "/a/-3", value=3), {"a": [3, 1, 2]}, id="add first"),
    pytest.param({"a": [1, 2]}, op("remove", "/a/-1"), {"a": [1]}, id="remove the last"),
    pytest.param({"a": [1, 2]}, op("replace", "/a/-2", value=3), {"a": [3, 2]}, id="last but one"),
    pytest.param({"a": [{}]}, op("add", "/a/-1/b", value=1), {"a": [{"b": 1}]}, id="in the last"),
]

FAILING = [
    pytest.param(op("add", "/no/such", value=1), "nothing at '/no'", id="add below nothing"),
    pytest.param(op("add", "/text/x", value=1), "neither an object", id="add into text"),
    pytest.param(op("add", "/list/9", value=1), "only 2 elements", id="add beyond the end"),
    pytest.param(op("add", "/list/01", value=1), "not an array index", id="leading zero"),
    pytest.param(op("add", "/list/-4", value=1), "only 2 elements", id="add before the first"),
    pytest.param(op("replace", "/list/-3", value=1), "only 2 elements", id="before the first"),
    pytest.param(op("test", "/list/2", value=None), "only 2 elements", id="no entry is not null"),
    pytest.param(op("copy", "/x", source="/no/such"), "nothing at '/no'", id="copy below nothing"),
    pytest.param(op("test", "/no/such", value=None), "nothing at '/no'", id="test below nothing"),
    pytest.param(op("replace", "/no/such", value=1), "nothing at '/no'", id="below nothing"),
    pytest.param(op("test", "/text", value=None), "another one", id="something is not null"),
    pytest.param(op("move", "/x", source=None), "no 'from'", id="null from"),
    pytest.param(op("add", None, value=1), "no 'path'", id="null path"),
    pytest.param(op(None, "/x", value=1), "'' is not an operation", id="null op"),
    pytest.param(None, "'' is not an operation", id="null operation"),
    pytest.param(op("x" * 10**6, "/a"), r"\('x{80}'\.\.\. '/a'\)", id="a million letters"),
    pytest.param(op("add", "/list/x", value=1), "not an array index", id="name into a list"),
    pytest.param(op("add", "text", value=1), "start with '/'", id="no pointer"),
    pytest.param(op("add", "/a~2", value=1), "'~' is written", id="bad escape"),
    pytest.param(op("remove", "/nope"), "nothing at '/nope'", id="remove nothing"),
    pytest.param(op("remove", "/list/-"), "only 2 elements", id="remove past the end"),
    pytest.param(op("remove", ""), "cannot be removed", id="remove the whole"),
    pytest.param(op("replace", "/list/2", value=1), "only 2 elements", id="replace past the end"),
    pytest.param(op("move", "/x", source="/nope"), "nothing at '/nope'", id="move nothing"),
    pytest.param(op("move", "/map/x", source="/map"), "into itself", id="move into itself"),
    pytest.param(op("move", "/map/x", source=""), "into itself", id="move the whole into itself"),
    pytest.param(
        op("move", "/nope", source="/nope"), "nothing at '/nope'", id="move nothing onto itself"
    ),
    pytest.param(op("move", "/x"), "no 'from'", id="move without from"),
    pytest.param(op("copy", "/x"), "no 'from'", id="copy without from"),
    pytest.param(op("test", "/text", value="no"), "another one", id="test fails"),
    pytest.param(op("test", "/one", value=True), "another one", id="one is not true"),
    pytest.param(op("test", "/list", value=[1]), "another one", id="shorter list"),
    pytest.param(op("test", "/map", value={"k": 2}), "another one", id="other value inside"),
    pytest.param(op("test", "/map", value={"l": 1}), "another one", id="other name inside"),
    pytest.param(op("test", "/map", value=["k"]), "another one", id="other type"),
    pytest.param(op("test", "text", value=1), "start with '/'", id="test without pointer"),
    pytest.param(op("merge", "/text", value=1), "'merge' is not an operation", id="unknown op"),
    pytest.param({"path": "/text"}, "is not an operation", id="no op"),
    pytest.param({"op": "add", "value": 1}, "no 'path'", id="no path"),
    pytest.param(op("replace", "", value=[1]), "not a JSON object", id="leaves a list"),
]

MALFORMED = [
    pytest.param(None, "array of operations", id="null"),
    pytest.param({}, "array of operations", id="object"),
    pytest.param("[]", "array of operations", id="text"),
    pytest.param(["add"], "operation 0 .* must be a JSON object", id="text as operation"),
    pytest.param([op("test", "", value={}), 3], "operation 1 ", id="second one"),
    pytest.param([op("add", 1, value=1)], "'path' must be a string", id="path"),
    pytest.param([op(1, "/a", value=1)], "'op' must be a string", id="op"),
    pytest.param([op("copy", "/a", source=1)], "'from' must be a string", id="from"),
]


@pytest.mark.parametrize(("document", "operation", "expected"), WORKING)
def test_an_operation_does_what_it_says(document, operation, expected):
    """Each operation has its effect; what is absent is null to those that only read."""
    assert json_patch.apply(document, [operation]) == expected


@pytest.mark.parametrize(("operation", "why"), FAILING)
def test_a_failing_operation_refuses_the_whole_patch(operation, why):
    """The answer is 422, says why, and the document keeps even what earlier operations changed."""
    document = {"text": "t", "one": 1, "list": [1, 2], "map": {"k": 1}}
    kept = copy.deepcopy(document)
    with pytest.raises(Invalid, match=why):
        json_patch.apply(document, [op("add", "/early", value=1), operation])
    assert document == kept


@pytest.mark.parametrize(("operations", "why"), MALFORMED)
def test_what_is_no_list_of_operations_is_a_bad_request(operations, why):
    """The answer to something that is no JSON patch at all is 400."""
    with pytest.raises(BadRequest, match=why):
        json_patch.apply({}, operations)


def test_the_refusal_names_the_operation():
    """A reader of the message finds the operation by its number and path."""
    with pytest.raises(Invalid) as caught:
        json_patch.apply({"a": 1}, [op("test", "/a", value=1), op("remove", "/b")])
    assert caught.value.message == (
        "the JSON patch fails at operation 1 (remove '/b'): nothing at '/b': the object has no 'b'"
    )


def test_operations_see_what_earlier_ones_did():
    """Operations are applied in order, on one document."""
    patch = [
        op("add", "/a", value=[]),
        op("add", "/a/-", value=1),
        op("copy", "/b", source="/a"),
        op("add", "/a/-", value=2),
        op("move", "/c", source="/a"),
    ]
    assert json_patch.apply({}, patch) == {"b": [1], "c": [1, 2]}


def test_no_operations_change_nothing():
    """An empty patch is a patch."""
    assert json_patch.apply({"a": 1}, []) == {"a": 1}


names = st.sampled_from(["", "a", "b", "0", "1", "-"])
paths = st.lists(names, max_size=3).map(lambda tokens: "".join(f"/{token}" for token in tokens))
small = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 2)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), "path": paths},
    optional={"value": small, "from": paths},
)


@given(st.dictionaries(names, small, max_size=3), st.lists(operations, max_size=6))
def test_arguments_never_change(document, patch):
    """Whatever comes of a patch, the arguments stay as they were and share nothing with it."""
    kept, kept_patch = copy.deepcopy(document), copy.deepcopy(patch)
    with contextlib.suppress(Invalid):
        scribble_over(json_patch.apply(document, patch))
    assert (document, patch) == (kept, kept_patch)


@given(small, st.dictionaries(names, small, max_size=3))
def test_what_was_added_tests_equal_and_can_be_removed(value, document):
    """Add, test and remove of a new name undo each other, for any value."""
    patch = [op("add", "/new", value=value), op("test", "/new", value=value), op("remove", "/new")]
    assert json_patch.apply(document, patch) == document


def test_d1_ten_thousand_operations_are_the_most():
    """One more is refused with 413 before any is applied."""
    patch = [op("test", "", value={})] * json_patch.MOST_OPERATIONS
    assert json_patch.apply({}, patch) == {}
    with pytest.raises(TooLarge, match="maximum operations in a JSON patch is 10000, got 10001"):
        json_patch.apply({}, [*patch, patch[0]])


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(op("add", "/list/-", value=1), id="append"),
        pytest.param(op("replace", "/list/5", value=1), id="replace in a long list"),
        pytest.param(op("move", "/list/0", source="/list/9"), id="move within a long list"),
        pytest.param(op("test", "/list", value=[1]), id="test against a long list"),
    ],
)
def test_ten_thousand_operations_on_a_large_document_take_no_longer_than_a_moment(operation):
    """The time of an operation does not grow with the document beyond moving list entries."""
    document = {"list": [{"n": n} for n in range(10_000)]}
    patch = [operation] * json_patch.MOST_OPERATIONS
    try:
        json_patch.apply(document, patch)
    except Invalid:
        assert operation["op"] == "test"


@pytest.mark.parametrize("name", ["add", "remove"])
def test_the_shifting_of_long_lists_is_limited(name):
    """Each entry that is put first moves all the others."""
    patch = [op("add", "/a", value=[1] * 1_200_000)] + [op(name, "/a/0", value=1)] * 5_000
    with pytest.raises(Invalid, match="moves the entries of long lists too often"):
        json_patch.apply({}, patch)


def test_copies_that_blow_the_document_up_are_refused():
    """Doubling 40 times would make a terabyte; it ends after three megabytes."""
    patch = [op("copy", f"/{n}", source="") for n in range(40)]
    with pytest.raises(Invalid, match="copies more than 3145728 bytes"):
        json_patch.apply({"text": "x" * 100}, patch)


def test_many_small_copies_are_allowed():
    """The limit is on what is copied, not on how often."""
    patch = [op("copy", f"/{n}", source="/a") for n in range(5_000)]
    assert len(json_patch.apply({"a": {"b": [1]}}, patch)) == 5_001


def test_a_wide_document_is_not_a_deep_one():
    """Thousands of objects side by side are no reason to refuse a patch."""
    assert len(json_patch.apply({}, [op("add", "/a", value=[{}] * 5_000)])["a"]) == 5_000


@pytest.mark.parametrize("times", [2, 60])
def test_documents_put_into_each_other_do_not_get_too_deep(times):
    """The result may be no deeper than a request, however many operations nested it."""
    path = "/a" * 400
    chain: dict[str, object] = {}
    for _ in range(400):
        chain = {"a": chain}
    patch = []
    for _ in range(times):
        patch += [op("add", "/new", value=chain), op("move", "/new" + path, source="/a")]
        patch += [op("move", "/a", source="/new")]
    with pytest.raises(Invalid, match="deeper than 500 levels"):
        json_patch.apply({"a": {}}, patch)


def test_copying_what_is_too_deep_is_refused():
    """A copy of thousands of levels ends in a refusal, not in a fault of the server."""
    chain: dict[str, object] = {}
    for _ in range(400):
        chain = {"a": chain}
    patch = []
    for _ in range(10):
        patch += [op("add", "/new", value=chain), op("move", "/new" + "/a" * 400, source="/a")]
        patch += [op("move", "/a", source="/new")]
    with pytest.raises(Invalid, match="deeper than 500 levels"):
        json_patch.apply({"a": {}}, [*patch, op("copy", "/b", source="/a")])


def scribble_over(value):
    """Change everything in a value that can be changed."""
    children = list(value.values()) if isinstance(value, dict) else value
    for child in children if isinstance(children, list) else ():
        scribble_over(child)
    if isinstance(value, dict | list):
        value.clear()
