"""Which names a definition gets."""

from hypothesis import given, strategies as st

from kubekit.api.kinds.apiextensions import CrdNames
from kubekit.plane.registry.definitions.naming import (
    NOTHING,
    NamesInUse,
    NamingResult,
    resolve_names,
)

WORDS = st.sampled_from(["a", "b", "c", "d"])
NAMES = st.builds(
    CrdNames,
    plural=WORDS,
    singular=WORDS,
    kind=WORDS,
    list_kind=WORDS,
    short_names=st.lists(WORDS, max_size=2).map(tuple),
    categories=st.just(("all",)),
)


def used(names):
    resources = {names.plural, names.singular, *names.short_names}
    return resources - {""}, {names.kind, names.list_kind} - {""}


@given(st.lists(st.tuples(st.integers(0, 3), NAMES), max_size=12))
def test_no_name_is_ever_given_twice(requests):
    """For any requests, each name of a resource and of a kind has one owner."""
    had: dict[int, CrdNames] = {}
    for definition, names in requests:
        taken = NamesInUse()
        for other, other_names in had.items():
            if other != definition:
                taken.add(other_names)
        had[definition] = resolve_names(names, had.get(definition, NOTHING), taken).accepted
        for other, other_names in had.items():
            if other != definition:
                mine, others = used(had[definition]), used(other_names)
                assert not mine[0] & others[0]
                assert not mine[1] & others[1]


@given(NAMES)
def test_a_single_definition_gets_all_its_names(names):
    """There is no conflict to report."""
    assert resolve_names(names, NOTHING, NamesInUse()) == NamingResult(names)


def test_what_was_accepted_stays_where_the_new_name_is_in_use():
    """Only that name: the others are given."""
    taken = NamesInUse()
    taken.add(CrdNames(plural="others", singular="other", kind="Other", list_kind="OtherList"))
    before = CrdNames(plural="ones", singular="one", kind="One", list_kind="OneList")
    asked = CrdNames(
        plural="ones", singular="other", kind="One", list_kind="Ones", short_names=("o",)
    )

    assert resolve_names(asked, before, taken) == NamingResult(
        CrdNames(plural="ones", singular="one", kind="One", list_kind="Ones", short_names=("o",)),
        "SingularConflict",
        "other",
    )
