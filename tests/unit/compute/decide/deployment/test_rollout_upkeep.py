"""What holds under every policy: rest, pause, teardown, strays, labels and gates."""

from typing import Any

import msgspec
import pytest

from compute.api import annotations, gates, labels
from compute.api.compute import WorkloadDeployment
from compute.decide import json_annotations
from compute.decide.deployment import rollout
from compute.decide.deployment.rollout import (
    CreateInstance,
    DeleteInstance,
    LabelInstance,
    RolloutPlan,
    RolloutSettings,
    WaitForInstance,
    plan,
    settings_of,
)
from tests.support.compute.builders import NOW, deployment, instance
from tests.support.compute.rollout_builders import member, members

W0, W1, W2 = "web-home-dfw-0", "web-home-dfw-1", "web-home-dfw-2"
OTHER = "it is of another template"
BROKEN = "it is of another template and not Ready"
PAUSED = "the rollout is paused"


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_at_rest_there_is_nothing_to_do(policy):
    """All slots filled, Ready and of the template: an empty plan."""
    wd = deployment(2, policy=policy)

    assert plan(wd, members(wd, 0, 1), NOW) == RolloutPlan()


def test_instance_that_names_no_template_is_stale():
    """An Instance without a recorded hash is replaced like any other of another template."""
    wd = deployment(1)
    made = member(wd, 0)
    bare = msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, controller=None))

    assert plan(wd, [bare], NOW).now == (DeleteInstance(W0, "uid-0", OTHER),)


def test_unknown_policy_is_followed_as_ordered_ready():
    """An unknown policy must not mean that nothing happens."""
    assert plan(deployment(2, policy="Sideways"), [], NOW) == plan(deployment(2), [], NOW)


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
@pytest.mark.parametrize(
    ("ready", "why"), [(True, OTHER), (False, BROKEN)], ids=["ready", "broken"]
)
def test_pause_holds_every_replacement(policy, ready, why):
    """Neither a Ready Instance nor a broken one changes its template during a pause."""
    wd = deployment(1, policy=policy, annotations={annotations.PAUSED: "true"})
    got = plan(wd, members(wd, 0, ready=ready, stale=True), NOW)

    assert got == RolloutPlan(later=(DeleteInstance(W0, "uid-0", why, hold=PAUSED),))


ASKED = "the user asked to replace it"


def requested(replicas: int, *ordinals: int, **known: Any) -> WorkloadDeployment:
    """A deployment whose user asked to replace these Instances."""
    stamps = {f"web-home-dfw-{ordinal}": "2026-06-01T12:00:00Z" for ordinal in ordinals}
    notes = {annotations.REPLACED_INSTANCES: json_annotations.write(stamps)}
    return deployment(replicas, **known | {"annotations": known.get("annotations", {}) | notes})


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
@pytest.mark.parametrize("paused", ["true", "false"])
@pytest.mark.parametrize("state", [{}, {"ready": False}, {"stale": True}], ids=str)
def test_a_requested_replacement_happens_even_during_a_pause(policy, paused, state):
    """The Instance is removed once, and its successor has the stamp, so it stays."""
    wd = requested(1, 0, policy=policy, annotations={annotations.PAUSED: paused})
    before = member(wd, 0, annotations={}, **state)
    assert plan(wd, [before], NOW) == RolloutPlan(now=(DeleteInstance(W0, "uid-0", ASKED),))
    assert plan(wd, [], NOW) == RolloutPlan(now=(CreateInstance(0),))
    assert plan(wd, [member(wd, 0)], NOW) == RolloutPlan()


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_requested_replacements_are_one_at_a_time_and_before_the_roll(policy):
    """They obey the limit of the policy, and what is of another template waits for them."""
    wd = requested(3, 0, 1, policy=policy)
    bare: dict[str, Any] = {"annotations": {}}
    there = [member(wd, 0, **bare), member(wd, 1, **bare), member(wd, 2, stale=True, **bare)]
    got = plan(wd, there, NOW)
    assert got.now == (DeleteInstance(W1, "uid-1", ASKED),)
    assert [(step.name, step.why) for step in got.later if isinstance(step, DeleteInstance)] == [
        (W0, ASKED),
        (W2, OTHER),
    ]


def test_a_requested_replacement_waits_until_all_others_serve():
    """In order, an Instance that serves is not removed while another does not; the hold says so."""
    wd = requested(2, 1)
    there = [member(wd, 0, ready=False), member(wd, 1, annotations={})]
    got = plan(wd, there, NOW)
    hold = f"waits for {W0} to become Ready"
    assert got.later == (DeleteInstance(W1, "uid-1", ASKED, hold=hold),)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "[" * 100_000, '{"web-home-dfw-0":1}', '{"web-home-lhr-0":"x","lost":"x"}'],
    ids=["empty", "list", "broken", "deep", "number", "others"],
)
def test_an_unreadable_request_is_ignored(text):
    """Nothing is replaced, and nothing stops."""
    wd = deployment(1, annotations={annotations.REPLACED_INSTANCES: text})
    assert plan(wd, [member(wd, 0)], NOW) == RolloutPlan()


def test_a_request_that_was_withdrawn_replaces_nothing():
    """An Instance keeps its stamp when its slot has none any more."""
    there = member(requested(1, 0), 0)
    assert plan(deployment(1), [there], NOW) == RolloutPlan()


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_scaling_and_healing_continue_during_a_pause(policy):
    """Empty slots are filled and surplus goes, as without a pause."""
    wd = deployment(2, policy=policy, annotations={annotations.PAUSED: "true"})
    world = [member(wd, 0), member(wd, 2)]

    assert plan(wd, world, NOW) == RolloutPlan(
        now=(CreateInstance(1), DeleteInstance(W2, "uid-2", "no more than 2 are wanted"))
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, RolloutSettings()),
        ({annotations.PAUSED: "true"}, RolloutSettings(paused=True)),
        ({annotations.PAUSED: "yes"}, RolloutSettings()),
        ({annotations.MAX_UNAVAILABLE: "25%"}, RolloutSettings(max_unavailable="25%")),
        ({annotations.MAX_UNAVAILABLE: "2"}, RolloutSettings(max_unavailable=2)),
    ],
    ids=["silent", "paused", "not paused", "share", "count"],
)
def test_settings_come_from_annotations(said, expected):
    """Only the exact value pauses; a limit is a count or a share."""
    assert settings_of(deployment(annotations=said)) == expected


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_deleted_deployment_removes_all_at_once(policy):
    """Teardown keeps no order: highest first, all in one pass, paused or not."""
    wd = deployment(
        2, policy=policy, deletion_timestamp=NOW, annotations={annotations.PAUSED: "true"}
    )
    world = [*members(wd, 0, 1, stale=True), member(wd, 2, deleting=True)]

    why = "the deployment is being deleted"
    assert plan(wd, world, NOW) == RolloutPlan(
        now=(
            WaitForInstance(W2, "is terminating"),
            DeleteInstance(W1, "uid-1", why),
            DeleteInstance(W0, "uid-0", why),
        )
    )


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
@pytest.mark.parametrize(
    "name",
    ["web-home-dfw", "web-home-dfw-x", "web-home-dfw-01", "web-home-dfw--1", "other-home-dfw-0"],
)
def test_strays_go_first_and_hold_nothing_back(name, policy):
    """An Instance of no ordinal of this deployment goes; the slots are filled meanwhile."""
    wd = deployment(1, policy=policy)
    stray = member(wd, 0, name=name, uid="uid-stray")

    why = "its name is not one that web-home-dfw gives"
    assert plan(wd, [stray], NOW) == RolloutPlan(
        now=(DeleteInstance(name, "uid-stray", why), CreateInstance(0))
    )


def test_nothing_waits_for_a_terminating_stray():
    """A stray that cannot finish terminating must not stop the rollout."""
    wd = deployment(1)
    stray = member(wd, 0, name="old", uid="uid-stray", deleting=True)

    assert plan(wd, [stray, *members(wd, 0, stale=True)], NOW) == RolloutPlan(
        now=(WaitForInstance("old", "is terminating"), DeleteInstance(W0, "uid-0", OTHER))
    )


def test_the_name_decides_who_holds_a_slot():
    """Where a label claims another slot the name is right, and the label is corrected."""
    wd = deployment(2)
    claimant = member(wd, 1)
    claimant.metadata.labels[labels.INSTANCE_INDEX] = "0"

    assert plan(wd, [member(wd, 0), claimant], NOW) == RolloutPlan(
        now=(LabelInstance(W1, "uid-1", {labels.INSTANCE_INDEX: "1"}),)
    )


@pytest.mark.parametrize("ready", [True, False])
def test_missing_labels_are_filled_in_whatever_the_readiness(ready):
    """Only the keys that are missing or wrong are set, and nothing waits for it."""
    wd = deployment(2)
    bare = member(wd, 0, ready=ready, labels={"mine": "kept", labels.CITY_CODE: "DFW"})

    label, *rest = plan(wd, [bare], NOW).now

    assert label == LabelInstance(
        W0,
        "uid-0",
        {
            labels.INSTANCE_INDEX: "0",
            labels.WORKLOAD_UID: "uid-web",
            labels.WORKLOAD_NAME: "web",
            labels.DEPLOYMENT_UID: "uid-wd",
            labels.DEPLOYMENT_NAME: "web-home-dfw",
            labels.PLACEMENT_NAME: "home",
        },
    )
    assert rest == [CreateInstance(1) if ready else WaitForInstance(W0, "is not Ready")]


@pytest.mark.parametrize(
    ("replicas", "deleting"), [(1, True), (0, False)], ids=["terminating", "surplus"]
)
def test_what_goes_is_not_labelled(replicas, deleting):
    """Labels are for Instances that stay in their slots."""
    wd = deployment(replicas)
    got = plan(wd, [member(wd, 0, deleting=deleting, labels={})], NOW)

    assert not [action for action in got.now if isinstance(action, LabelInstance)]


def test_instance_without_conditions_is_not_ready():
    """An absent setting is off."""
    wd = deployment(2)
    silent = msgspec.structs.replace(member(wd, 0), status=instance(0).status)

    assert plan(wd, [silent], NOW).now == (WaitForInstance(W0, "is not Ready"),)


@pytest.mark.parametrize(
    ("networking", "expected"),
    [(True, (gates.NETWORK, gates.QUOTA)), (False, (gates.QUOTA,))],
    ids=["networking", "no networking"],
)
def test_gates_follow_the_configuration(networking, expected):
    """Quota is always waited for, the network only where networks are managed."""
    assert rollout.initial_gates(networking=networking) == expected
