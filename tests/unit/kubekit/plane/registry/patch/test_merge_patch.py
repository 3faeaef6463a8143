"""RFC 7386: what a merge patch makes of a document."""

import copy

import pytest
from hypothesis import given, strategies as st

from kubekit.api.errors import BadRequest
from kubekit.plane.registry.patch import merge_patch

CASES = [
    pytest.param({"a": "b"}, {"a": "c"}, {"a": "c"}, id="replace"),
    pytest.param({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}, id="add"),
    pytest.param({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}, id="remove"),
    pytest.param({"a": "b"}, {"z": None}, {"a": "b"}, id="remove what is not there"),
    pytest.param({"a": ["b"]}, {"a": "c"}, {"a": "c"}, id="text for a list"),
    pytest.param({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}, id="list for text"),
    pytest.param({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}, id="nested"),
    pytest.param({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}, id="lists are replaced"),
    pytest.param({"a": "foo"}, {"a": {"x": None, "y": 1}}, {"a": {"y": 1}}, id="object for text"),
    pytest.param({"e": None}, {"a": 1}, {"e": None, "a": 1}, id="a null of the document stays"),
    pytest.param({}, {"a": {"b": {"c": None}}}, {"a": {"b": {}}}, id="nulls in new objects go"),
    pytest.param({}, {"a": [None, {"b": None, "c": 1}]}, {"a": [None, {"c": 1}]}, id="in lists"),
    pytest.param({}, {"a": [[None, {"b": None}]]}, {"a": [[None, {}]]}, id="in lists in lists"),
    pytest.param({}, {"a": [{"b": {"c": None}}]}, {"a": [{"b": {}}]}, id="in objects in lists"),
    pytest.param({}, {"a": ["null"]}, {"a": ["null"]}, id="the word is not the null"),
]

scalars = st.one_of(st.booleans(), st.integers(-9, 9), st.text("ab", max_size=3))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
    ),
    max_leaves=12,
)
documents = st.dictionaries(st.sampled_from("abcd"), values, max_size=4)


def difference(before, after):
    """The merge patch that makes the one the other, by the definition of RFC 7386."""
    patch = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            patch |= {name: inner} if (inner := difference(old, value)) else {}
        elif name not in before or type(old) is not type(value) or old != value:
            patch[name] = value
    return patch


@pytest.mark.parametrize(("document", "patch", "expected"), CASES)
def test_a_patch_gives_what_the_rfc_says(document, patch, expected):
    """Fields are set, merged and removed as RFC 7386 defines."""
    assert merge_patch.apply(document, patch) == expected


@pytest.mark.parametrize("patch", [None, [], [{"op": "add"}], "x", 1, True])
def test_a_patch_that_is_no_object_is_refused(patch):
    """The answer to a merge patch that is not an object is 400: no object would be left."""
    with pytest.raises(BadRequest, match="must be a JSON object"):
        merge_patch.apply({"a": 1}, patch)


@given(documents, documents)
def test_the_difference_of_two_documents_leads_from_one_to_the_other(before, after):
    """Applying the difference gives the target, exactly."""
    assert repr(sorted_(merge_patch.apply(before, difference(before, after)))) == repr(
        sorted_(after)
    )


@given(documents, documents)
def test_applying_twice_is_applying_once(document, patch):
    """A merge patch is idempotent."""
    once = merge_patch.apply(document, patch)
    assert merge_patch.apply(once, patch) == once


@given(documents, documents, documents)
def test_arguments_stay_as_they_were(document, patch, scribble):
    """Neither argument changes, and writing into the result does not reach the patch."""
    kept, kept_patch = copy.deepcopy(document), copy.deepcopy(patch)
    result = merge_patch.apply(document, patch)
    assert document == kept
    for value in result.values():
        if isinstance(value, list):
            value.append(scribble)
    assert patch == kept_patch


def test_a_patch_as_deep_as_a_request_may_be_is_applied():
    """Nesting costs no stack, so 500 levels are nothing special."""
    patch: dict[str, object] = {"leaf": 1}
    for _ in range(500):
        patch = {"a": patch}
    assert merge_patch.apply({}, patch) == patch


def sorted_(value):
    if isinstance(value, dict):
        return {name: sorted_(value[name]) for name in sorted(value)}
    return [sorted_(item) for item in value] if isinstance(value, list) else value
