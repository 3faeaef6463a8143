"""The changes of two clients to one document."""

import pytest
from hypothesis import given, strategies as st

from compute.decide.workload_edits.document_merge import merge_patch, merged

SPEC = {
    "cities": ["DFW", "LHR"],
    "containers": [{"name": "app", "image": "a:1"}, {"name": "proxy", "image": "p:1"}],
}
BASE = {"metadata": {"labels": {"team": "shop"}}, "spec": SPEC}
KEYS = st.sampled_from(["a", "b", "name"])
VALUES = st.recursive(
    st.integers(0, 2) | st.text("xy", max_size=1),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=3)


def changed(**spec):
    return BASE | {"spec": SPEC | spec}


def containers(app="a:1", proxy="p:1"):
    return [{"name": "app", "image": app}, {"name": "proxy", "image": proxy}]


def test_two_containers_are_changed_by_two_clients():
    """Items of a list that have names are compared by name."""
    both = merged(
        BASE, changed(containers=containers(app="a:2")), changed(containers=containers(proxy="p:2"))
    )

    assert both.document == changed(containers=containers("a:2", "p:2"))
    assert both.conflicts == ()


def test_items_that_one_client_moves_stay_moved():
    """The order of variables and containers has a meaning, so it is part of the change."""
    moved = changed(containers=containers()[::-1])
    theirs = changed(containers=[*containers(proxy="p:2"), {"name": "log"}])
    both = merged(BASE, moved, theirs)

    assert both.document == changed(containers=[*containers(proxy="p:2")[::-1], {"name": "log"}])
    assert merged(BASE, theirs, moved).document == both.document


def test_one_field_changed_by_both():
    """The conflict names the field, down to the container."""
    both = merged(
        BASE, changed(containers=containers("a:2")), changed(containers=containers("a:3"))
    )

    assert both.conflicts == ("spec.containers.app.image",)


def test_both_make_the_same_change():
    """Then there is nothing to decide."""
    mine = changed(containers=containers("a:2"))

    assert merged(BASE, mine, mine).document == mine
    assert merged(BASE, mine, mine).conflicts == ()


def test_a_list_without_names_is_one_value():
    """The order of cities may matter, so two changes of it collide."""
    both = merged(BASE, changed(cities=["DFW"]), changed(cities=["DFW", "LHR", "SIN"]))

    assert both.conflicts == ("spec.cities",)


def test_a_field_removed_by_one_and_changed_by_the_other():
    """The removal must not silently win."""
    both = merged(
        BASE, changed(containers=containers()[:1]), changed(containers=containers(proxy="p:2"))
    )

    assert both.conflicts == ("spec.containers.proxy.image",)


def test_a_label_added_by_each():
    """Both labels stay, also where there were none before."""
    empty: dict[str, object] = {"metadata": {}}
    both = merged(empty, {"metadata": {"labels": {"a": "1"}}}, {"metadata": {"labels": {"b": "2"}}})

    assert both.document == {"metadata": {"labels": {"b": "2", "a": "1"}}}


def test_a_container_added_by_each():
    """A list that only the two changes have is merged by name as well."""
    app, proxy = containers()
    both = merged({}, {"containers": [app]}, {"containers": [proxy]})

    assert both.document == {"containers": [proxy, app]}


@pytest.mark.parametrize("other", [[{"image": "x"}], [1], [{"name": "a"}, {"name": "a"}]])
def test_a_list_whose_items_have_no_names_of_their_own(other):
    """It cannot be merged by name."""
    assert merged({"c": []}, {"c": other}, {"c": [{"name": "b"}]}).conflicts == ("c",)


def test_values_of_different_shapes_collide():
    """An object and a list are never merged."""
    assert merged({"c": 1}, {"c": {"a": 1}}, {"c": []}).conflicts == ("c",)


def test_the_patch_of_a_change():
    """What is gone is null; what is equal is left out."""
    before = {"a": 1, "b": {"c": 1, "d": 2}, "e": [1], "g": {"x": 1}}
    after = {"b": {"c": 1, "d": 3}, "e": [1], "f": {}, "g": {"x": 1}}

    assert merge_patch(before, after) == {"a": None, "b": {"d": 3}, "f": {}}


@given(base=DOCUMENTS, mine=DOCUMENTS)
def test_without_another_change_mine_is_the_result(base, mine):
    """A merge invents nothing, and loses nothing."""
    assert merged(base, mine, base).document == mine
    assert merged(base, base, mine).document == mine
    assert merged(base, mine, mine).conflicts == ()


@given(before=DOCUMENTS, after=DOCUMENTS)
def test_a_patch_leads_from_one_document_to_the_other(before, after):
    """As RFC 7386 applies it."""
    assert _applied(before, merge_patch(before, after)) == after


def _applied(document, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _applied(result.get(key), value)
    return result
