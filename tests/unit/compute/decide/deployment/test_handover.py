"""Deployments that the spec no longer names, and those that replace them."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from compute.api.compute import Placement, Workload, WorkloadDeployment
from compute.decide.deployment import drains
from compute.decide.deployment.drains import Drain, Grace, PlannedEvent
from compute.decide.workload import placement as placing
from compute.decide.workload.placement import Split
from compute.decide.workload.workload_status import workload_status
from tests.support.compute.builders import NOW, condition, placement, workload
from tests.support.compute.federation_builders import with_meta
from tests.support.compute.status_builders import SERVES

GRACE = Grace(replacement=timedelta(minutes=10))
DUE = NOW + GRACE.replacement
SECOND = timedelta(seconds=1)
CITIES = ("DFW", "LHR", "SIN", "NRT")
QUOTA = condition("ReplicasReady", "False", "QuotaExceeded")
OLD = placement("a", "DFW", replicas=3)
NEW = placement("a", "LHR", replicas=3)
GOES_ON = (
    "web-a-dfw keeps running until web-a-lhr serves, "
    "or until 2026-06-01T12:10:00Z if there is no progress"
)


def web(*placements: Placement) -> Workload:
    return workload("web", *placements)


def split(origin: Workload, there: list[WorkloadDeployment], now: datetime = NOW) -> Split:
    return placing.split(origin, there, CITIES, now, GRACE)


def reporting(made: WorkloadDeployment, ready: int, *said: Any) -> WorkloadDeployment:
    """A deployment whose cell reports that so many of its Instances serve."""
    size = made.spec.scale_settings.min_replicas
    status = replace(
        made.status,
        conditions=said,
        observed_generation=1,
        desired_replicas=size,
        replicas=size,
        ready_replicas=ready,
    )
    return with_meta(replace(made, status=status), generation=1)


def made(*placements: Placement, ready: int = 3) -> list[WorkloadDeployment]:
    return [reporting(d, ready) for d in split(web(*placements), []).create]


def after(
    origin: Workload, there: list[WorkloadDeployment], now: datetime = NOW
) -> list[WorkloadDeployment]:
    """What there is once a split was acted on. What is new has not reported."""
    got = split(origin, there, now)
    fresh = [with_meta(d, generation=1) for d in got.create]
    return sorted(
        [*got.keep, *(u.desired for u in got.update), *fresh], key=lambda d: d.metadata.name
    )


def names(deployments: Any) -> list[str]:
    return [d.metadata.name for d in deployments]


def sizes(deployments: list[WorkloadDeployment]) -> dict[str, int]:
    return {d.metadata.name: d.spec.scale_settings.min_replicas for d in deployments}


@pytest.mark.parametrize(
    ("then", "new"),
    [
        (NEW, "web-a-lhr"),
        (placement("b", "DFW"), "web-b-dfw"),
        (placement("b", "SIN"), "web-b-sin"),
    ],
    ids=["another city", "another name", "both"],
)
def test_the_old_keeps_running_until_the_new_serves(then, new):
    """All of it, and of its present spec; then the old goes at once."""
    there = after(web(then), made(OLD))
    assert sorted(names(there)) == sorted(["web-a-dfw", new])
    (old,) = [d for d in there if d.metadata.name == "web-a-dfw"]
    (fresh,) = [d for d in there if d.metadata.name == new]
    assert drains.of(old) == Drain("ReplacementPending", DUE, by=(new,), replicas=3)
    assert old.spec == made(OLD)[0].spec
    size = then.scale_settings.min_replicas
    for report in (
        fresh,
        reporting(fresh, size - 1),
        with_meta(reporting(fresh, size), generation=2),
    ):
        assert split(web(then), [old, report]).delete == ()
    assert split(web(then), [old, reporting(fresh, size)]).delete == (old,)


def test_what_is_removed_and_not_replaced_goes_at_once():
    """However unhealthy the others are: nothing replaces it."""
    both = placement("a", "DFW", "LHR", replicas=3)
    lhr = made(NEW, ready=0)[0]
    old = made(OLD)[0]

    assert split(web(both), [old, lhr]).delete == ()
    assert split(web(NEW), [old, lhr]).delete == (old,)


def test_what_never_served_hands_nothing_over():
    """Of two changes in a row the one in between leaves nothing behind, and the first keeps running."""
    there = after(web(NEW), made(OLD))
    got = split(web(placement("a", "SIN", replicas=3)), there, NOW + SECOND)

    assert names(got.delete) == ["web-a-lhr"]
    (update,) = got.update
    assert drains.of(update.desired) == Drain(
        "ReplacementPending", DUE + SECOND, by=("web-a-sin",), replicas=3
    )


def test_without_progress_the_old_goes_at_its_time():
    """Progress is an Instance that serves more than when the time was set; it sets another."""
    old, new = after(web(NEW), made(OLD))

    assert split(web(NEW), [old, new], DUE - SECOND).delete == ()
    assert split(web(NEW), [old, new], DUE).delete == (old,)
    one = reporting(new, 1)
    later, _ = after(web(NEW), [old, one], DUE)
    assert drains.of(later) == Drain(
        "ReplacementPending", DUE + GRACE.replacement, by=("web-a-lhr",), replicas=3, ready=1
    )
    assert split(web(NEW), [later, one], DUE + GRACE.replacement).delete == (later,)


def test_what_the_spec_names_again_is_as_it_was():
    """No drain, and as many Instances as the spec says."""
    lacking = reporting(made(NEW, ready=0)[0], 0, QUOTA)
    old, _ = after(web(NEW), [*after(web(NEW), made(OLD))[:1], lacking])
    assert old.spec.scale_settings.min_replicas == 2

    got = split(web(OLD), [old, lacking])
    (update,) = got.update
    assert update.desired.spec == made(OLD)[0].spec
    assert drains.of(update.desired) is None
    assert got.delete == (lacking,)


def test_without_quota_for_both_one_is_given_up_for_each_that_comes():
    """The first one before any has come, and never one twice for the same."""
    there = after(web(NEW), made(OLD))
    seen = []
    for ready in (0, 0, 1, 1, 2, 0):
        there = [there[0], reporting(there[1], ready, QUOTA)]
        there = after(web(NEW), there)
        seen.append(sizes(there)["web-a-dfw"])
    assert seen == [2, 2, 1, 1, 0, 0]


def test_several_old_ones_give_up_their_instances_in_turn():
    """The last by name first; together they keep all but one of what there was."""
    two = placement("a", "DFW", "SIN", replicas=2)
    four = placement("a", "LHR", replicas=4)
    there = after(web(four), made(two, ready=2))
    seen = []
    for ready in range(4):
        there = [reporting(d, ready, QUOTA) if "lhr" in d.metadata.name else d for d in there]
        there = after(web(four), there)
        seen.append((sizes(there)["web-a-dfw"], sizes(there)["web-a-sin"]))
    assert seen == [(2, 1), (2, 0), (1, 0), (0, 0)]


def test_what_keeps_running_for_another_period_still_gives_one_up():
    """Progress that comes to light together with the end of a period counts for both."""
    old, new = after(web(NEW), made(OLD))
    old, _ = after(web(NEW), [old, reporting(new, 0, QUOTA)])
    later, _ = after(web(NEW), [old, reporting(new, 1, QUOTA)], DUE)

    assert later.spec.scale_settings.min_replicas == 1
    drain = drains.of(later)
    assert drain is not None
    assert (drain.at, drain.ready) == (DUE + GRACE.replacement, 1)


@pytest.mark.parametrize("then", [(NEW,), (NEW, placement("b", "SIN"))], ids=["same", "more"])
def test_what_was_counted_for_another_period_is_still_due(then):
    """A lack of quota after the deadline was renewed also costs the old one Instance."""
    old, new = after(web(NEW), made(OLD))
    old, _ = after(web(NEW), [old, reporting(new, 0, QUOTA)])
    there = after(web(*then), [old, reporting(new, 1)], DUE)
    assert sizes(there)["web-a-dfw"] == 2

    lacking = [reporting(d, 1, QUOTA) if d.metadata.name == "web-a-lhr" else d for d in there]
    assert sizes(after(web(*then), lacking, DUE + SECOND))["web-a-dfw"] == 1


def test_other_reasons_than_quota_cost_the_old_nothing():
    """An image that is not there is no reason to give anything up."""
    old, new = after(web(NEW), made(OLD))
    for said in (
        condition("ReplicasReady", "False", "AwaitingPropagation"),
        condition("ReplicasReady"),
    ):
        assert sizes(after(web(NEW), [old, reporting(new, 0, said)]))["web-a-dfw"] == 3


def test_a_city_that_is_withdrawn_and_then_changed_is_handed_over():
    """It has the full time for that: its user has done what was asked for."""
    drained = drains.stamped(made(OLD)[0], Drain("CityWithdrawn", NOW + SECOND))
    (old, _) = after(web(NEW), [drained])

    assert drains.of(old) == Drain("ReplacementPending", DUE, by=("web-a-lhr",), replicas=3)


def test_a_workload_that_is_deleted_hands_nothing_over():
    """Its deployments go, old and new."""
    there = after(web(NEW), made(OLD))
    going = replace(web(NEW), metadata=replace(web(NEW).metadata, deletion_timestamp=NOW))

    assert split(going, there) == Split(delete=tuple(there))


PLACES = st.lists(
    st.builds(
        placement,
        st.sampled_from("ab"),
        st.sampled_from(CITIES),
        replicas=st.integers(1, 3),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda p: p.name,
)


@given(PLACES, PLACES, st.integers(0, 3), st.booleans())
def test_acting_on_a_handover_settles_it(before, then, ready, lacking):
    """Asked again, it changes nothing; and once all that is wanted serves, nothing else is left."""
    said = (QUOTA,) if lacking else ()
    there = after(web(*then), made(*before))
    wanted = {d.metadata.name for d in split(web(*then), []).create}
    there = [
        reporting(d, min(ready, d.spec.scale_settings.min_replicas), *said)
        if d.metadata.name in wanted
        else d
        for d in there
    ]
    once = after(web(*then), there)
    again = split(web(*then), once)
    assert (again.create, again.update, again.delete) == ((), (), ())
    full = [reporting(d, d.spec.scale_settings.min_replicas) for d in once]
    assert {d.metadata.name for d in after(web(*then), full)} == wanted


def test_deployment_and_workload_report_what_keeps_running_and_why():
    """What serves is counted, what is desired is what the spec names, and the text says the rest."""
    old, new = after(web(NEW), [reporting(made(OLD)[0], 3, SERVES)])
    got = workload_status(web(NEW), [old, new], now=NOW)
    conditions = {c.type: c for c in got.conditions}

    assert (got.replicas, got.ready_replicas, got.desired_replicas) == (3, 3, 0)
    assert conditions["Available"].status == "True"
    assert conditions["Available"].message.startswith("0 of 3 instances ready; ")
    assert GOES_ON in conditions["Available"].message
    assert (conditions["DrainScheduled"].reason, conditions["DrainScheduled"].message) == (
        "ReplacementPending",
        GOES_ON,
    )
    own = drains.condition(old, NOW)
    assert own is not None
    assert own.message == GOES_ON


def test_a_lack_of_quota_is_reported():
    """With a reason of its own, beside what keeps running."""
    there = after(web(NEW), made(OLD))
    (old, _) = after(web(NEW), [there[0], reporting(there[1], 0, QUOTA)])
    own = drains.condition(old, NOW)
    assert own is not None
    assert own.reason == "ReplacementLacksQuota"
    assert own.message == (
        f"{GOES_ON}; the quota does not allow both at once: "
        "one Instance is replaced after the other"
    )


def test_only_some_of_many_replacements_are_named():
    """A message must not grow with the number of cities."""
    by = tuple(f"web-a-{n}" for n in range(8))
    old = drains.stamped(made(OLD)[0], Drain("ReplacementPending", DUE, by=by, replicas=3))
    (cause,) = drains.explained((old,))
    assert "until web-a-0, web-a-1, web-a-2, web-a-3, web-a-4 and 3 more serve, or" in cause.message


def test_each_change_causes_an_event():
    """Its start, a lack of quota, its end, and its timeout."""
    plain = made(OLD)[0]
    old, new = after(web(NEW), made(OLD))
    (less, _) = after(web(NEW), [old, reporting(new, 0, QUOTA)])
    (least, _) = after(web(NEW), [less, reporting(new, 1, QUOTA)])

    assert drains.change_event(plain, old) == PlannedEvent("Normal", "ReplacementPending", GOES_ON)
    short = drains.change_event(old, less)
    assert short is not None
    assert (short.type, short.reason) == ("Warning", "ReplacementLacksQuota")
    assert drains.change_event(less, least) is None
    assert drains.change_event(old, plain) is None
    assert drains.deletion_event(old, DUE - SECOND) == PlannedEvent(
        "Normal", "Replaced", "web-a-dfw is not needed any more and is removed"
    )
    assert drains.deletion_event(old, DUE) == PlannedEvent(
        "Warning",
        "ReplacementTimedOut",
        "web-a-lhr has made no progress until 2026-06-01T12:10:00Z: web-a-dfw is removed anyway",
    )
