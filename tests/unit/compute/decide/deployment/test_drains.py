"""Deployments whose city is withdrawn: how long they keep running, and what they report."""

from datetime import datetime, timedelta

import msgspec
import pytest

from compute.api import annotations
from compute.api.compute import WorkloadDeployment
from compute.decide.deployment import drains as subject
from compute.decide.deployment.drains import Drain, Grace, PlannedEvent
from compute.decide.workload import placement as placing
from compute.decide.workload.placement import Split, Unmatched
from compute.decide.workload.workload_status import workload_status
from tests.support.compute.builders import NOW, placement, template, workload
from tests.support.compute.federation_builders import with_meta

GRACE = Grace(withdrawal=timedelta(minutes=5))
DUE = NOW + GRACE.withdrawal
SECOND = timedelta(seconds=1)
WEB = workload("web", placement("a", "DFW", "LHR"))
MESSAGE = (
    "LHR is no longer offered to this project; "
    "web-a-lhr is drained at 2026-06-01T12:05:00Z unless offered again"
)


def split(
    there: tuple[WorkloadDeployment, ...], *offered: str, now: datetime = NOW, web=WEB
) -> Split:
    return placing.split(web, there, offered, now, GRACE)


def both() -> tuple[WorkloadDeployment, ...]:
    return split((), "DFW", "LHR").create


def withdrawn() -> tuple[WorkloadDeployment, ...]:
    """Both deployments, of which one has a drain."""
    dfw, _ = both()
    (update,) = split(both(), "DFW").update
    return dfw, update.desired


def test_a_withdrawn_city_is_given_a_time():
    """Its deployment stays as it is, but for a stamp that says why it goes and when."""
    dfw, lhr = both()
    got = split((dfw, lhr), "DFW")

    (update,) = got.update
    assert got == Split(keep=(dfw,), update=(update,))
    assert update.existing == lhr
    assert subject.of(update.desired) == Drain("CityWithdrawn", DUE)
    assert update.desired.spec == lhr.spec


def test_a_drain_stands_still_until_it_is_due():
    """Another pass changes nothing; then the deployment is deleted, and its city is unmatched."""
    there = withdrawn()

    assert split(there, "DFW", now=DUE - SECOND) == Split(keep=there)
    dfw, lhr = there
    assert split(there, "DFW", now=DUE) == Split(
        keep=(dfw,), delete=(lhr,), unmatched=(Unmatched("a", "LHR"),)
    )


def test_a_city_that_returns_keeps_running():
    """The stamp goes, and nothing else changes; however late it is."""
    (update,) = split(withdrawn(), "DFW", "LHR", now=DUE + SECOND).update

    assert update.desired == both()[1]


def test_nothing_offered_at_all_drains_nothing():
    """Not even what had a drain before: it is given the full time again."""
    (update,) = split(withdrawn(), now=DUE + SECOND).update

    assert update.desired == both()[1]


def test_a_withdrawn_city_is_changed_like_any_other():
    """While it serves, it serves what the user asks for."""
    newer = workload("web", placement("a", "DFW", "LHR", replicas=3), template=template("web:2"))
    for update in split(withdrawn(), "DFW", web=newer).update:
        assert update.desired.spec.template == newer.spec.template
        assert update.desired.spec.scale_settings.min_replicas == 3
        assert subject.of(update.desired) == subject.of(update.existing)


def test_a_withdrawn_city_that_leaves_the_spec_goes_at_once():
    """It was the user who let it go."""
    got = split(withdrawn(), "DFW", web=workload("web", placement("a", "DFW")))

    assert got == Split(keep=withdrawn()[:1], delete=withdrawn()[1:])


@pytest.mark.parametrize(
    "stamp",
    [
        "",
        "[]",
        '{"reason":"CityWithdrawn"}',
        '{"reason":"CityWithdrawn","at":"2026-06-01"}',
        '{"reason":"Typo","at":"2026-06-01T12:00:00Z"}',
    ],
)
def test_a_stamp_that_cannot_be_read_is_made_anew(stamp):
    """With the full time: a slip of the hand must drain nothing."""
    dfw, lhr = both()
    broken = with_meta(lhr, annotations={annotations.DRAIN: stamp})

    assert subject.of(broken) is None
    (update,) = split((dfw, broken), "DFW").update
    news = subject.change_event(update.existing, update.desired)
    assert news is not None
    assert news.reason == "CityWithdrawn"
    assert subject.of(update.desired) == Drain("CityWithdrawn", DUE)


def test_the_first_drain_determines_the_requeue():
    """Deployments that are being deleted are waited for by other means."""
    dfw, lhr = withdrawn()
    later = subject.stamped(dfw, Drain("CityWithdrawn", DUE + SECOND))
    gone = with_meta(lhr, deletion_timestamp=NOW)

    assert subject.next_due((later, lhr)) == DUE
    assert subject.next_due((later, gone)) == DUE + SECOND
    assert subject.next_due(both()) is None


def test_the_deployment_says_when_it_is_drained():
    """A condition that is there only while it is true."""
    dfw, lhr = withdrawn()

    assert subject.condition(dfw, NOW) is None
    condition = subject.condition(lhr, NOW)
    assert condition is not None
    assert (condition.type, condition.status, condition.reason) == (
        "DrainScheduled",
        "True",
        "CityWithdrawn",
    )
    assert condition.message == MESSAGE


def test_the_workload_says_which_cities_are_drained():
    """In a condition of its own, and beside what it says of its health; both go with the drain."""
    got = workload_status(WEB, withdrawn(), now=NOW)
    conditions = {c.type: c for c in got.conditions}

    assert conditions["DrainScheduled"].reason == "CityWithdrawn"
    assert conditions["DrainScheduled"].message == MESSAGE
    assert MESSAGE in conditions["Available"].message
    later = workload_status(msgspec.structs.replace(WEB, status=got), both(), now=NOW + SECOND)
    assert [c.type for c in later.conditions] == ["Available"]
    assert "drained" not in later.conditions[0].message


def test_cities_that_are_drained_at_the_same_time_are_named_together():
    """One sentence for all that one split has stamped."""
    update = split((*both(),), "SIN").update
    (cause,) = subject.explained(u.desired for u in update)

    assert cause.message == (
        "DFW, LHR are no longer offered to this project; "
        "web-a-dfw, web-a-lhr are drained at 2026-06-01T12:05:00Z unless offered again"
    )


def test_a_workload_in_withdrawn_cities_alone_gives_that_reason():
    """While nothing of it serves; a deployment that is being removed gives none."""
    (lhr,) = withdrawn()[1:]
    got = workload_status(workload("web", placement("a", "LHR")), (lhr,), now=NOW)
    assert [(c.type, c.reason) for c in got.conditions] == [
        ("Available", "CityWithdrawn"),
        ("DrainScheduled", "CityWithdrawn"),
    ]
    going = with_meta(lhr, deletion_timestamp=NOW)
    left = workload_status(WEB, (going,), now=NOW)
    assert [c.type for c in left.conditions] == ["Available"]


def test_each_change_causes_an_event():
    """That the city is withdrawn, that it is back, that the time is up; and nothing in between."""
    plain, drained = both()[1], withdrawn()[1]

    assert subject.change_event(plain, drained) == PlannedEvent("Warning", "CityWithdrawn", MESSAGE)
    back = PlannedEvent("Normal", "CityReturned", "LHR is offered again; web-a-lhr keeps running")
    assert subject.change_event(drained, plain) == back
    assert subject.change_event(drained, drained) is None
    assert subject.change_event(plain, plain) is None
    note = "LHR was not offered again until 2026-06-01T12:05:00Z: web-a-lhr is drained"
    assert subject.deletion_event(drained, DUE) == PlannedEvent("Warning", "CityWithdrawn", note)
    assert subject.deletion_event(drained, DUE - SECOND) is None
    assert subject.deletion_event(plain, DUE) is None
