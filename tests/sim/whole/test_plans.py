"""One Workload through its whole life, with a misfortune at each place: it always ends the same.

There are too many plans for each run of the tests: a sample of them is drawn, a larger one in a deep
run. ``SIM_PLANS=7`` draws another one, ``SIM_PLANS=all`` plays every plan there is.
"""

import copy
import os
import subprocess
import sys
from collections import Counter
from random import Random

import pytest

from compute.app.planes import HUB
from compute.controllers.cell.write_back import controller as write_back
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.plane.local import LocalClient
from tests.sim.loop import SimLoop, run
from tests.sim.planes import open_plane
from tests.sim.trace import Trace
from tests.sim.whole import lifetime, normal, plans
from tests.sim.whole.plan_faults import Plan
from tests.support.generated import depth

ASKED = os.environ.get("SIM_PLANS", "0")
ALL = ASKED == "all"
KINDS = ("crash", "stale", "unseen")
EACH = depth.either(2, 60)  # plans of a kind in a sample
SHARES = depth.either(3, 30)  # tests among which a sample is divided
PARTS = (
    *("quota", "platform", "network", "management", "engine"),
    *("cell dfw", "cell lhr", "provider dfw", "provider lhr"),
)


def chosen():
    """The plans to play."""
    kinds = {kind: [plan for plan in plans.every() if plan.kind == kind] for kind in KINDS}
    drawn = (
        some if ALL else Random(f"{ASKED}-{kind}").sample(some, EACH)
        for kind, some in kinds.items()
    )
    return sorted((plan for some in drawn for plan in some), key=lambda plan: plan.number)


def first(kind, **wanted):
    """The first plan of a kind whose moment has these attributes."""
    return next(
        plan
        for plan in plans.every()
        if plan.kind == kind and all(getattr(plan.moment, k) == v for k, v in wanted.items())
    )


@pytest.mark.slow
@pytest.mark.timeout(0 if ALL else 240)
@pytest.mark.parametrize("share", range(SHARES))
def test_one_misfortune_changes_nothing_in_the_end(share):
    """After a crash at any write, on old lists or new ones, or a gap in a watch, all is the same."""
    for plan in chosen()[share::SHARES]:
        plans.play(plan)


@pytest.mark.slow
@pytest.mark.timeout(0 if ALL else 240)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_with_late_watches_makes_nothing_twice(part):
    """A part that sees its own writes minutes late makes and removes as many Instances as ever."""
    (plan,) = (plan for plan in plans.every() if plan.kind == "late" and plan.part == part)

    assert plans.play(plan).took["create"] > plans.SEEN_LATE.quiet


@pytest.mark.slow
def test_there_is_a_plan_for_every_place():
    """Every write is followed by a crash and by a stale start, every event missed, every part late."""
    known = plans.reference()
    counted = Counter(plan.kind for plan in plans.every())

    assert counted["crash"] == counted["stale"] == len(set(known.moments.writes)) > 500
    assert counted["unseen"] == len(set(known.moments.events)) > 1000
    assert {plan.part for plan in plans.every() if plan.kind == "late"} == set(PARTS)
    assert {moment.part for moment in known.moments.writes} == set(PARTS)
    assert {moment.act for moment in known.moments.writes} == {"project", *lifetime.ACTS}
    assert [plan.number for plan in plans.every()] == list(range(len(plans.every())))


@pytest.mark.slow
def test_a_crash_comes_after_the_write_and_before_the_answer():
    """The part that dies has written, does nothing more, and starts again."""
    lines = traced(first("crash", who="federator"))
    died = lines.index("management.1   dies")

    assert lines[died - 1].startswith("management.1>shop patch     workloaddeployments")
    assert not any(line.startswith("management.1") for line in lines[died + 1 :])
    assert "management.2   starts" in lines[died:]


@pytest.mark.slow
def test_a_stale_start_fills_its_caches_with_the_past():
    """In the next life of the part the first list of each kind is of an older version."""
    lines = traced(first("stale", who="federator", act="roll"))
    again = lines[lines.index("management.2   starts") :]
    listed = [line for line in again if line.startswith("management.2>hub list      instances")]

    assert "stale: " in listed[0]


@pytest.mark.slow
def test_what_a_watch_misses_it_never_delivers():
    """From the chosen event on nothing arrives; then the version is too old, and a list follows."""
    lines = traced(first("unseen", part="management", who="instances of hub", act="roll"))
    watch = "instances                          "
    expired = lines.index(f"management.1>hub saw       {watch}Expired")
    rolls = lines.index("user           roll")

    assert not any(
        line.startswith(f"management.1>hub saw       {watch}") for line in lines[rolls:expired]
    )
    assert any("management.1>hub list      instances" in line for line in lines[expired:])


def traced(plan):
    """What happens in a plan, without the times."""
    trace = Trace(kept=100_000)
    plans.lived(plan, trace, plans.reference().states)
    return [line.lstrip().partition("  ")[2] for line in trace.lines]


@pytest.mark.slow
def test_a_failed_plan_says_how_to_see_it_again():
    """The plan, what differs, the last lines of the trace, and the command are in the message."""
    plan = first("crash", who="workload", act="create again")
    expected = copy.deepcopy(plans.reference().states)
    gone = expected["create again"].pop("project-shop Workload default/web")
    with pytest.raises(AssertionError) as failure:
        plans.play(plan, expected=expected)
    message = str(failure.value)

    assert gone["kind"] == "Workload"
    assert message.startswith(f"plan {plan.number}: crash for ")
    assert "s after 'create again': project-shop Workload default/web: null is not {" in message
    assert f"at management: workload #{plan.moment.number}, " in message
    assert message.endswith(f"{depth.SETTING}python -m tests.sim.whole.plans {plan.number}")


@pytest.mark.slow
def test_a_mistake_that_only_a_crash_shows_is_found(monkeypatch):
    """A controller that removes only what it saw go leaves a copy behind when it dies in between."""
    monkeypatch.setattr(write_back, "_originals", lambda _: lambda *_: ())
    known = plans.lived(None, Trace())
    release = next(
        moment
        for moment in known.moments.writes
        if moment.who == "instance-controller"
        and (moment.act, moment.what) == ("scale down", "patch instances web-home-dfw-1")
    )
    with pytest.raises(AssertionError, match=r"hub Instance .*/web-home-dfw-1: null is not"):
        plans.play(Plan(0, "crash", release.part, release), expected=known.states)


@pytest.mark.slow
@pytest.mark.parametrize("hashes", depth.either(["777"], ["1", "777"]))
def test_the_same_life_is_lived_in_every_process(hashes):
    """The reference is the same, choice by choice, however an interpreter hashes."""
    ask = "from tests.sim.whole import plans; print(plans.reference().digest)"
    other = subprocess.run(
        [sys.executable, "-c", ask],
        env=os.environ | {"PYTHONHASHSEED": hashes, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert other.stdout.strip() == plans.reference().digest


@pytest.mark.slow
def test_chance_alone_makes_no_difference():
    """Two lives that differ in every draw have the same states at all milestones."""
    other = plans.lived(None, Trace(), plans.reference().states, seed="other")

    assert other.digest != plans.reference().digest
    assert list(other.states) == ["project", *lifetime.ACTS]


@pytest.mark.slow
def test_a_life_leaves_nothing_behind():
    """Once the Workload is deleted there is nothing that was not there before, but for namespaces and ledgers."""
    states = plans.reference().states
    left = {
        name.partition(" ")[2].partition(" ")[0]
        for name in states["delete"].keys() - states["project"].keys()
    }

    assert left == {"Namespace", "Work", "ConfigMap"}


def test_a_state_has_no_uids_times_or_addresses():
    """Two planes that draw differently have the same state when they hold the same."""
    assert of_plane("one") == of_plane("other")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("owner", "ffffffff-0000-4000-8000-000000000000"),
        ("again", "10.0.0.9"),
        ("said", "at another place"),
    ],
)
def test_a_state_tells_what_is_there_from_what_is_not(field, value):
    """An unknown uid, two addresses that were one, and another text are differences."""
    found = normal.differences(of_plane("one"), of_plane("one", **{field: value}))

    assert f"hub ConfigMap default/book .data .{field}" in [
        line.partition(": ")[0] for line in found
    ]


def of_plane(seed, **changes):
    """The state of a plane with a Namespace, and a ConfigMap that speaks of it."""

    async def filled():
        plane = await open_plane(seed)
        client = LocalClient(plane)
        hub_namespace = await client.create(Namespace(metadata=ObjectMeta(name="room")))
        address = f"10.0.0.{len(seed)}"
        data = {
            "owner": hub_namespace.metadata.uid,
            "lost": f"{len(seed):08x}-0000-4000-8000-000000000000",
            "address": address,
            "again": address,
            "said": f"at 2026-01-0{len(seed)}T00:00:00Z on node-{len(seed)}",
        }
        book = ConfigMap(metadata=ObjectMeta(name="book", namespace="default"), data=data | changes)
        await client.create(book)
        try:
            return normal.state({HUB: plane})
        finally:
            await plane.close()

    return run(filled(), SimLoop(seed))
