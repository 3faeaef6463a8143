"""Strategic merge patches, as kubectl writes them and a Kubernetes server applies them."""

import copy

import pytest
from hypothesis import given, strategies as st

from kubekit.api.errors import BadRequest
from kubekit.api.kinds.core import Namespace, Secret, ServiceAccount
from kubekit.plane.registry.patch import merge_patch, strategic_merge_patch

LISTS = {"finalizers": strategic_merge_patch.SET, "secrets": "name", "secrets.ports": "port"}


def named(*names):
    return [{"name": name} for name in names]


# What a kube-apiserver 1.34 made of the list a, b, c, d of finalizers.
PLAIN_LISTS = [
    pytest.param({"finalizers": ["e", "b"]}, "eabcd", id="merged as a set"),
    pytest.param({"finalizers": []}, "abcd", id="nothing new"),
    pytest.param({"$deleteFromPrimitiveList/finalizers": ["b", "z"]}, "acd", id="delete"),
    pytest.param(
        {"$deleteFromPrimitiveList/finalizers": ["b"], "finalizers": ["e"]}, "eacd", id="both"
    ),
    pytest.param({"$setElementOrder/finalizers": list("dcba")}, "dcba", id="order all"),
    pytest.param({"$setElementOrder/finalizers": list("db")}, "acdb", id="order some"),
    pytest.param({"$setElementOrder/finalizers": list("ca")}, "bcad", id="order others"),
    pytest.param(
        {"$setElementOrder/finalizers": list("dxb"), "finalizers": ["x"]}, "acdxb", id="add between"
    ),
    pytest.param(
        {"$setElementOrder/finalizers": list("xdb"), "finalizers": ["x"]}, "xacdb", id="add first"
    ),
    pytest.param(
        {"$setElementOrder/finalizers": list("bdx"), "finalizers": ["x"]}, "abcdx", id="add last"
    ),
    pytest.param(
        {"$setElementOrder/finalizers": list("cx"), "finalizers": ["x"]}, "abcxd", id="add after c"
    ),
    pytest.param({"$setElementOrder/finalizers": list("dqb")}, "acdb", id="order of strangers"),
    pytest.param({"$setElementOrder/finalizers": list("ddb")}, "acdb", id="order with doubles"),
    pytest.param(
        {"$setElementOrder/finalizers": list("db"), "$deleteFromPrimitiveList/finalizers": ["a"]},
        "cdb",
        id="order and delete",
    ),
]

# What it made of the secrets a, b, c, d of a service account.
KEYED_LISTS = [
    pytest.param({"secrets": named("b", "e")}, "abecd", id="merged by key"),
    pytest.param({"secrets": named("z", "y", "a")}, "zyabcd", id="new ones first"),
    pytest.param({"secrets": [{"name": "b", "$patch": "delete"}]}, "acd", id="delete"),
    pytest.param(
        {"secrets": [{"name": "z", "$patch": "delete"}]}, "abcd", id="delete a missing entry"
    ),
    pytest.param({"secrets": [{"$patch": "replace"}, {"name": "q"}]}, "q", id="replace"),
    pytest.param({"secrets": [{"name": "q"}, {"$patch": "replace"}]}, "q", id="replace, later"),
    pytest.param({"secrets": [{"name": "b", "$patch": "replace"}]}, "", id="replace by nothing"),
    pytest.param({"secrets": []}, "abcd", id="nothing new"),
    pytest.param({"$setElementOrder/secrets": named("d", "b")}, "acdb", id="order"),
    pytest.param(
        {"$setElementOrder/secrets": named("d", "x", "b"), "secrets": named("x", "b")},
        "acdxb",
        id="order and add",
    ),
    pytest.param(
        {
            "$setElementOrder/secrets": named("c", "x", "a"),
            "secrets": [{"name": "x"}, {"name": "d", "$patch": "delete"}],
        },
        "bcxa",
        id="order, add and delete",
    ),
    pytest.param(
        {"$setElementOrder/secrets": named("e", "d", "a"), "secrets": named("e")},
        "ebcda",
        id="order against the old one",
    ),
]

OBJECTS = [
    pytest.param({"data": {"k": None, "z": "1"}}, {"l": "w", "z": "1"}, id="merge"),
    pytest.param({"data": {"$patch": "replace", "z": "1"}}, {"z": "1"}, id="replace"),
    pytest.param({"data": {"$patch": "delete", "z": "1"}}, {}, id="delete"),
    pytest.param(
        {"data": {"$retainKeys": ["k", "z"], "z": "1"}}, {"k": "v", "z": "1"}, id="retain"
    ),
    pytest.param({"data": {"$other": "x"}}, {"k": "v", "l": "w", "$other": "x"}, id="no directive"),
    pytest.param({"data": ["x", None]}, ["x", None], id="a list in its place"),
    pytest.param({"data": "x"}, "x", id="text in its place"),
]

REFUSED = [
    pytest.param(None, "must be a JSON object", id="null"),
    pytest.param([], "must be a JSON object", id="list"),
    pytest.param({"data": {"$patch": "merge"}}, r"data: \$patch must be one of", id="patch"),
    pytest.param({"data": {"$patch": 3}}, r"data: \$patch must be one of", id="patch number"),
    pytest.param({"$patch": {}}, r"top level: \$patch must be one of", id="patch at the top"),
    pytest.param({"data": {"$retainKeys": ["k"], "z": "1"}}, "must name 'z'", id="retain less"),
    pytest.param({"data": {"$retainKeys": "k"}}, "list of strings", id="retain text"),
    pytest.param({"secrets": ["x"]}, "secrets: each entry must be a JSON object", id="plain"),
    pytest.param({"secrets": [None]}, "each entry must be a JSON object", id="null entry"),
    pytest.param({"secrets": [{"uid": "x"}]}, "must say its name", id="no key"),
    pytest.param({"secrets": [{"name": 1}]}, "must say its name, a string", id="key number"),
    pytest.param({"secrets": [{"$patch": "delete"}]}, "must say its name", id="delete no key"),
    pytest.param({"secrets": [{"name": "a", "$patch": "x"}]}, "must be one of", id="entry patch"),
    pytest.param({"$setElementOrder/secrets": [{}]}, "must say its name", id="order no key"),
    pytest.param({"$setElementOrder/secrets": ["a"]}, "must be a JSON object", id="order plain"),
    pytest.param({"$setElementOrder/secrets": "a"}, "must be a list", id="order text"),
    pytest.param({"$setElementOrder/finalizers": [{}]}, "list of strings", id="order objects"),
    pytest.param(
        {"$setElementOrder/other": ["a"]}, "other: .* replaced as a whole", id="order other"
    ),
    pytest.param({"$deleteFromPrimitiveList/finalizers": "a"}, "must be a list", id="delete text"),
    pytest.param({"$deleteFromPrimitiveList/secrets": ["a"]}, "is for plain values", id="entries"),
    pytest.param({"finalizers": [{"$patch": "replace"}]}, "list of strings", id="objects in a set"),
    pytest.param(
        {"$setElementOrder/finalizers": ["d", "b"], "finalizers": ["x"]},
        "does not name 'x'",
        id="order without the new one",
    ),
    pytest.param(
        {"$setElementOrder/finalizers": ["d", "b"], "finalizers": ["b", "d"]},
        "does not name 'd'",
        id="order against the list",
    ),
]


@pytest.mark.parametrize(("patch", "expected"), PLAIN_LISTS)
def test_lists_of_plain_values_are_merged_as_sets(patch, expected):
    """Values are added, deleted and ordered among those that the patch does not name."""
    result = strategic_merge_patch.apply({"finalizers": list("abcd")}, patch, LISTS)
    assert "".join(result["finalizers"]) == expected


@pytest.mark.parametrize(("patch", "expected"), KEYED_LISTS)
def test_lists_of_objects_are_merged_by_their_key(patch, expected):
    """Entries are added, deleted and ordered among those that the patch does not name."""
    result = strategic_merge_patch.apply({"secrets": named(*"abcd")}, patch, LISTS)
    assert "".join(entry["name"] for entry in result["secrets"]) == expected


@pytest.mark.parametrize(("patch", "expected"), OBJECTS)
def test_objects_are_merged_replaced_emptied_or_cut(patch, expected):
    """The directives of an object say what becomes of the fields that the patch does not name."""
    result = strategic_merge_patch.apply({"data": {"k": "v", "l": "w"}}, patch, LISTS)
    assert result == {"data": expected}


@pytest.mark.parametrize(("patch", "why"), REFUSED)
def test_a_patch_that_makes_no_sense_is_a_bad_request(patch, why):
    """The answer is 400 and names the place."""
    document = {"data": {"k": "v"}, "secrets": named("a"), "finalizers": list("abcd")}
    with pytest.raises(BadRequest, match=why):
        strategic_merge_patch.apply(document, patch, LISTS)


def test_an_entry_is_merged_field_by_field():
    """An entry with the same key keeps what the patch does not name, also in lists within it."""
    old = {"secrets": [{"name": "a", "x": 1, "y": 2, "ports": [{"port": "p", "n": 1}]}]}
    patch = {"secrets": [{"name": "a", "x": None, "ports": [{"port": "q"}, {"port": "p", "m": 2}]}]}
    assert strategic_merge_patch.apply(old, patch, LISTS) == {
        "secrets": [{"name": "a", "y": 2, "ports": [{"port": "q"}, {"port": "p", "n": 1, "m": 2}]}]
    }


def test_entries_without_a_unique_key_stay():
    """Old entries without a key, or with the same one, are neither merged nor lost."""
    old = {"secrets": [{"x": 1}, {"name": "a"}, {"name": "a", "x": 2}, {"x": 3}]}
    result = strategic_merge_patch.apply(old, {"secrets": [{"name": "a", "y": 1}]}, LISTS)
    assert result == {"secrets": [{"x": 1}, {"name": "a", "y": 1}, {"name": "a", "x": 2}, {"x": 3}]}


def test_deleting_by_key_removes_all_that_have_it():
    """A deletion removes every entry with that key."""
    old = {"secrets": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}
    patch = {"secrets": [{"name": "a", "$patch": "delete"}]}
    assert strategic_merge_patch.apply(old, patch, LISTS) == {"secrets": [{"name": "b"}]}


def test_a_new_object_holds_no_directives_and_no_nulls():
    """What was not there before is made as if it had been empty."""
    patch = {"a": {"b": None, "c": {"$retainKeys": ["d"], "d": 1}}, "secrets": named("x")}
    expected = {"a": {"c": {"d": 1}}, "secrets": [{"name": "x"}]}
    assert strategic_merge_patch.apply({"a": "text"}, patch, LISTS) == expected


def test_a_patch_nested_beyond_reason_is_refused():
    """Depth ends in a refusal, not in a fault of the server."""
    patch: dict[str, object] = {}
    for _ in range(2_000):
        patch = {"a": patch}
    with pytest.raises(BadRequest, match="nested too deep"):
        strategic_merge_patch.apply({}, patch, LISTS)


def test_a_name_with_dots_is_one_name():
    """Only the list itself is merged, not a field that is called like the way to it."""
    lists = {"metadata.finalizers": strategic_merge_patch.SET}
    document = {"metadata.finalizers": ["a"], "metadata": {"finalizers": ["a"]}}
    patch = {"metadata.finalizers": ["b"], "metadata": {"finalizers": ["b"]}}
    assert strategic_merge_patch.apply(document, patch, lists) == {
        "metadata.finalizers": ["b"],
        "metadata": {"finalizers": ["b", "a"]},
    }


@pytest.mark.timeout(60)
def test_long_names_take_no_longer_than_a_moment():
    """A patch of three megabytes may be one long name with many fields below it."""
    patch = {"x" * 1_500_000: {str(n): 1 for n in range(100_000)}}
    assert strategic_merge_patch.apply({}, patch, LISTS) == patch


@pytest.mark.parametrize(
    ("resource", "more"),
    [
        (Secret.RESOURCE, {}),
        (Namespace.RESOURCE, {"status.conditions": "type"}),
        (ServiceAccount.RESOURCE, {"secrets": "name"}),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_the_lists_of_a_kind_are_those_of_all_and_its_own(resource, more):
    """Finalizers and owner references are merged in every kind."""
    shared = {"metadata.finalizers": strategic_merge_patch.SET, "metadata.ownerReferences": "uid"}
    assert strategic_merge_patch.lists_of(resource) == shared | more


letters = st.lists(st.sampled_from("abcde"), max_size=5, unique=True)
plain = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(
        st.one_of(st.none(), st.integers(0, 3), st.lists(st.integers(0, 3), max_size=2)),
        lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)


@given(plain, plain)
def test_without_lists_it_is_a_merge_patch(document, patch):
    """Where no list is merged and nothing is directed, both kinds of patch do the same."""
    assert strategic_merge_patch.apply(document, patch, {}) == merge_patch.apply(document, patch)


@given(letters, letters, letters)
def test_an_ordered_list_holds_what_was_there_and_what_is_new(old, new, gone):
    """Nothing is lost or doubled, the named ones have their order, the others keep theirs."""
    patch = {"finalizers": new, "$deleteFromPrimitiveList/finalizers": gone}
    document = {"finalizers": old}
    kept, kept_patch = copy.deepcopy(document), copy.deepcopy(patch)
    result = strategic_merge_patch.apply(document, patch, LISTS)["finalizers"]
    assert sorted(result) == sorted({*old} - {*gone} | {*new})
    assert [name for name in result if name in new] == new
    others = [name for name in old if name not in {*gone, *new}]
    assert [name for name in result if name not in new] == others
    assert (document, patch) == (kept, kept_patch)
