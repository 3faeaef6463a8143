"""The arithmetic of budgets, and whose turn it is."""

from datetime import timedelta
from typing import Any

from hypothesis import given, strategies as st

from compute.api.quota import (
    Allowance,
    GrantBucket,
    ObjectRef,
    ResourceGrant,
    ResourceGrantSpec,
    ResourceGrantStatus,
    ResourceRequest,
)
from compute.decide.budget import (
    ClaimQueue,
    Need,
    QueuePosition,
    choose,
    fits,
    left,
    limits,
    need_of,
    shares,
)
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import NOW, condition

KINDS = ("cpu", "disk", "ram")


def place(number: int) -> QueuePosition:
    return QueuePosition(NOW + timedelta(seconds=number), "default", f"claim-{number}")


def grant(name: str = "g", kind: str = "cpu", *amounts: int, active: bool = True, **meta: Any):
    said = (condition("Active", "True" if active else "False", "GrantActive"),)
    return ResourceGrant(
        metadata=ObjectMeta(name=name, namespace="milo-system", generation=3, **meta),
        spec=ResourceGrantSpec(
            consumer_ref=ObjectRef(
                api_group="resourcemanager.miloapis.com", kind="Project", name="shop"
            ),
            allowances=(
                Allowance(
                    resource_type=kind, buckets=tuple(GrantBucket(amount=a) for a in amounts)
                ),
            ),
        ),
        status=ResourceGrantStatus(conditions=said),
    )


def test_a_need_sums_up_what_is_asked_for_in_one_order():
    """Claims that ask for the same have the same need, however they spell it."""
    asked = [ResourceRequest(resource_type=kind, amount=2) for kind in ("ram", "cpu", "ram")]
    assert need_of(asked) == (("cpu", 2), ("ram", 4))


def test_a_claim_fits_only_as_a_whole():
    """One amount that is not there is enough to say no."""
    assert fits((("cpu", 2), ("ram", 1)), {"cpu": 2, "ram": 1})
    assert not fits((("cpu", 2), ("ram", 1)), {"cpu": 9})


def test_only_active_grants_of_the_project_count():
    """Another project's, one that goes, and one that is not active add nothing."""
    other = ResourceGrantSpec(
        consumer_ref=ObjectRef(api_group="elsewhere", kind="Project", name="shop"),
        allowances=grant("g", "cpu", 9).spec.allowances,
    )
    grants = [
        grant("b", "cpu", 1, 2),
        grant("a", "cpu", 4),
        grant("c", "ram", 8),
        grant("off", "cpu", 100, active=False),
        grant("going", "cpu", 100, deletion_timestamp=NOW),
        ResourceGrant(
            metadata=ObjectMeta(name="other"), spec=other, status=grant("g", "cpu", 1).status
        ),
    ]
    assert limits(grants, "shop") == {"cpu": 7, "ram": 8}
    found = [(s.name, s.amount, s.last_observed_generation) for s in shares(grants, "shop", "cpu")]
    assert found == [("a", 4, 3), ("b", 3, 3)]


def test_a_lowered_limit_leaves_nothing_rather_than_less():
    """What is in use beyond the limit stays in use, and no more can be given."""
    assert left({"cpu": 3, "ram": 5}, {"cpu": 4, "ram": 1}) == {"cpu": 0, "ram": 4}


def test_the_oldest_of_all_lines_is_served_first():
    """Which line a claim stands in makes no difference to its turn."""
    lines = [
        ClaimQueue((("cpu", 1),), [place(2), place(5)]),
        ClaimQueue((("cpu", 2),), [place(1), place(4)]),
    ]
    assert choose(lines, {"cpu": 4}, 10) == [place(1), place(2), place(5)]


def test_no_more_are_chosen_than_asked_for():
    """A batch has a size."""
    assert choose([ClaimQueue((("cpu", 1),), [place(n) for n in range(9)])], {"cpu": 9}, 2) == [
        place(0),
        place(1),
    ]


def test_who_asks_for_nothing_is_served_in_turn():
    """An amount of zero always fits, also of a type without a grant."""
    lines = [ClaimQueue((("gpu", 0),), [place(0)]), ClaimQueue((), [])]
    assert choose(lines, {}, 10) == [place(0)]


NEEDS = st.dictionaries(st.sampled_from(KINDS), st.integers(1, 5), min_size=1).map(
    lambda amounts: tuple(sorted(amounts.items()))
)
BUDGETS = st.dictionaries(st.sampled_from(KINDS), st.integers(0, 20))
CLAIMS = st.lists(NEEDS, max_size=30)


def lines_of(needs):
    found: dict[Need, list[QueuePosition]] = {}
    for number, need in enumerate(needs):
        found.setdefault(need, []).append(place(number))
    return [ClaimQueue(need, places) for need, places in found.items()]


def total(needs):
    sums = dict.fromkeys(KINDS, 0)
    for need in needs:
        for kind, amount in need:
            sums[kind] += amount
    return sums


@given(needs=CLAIMS, budget=BUDGETS, most=st.integers(0, 40))
def test_never_more_than_the_budget_and_each_as_a_whole(needs, budget, most):
    """The sum of what is given stays within the budget, type by type."""
    chosen = choose(lines_of(needs), budget, most)
    given_ = total(needs[int(one.name.removeprefix("claim-"))] for one in chosen)
    assert all(given_[kind] <= budget.get(kind, 0) for kind in KINDS)
    assert len(chosen) == len(set(chosen)) <= most


@given(needs=CLAIMS, budget=BUDGETS)
def test_the_same_as_asking_each_in_order_of_age(needs, budget):
    """Lines are only a faster way: the oldest is asked first, and each that fits is served."""
    remaining, served = dict(budget), []
    for number, need in enumerate(needs):
        if fits(need, remaining):
            served.append(place(number))
            for kind, amount in need:
                remaining[kind] -= amount
    assert choose(lines_of(needs), budget, 100) == served


@given(needs=CLAIMS, budget=BUDGETS, freed=BUDGETS)
def test_no_claim_that_fits_is_left_out(needs, budget, freed):
    """All of the budget is used that can be, also after some was freed."""
    first = choose(lines_of(needs), budget, 100)
    names = [int(one.name.removeprefix("claim-")) for one in first]
    spent = total(needs[n] for n in names)
    more = {k: budget.get(k, 0) - spent[k] + freed.get(k, 0) for k in KINDS}
    waiting = {n: need for n, need in enumerate(needs) if n not in names}
    rest = [ClaimQueue(need, [place(n)]) for n, need in waiting.items()]
    second = choose(rest, more, 100)
    again = {int(one.name.removeprefix("claim-")) for one in second}
    over = {k: more[k] - total(waiting[n] for n in again)[k] for k in KINDS}
    assert not any(fits(need, over) for n, need in waiting.items() if n not in again)
