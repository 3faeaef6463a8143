"""Parallel, case by case: none waits for another, within the limit that the user sets."""

from datetime import timedelta

import msgspec
import pytest

from compute.api import annotations
from compute.api.compute import NEW_INSTANCE_STATUS
from compute.api.gates import QUOTA
from compute.decide.deployment.rollout import (
    CreateInstance,
    DeleteInstance,
    RolloutPlan,
    RolloutSettings,
    WaitForInstance,
    is_at_gates,
    plan,
)
from tests.support.compute.builders import NOW, condition, deployment
from tests.support.compute.rollout_builders import member, members

W0, W1, W2 = "web-home-dfw-0", "web-home-dfw-1", "web-home-dfw-2"
OTHER = "it is of another template"
BROKEN = "it is of another template and not Ready"


def parallel(replicas, **meta):
    return deployment(replicas, policy="Parallel", **meta)


def aged(instance, seconds):
    born = NOW - timedelta(seconds=seconds)
    meta = msgspec.structs.replace(instance.metadata, creation_timestamp=born)
    return msgspec.structs.replace(instance, metadata=meta)


def gated():
    return condition("Ready", "False", "SchedulingGatesPresent")


def asked(reason="PendingEvaluation"):
    return condition("QuotaGranted", "Unknown", reason)


def test_parallel_creates_all_at_once():
    """No slot waits for another."""
    assert plan(parallel(3), [], NOW) == RolloutPlan(
        now=(CreateInstance(0), CreateInstance(1), CreateInstance(2))
    )


@pytest.mark.parametrize(
    ("let", "spoken", "silent", "seconds", "begun"),
    [
        pytest.param(0, 0, 0, 0, 8, id="the first few"),
        pytest.param(0, 0, 8, 1, 0, id="none has passed yet"),
        pytest.param(6, 0, 2, 1, 6, id="as many as were let through"),
        pytest.param(20, 0, 8, 1, 12, id="more once it is known that they are quick"),
        pytest.param(100, 0, 12, 2, 20, id="up to a window"),
        pytest.param(100, 0, 5, 4, 3, id="who waits twice as long leaves room for a quarter"),
        pytest.param(100, 0, 5, 8, 0, id="who waits longer leaves none"),
        pytest.param(100, 0, 4, 8, 28, id="a few that are slower than all others do not count"),
        pytest.param(100, 0, 0, 0, 32, id="none waits any more"),
        pytest.param(0, 0, 8, 20, 8, id="a long wait does not count"),
        pytest.param(0, 8, 0, 1, 8, id="all say what they wait for"),
        pytest.param(0, 64, 0, 1, 64, id="more start where more wait"),
        pytest.param(0, 64, 64, 1, 0, id="but a window at a time"),
        pytest.param(190, 0, 2, 1, 8, id="the last"),
    ],
)
def test_parallel_waits_for_the_gates_of_the_started_before_it_starts_more(
    let, spoken, silent, seconds, begun
):
    """One admission window at a time; an Instance that reports why it waits delays no other."""
    wd = parallel(200)
    born = {"conditions": NEW_INSTANCE_STATUS.conditions}
    reporting = {"ready": False, "gates": (QUOTA,)}
    states = [born] * let + [reporting] * spoken + [born | {"gates": (QUOTA,)}] * silent
    world = [aged(member(wd, o, **state), seconds) for o, state in enumerate(states)]
    got = plan(wd, world, NOW)

    fresh = len(states)
    assert [step for step in got.now if isinstance(step, CreateInstance)] == [
        CreateInstance(ordinal) for ordinal in range(fresh, fresh + begun)
    ]
    assert got.later == tuple(
        CreateInstance(ordinal, "waits until those that started before it have passed their gates")
        for ordinal in range(fresh + begun, 200)
    )
    assert got.waiting == list(got.later)


@pytest.mark.parametrize(
    ("state", "begun"),
    [
        pytest.param({}, True, id="at a gate, without a condition"),
        pytest.param({"conditions": ()}, True, id="no conditions at all"),
        pytest.param({"conditions": (gated(),)}, True, id="it said that it waits"),
        pytest.param({"conditions": (gated(), asked())}, True, id="its quota was asked for"),
        pytest.param({"conditions": (gated(), asked("QuotaNoBudget"))}, False, id="no budget"),
        pytest.param({"gates": ()}, False, id="let through"),
        pytest.param({"conditions": None, "ready": False}, False, id="it said why it waits"),
        pytest.param({"deleting": True}, False, id="on its way out"),
    ],
)
def test_which_instances_others_wait_for(state, begun):
    """Those that are at their gates, and report no cause but that they wait their turn."""
    born = {"gates": (QUOTA,), "conditions": NEW_INSTANCE_STATUS.conditions}

    assert is_at_gates(member(parallel(3), 0, **(born | state))) is begun


def test_parallel_removes_all_surplus_at_once():
    """Everything beyond the slots goes in one pass, terminating ones aside."""
    wd = parallel(1)
    world = [*members(wd, 0, 1, 2), member(wd, 3, deleting=True)]

    assert plan(wd, world, NOW) == RolloutPlan(
        now=(
            WaitForInstance("web-home-dfw-3", "is terminating"),
            DeleteInstance(W2, "uid-2", "no more than 1 are wanted"),
            DeleteInstance(W1, "uid-1", "no more than 1 are wanted"),
        )
    )


def test_w42_parallel_update_keeps_to_max_unavailable():
    """As many are replaced as may be unavailable, from the highest; the rest waits."""
    wd = parallel(3)
    got = plan(wd, members(wd, 0, 1, 2, stale=True), NOW, RolloutSettings(max_unavailable=2))

    limit = "waits because no more than 2 may be unavailable at a time"
    assert got == RolloutPlan(
        now=(DeleteInstance(W2, "uid-2", OTHER), DeleteInstance(W1, "uid-1", OTHER)),
        later=(DeleteInstance(W0, "uid-0", OTHER, hold=limit),),
    )


@pytest.mark.parametrize(
    "state",
    [{"ready": False}, {"deleting": True}],
    ids=["unready", "terminating"],
)
def test_parallel_update_counts_what_is_unavailable_already(state):
    """A slot that is not served uses up the allowance, whatever the cause."""
    wd = parallel(2)
    got = plan(wd, [member(wd, 0, stale=True), member(wd, 1, **state)], NOW)

    limit = "waits because no more than 1 may be unavailable at a time"
    assert got.later == (DeleteInstance(W0, "uid-0", OTHER, hold=limit),)


def test_parallel_update_counts_empty_slots():
    """A slot that is only being filled is not served yet."""
    wd = parallel(2)
    got = plan(wd, members(wd, 0, stale=True), NOW)

    limit = "waits because no more than 1 may be unavailable at a time"
    assert got == RolloutPlan(
        now=(CreateInstance(1),), later=(DeleteInstance(W0, "uid-0", OTHER, hold=limit),)
    )


def test_w41_parallel_replaces_all_broken_ones_at_once():
    """What is unavailable already costs nothing, so no limit holds it back."""
    wd = parallel(2)

    assert plan(wd, members(wd, 0, 1, stale=True, ready=False), NOW) == RolloutPlan(
        now=(DeleteInstance(W1, "uid-1", BROKEN), DeleteInstance(W0, "uid-0", BROKEN))
    )


@pytest.mark.parametrize(
    ("said", "replicas", "replaced"),
    [
        ("1", 4, 1),
        ("3", 4, 3),
        ("50%", 4, 2),
        ("25%", 7, 1),
        ("10%", 4, 1),
        ("0", 4, 1),
        ("0%", 4, 1),
        ("100%", 4, 4),
        ("", 4, 1),
        ("-2", 4, 1),
        ("two", 4, 1),
        ("9" * 5000, 4, 1),
    ],
    ids=lambda value: str(value)[:5] or "empty",
)
def test_w42_max_unavailable_comes_from_the_annotation(said, replicas, replaced):
    """A count or a share rounded down; never less than one, and one when it cannot be read."""
    wd = parallel(replicas, annotations={annotations.MAX_UNAVAILABLE: said})
    got = plan(wd, members(wd, *range(replicas), stale=True), NOW)

    assert len(got.now) == replaced
