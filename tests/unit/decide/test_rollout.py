"""The next step of a rollout, case by case. Names in holds are how a user reads the plan."""

import msgspec
import pytest

from compute.api import annotations, gates, labels
from compute.decide import rollout
from compute.decide.rollout import Create, Delete, Label, Plan, Settings, Wait, plan, settings_of
from tests.builders import NOW, deployment, instance
from tests.rollout_builders import member, members

W0, W1, W2 = "web-home-dfw-0", "web-home-dfw-1", "web-home-dfw-2"
OTHER = "it is of another template"
BROKEN = "it is of another template and not Ready"
PAUSED = "the rollout is paused"


def parallel(replicas, **meta):
    return deployment(replicas, policy="Parallel", **meta)


def test_fresh_deployment_creates_from_the_lowest():
    """The first slot is filled at once, the next waits for it, and the plan says so."""
    got = plan(deployment(2), [])

    assert got == Plan(now=(Create(0),), later=(Create(1, hold=f"waits for {W0} to become Ready"),))


def test_next_ordinal_follows_a_ready_one():
    """A Ready predecessor lets its successor come."""
    wd = deployment(3)

    assert plan(wd, members(wd, 0)) == Plan(
        now=(Create(1),), later=(Create(2, hold=f"waits for {W1} to become Ready"),)
    )


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_at_rest_there_is_nothing_to_do(policy):
    """All slots filled, Ready and of the template: an empty plan."""
    wd = deployment(2, policy=policy)

    assert plan(wd, members(wd, 0, 1)) == Plan()


def test_template_change_rolls_from_the_highest():
    """With all Ready, the highest is replaced first and the others wait for it."""
    wd = deployment(2)

    assert plan(wd, members(wd, 0, 1, stale=True)) == Plan(
        now=(Delete(W1, "uid-1", OTHER),),
        later=(Delete(W0, "uid-0", OTHER, hold=f"waits for {W1} to be gone"),),
    )


def test_roll_waits_for_the_last_replacement():
    """A replacement that is not Ready yet holds the roll where it is."""
    wd = deployment(2)
    world = [member(wd, 0, stale=True), member(wd, 1, ready=False)]

    assert plan(wd, world) == Plan(
        now=(Wait(W1, "is not Ready"),),
        later=(Delete(W0, "uid-0", OTHER, hold=f"waits for {W1} to become Ready"),),
    )


def test_roll_waits_for_an_empty_slot():
    """Nobody who serves is taken down while a slot is empty; the slot is filled first."""
    wd = deployment(2)

    assert plan(wd, members(wd, 0, stale=True)) == Plan(
        now=(Create(1),),
        later=(Delete(W0, "uid-0", OTHER, hold=f"waits for {W1} to become Ready"),),
    )


def test_empty_slot_below_is_filled_while_higher_ones_exist():
    """A hole in the row is closed, whoever stands above it."""
    wd = deployment(3)

    assert plan(wd, members(wd, 0, 2)) == Plan(now=(Create(1),))


def test_scale_up_waits_for_an_unready_instance():
    """An unready Instance of the right template holds back those above it."""
    wd = deployment(3)
    world = [member(wd, 0), member(wd, 1, ready=False)]

    assert plan(wd, world) == Plan(
        now=(Wait(W1, "is not Ready"),),
        later=(Create(2, hold=f"waits for {W1} to become Ready"),),
    )


def test_scale_up_waits_for_a_terminating_instance():
    """A terminating Instance does not count as Ready, whatever its conditions still say."""
    wd = deployment(3)
    world = [member(wd, 0), member(wd, 1, deleting=True)]

    assert plan(wd, world) == Plan(
        now=(Wait(W1, "is terminating"),),
        later=(Create(2, hold=f"waits for {W1} to become Ready"),),
    )


def test_scale_down_goes_from_the_highest_one_by_one():
    """Only the highest goes; the next waits until it is gone."""
    wd = deployment(1)

    assert plan(wd, members(wd, 0, 1, 2)) == Plan(
        now=(Delete(W2, "uid-2", "no more than 1 are wanted"),),
        later=(
            Delete(W1, "uid-1", "no more than 1 are wanted", hold=f"waits for {W2} to be gone"),
        ),
    )


def test_highest_ordinal_is_told_by_number():
    """Ordinal 10 stands above 9, though its name sorts below."""
    wd = deployment(9)

    assert plan(wd, members(wd, *range(11))).now == (
        Delete("web-home-dfw-10", "uid-10", "no more than 9 are wanted"),
    )


def test_scale_down_waits_for_what_is_terminating():
    """While one is on its way out, no other is sent after it."""
    wd = deployment(1)
    world = [*members(wd, 0, 1), member(wd, 2, deleting=True)]

    assert plan(wd, world) == Plan(
        now=(Wait(W2, "is terminating"),),
        later=(
            Delete(W1, "uid-1", "no more than 1 are wanted", hold=f"waits for {W2} to be gone"),
        ),
    )


def test_scale_down_comes_before_the_roll():
    """Nothing that serves is replaced while there is still something to remove."""
    wd = deployment(1)

    assert plan(wd, members(wd, 0, 1, stale=True)) == Plan(
        now=(Delete(W1, "uid-1", "no more than 1 are wanted"),),
        later=(Delete(W0, "uid-0", OTHER, hold=f"waits for {W1} to be gone"),),
    )


def test_scaled_to_a_negative_number_means_none():
    """A count below zero, which admission refuses, removes all instead of failing."""
    wd = deployment(-3)

    assert plan(wd, members(wd, 0)).now == (Delete(W0, "uid-0", "no more than 0 are wanted"),)


def test_w41_scale_down_is_not_held_by_a_broken_instance():
    """What is not wanted goes although a lower ordinal never became Ready."""
    wd = deployment(1)
    world = [member(wd, 0, ready=False), member(wd, 1)]

    assert plan(wd, world) == Plan(
        now=(Wait(W0, "is not Ready"), Delete(W1, "uid-1", "no more than 1 are wanted"))
    )


def test_w41_a_bad_image_is_repaired_by_a_new_template():
    """An Instance that never became Ready is replaced once the template changes."""
    wd = deployment(2)
    world = [member(wd, 0, stale=True), member(wd, 1, stale=True, ready=False)]

    assert plan(wd, world) == Plan(
        now=(Delete(W1, "uid-1", BROKEN),),
        later=(Delete(W0, "uid-0", OTHER, hold=f"waits for {W1} to become Ready"),),
    )


def test_w41_a_broken_first_ordinal_blocks_nothing_for_ever():
    """A broken ordinal 0 is replaced first, and only what needs it Ready waits."""
    wd = deployment(2)
    world = [member(wd, 0, stale=True, ready=False), member(wd, 3)]

    assert plan(wd, world) == Plan(
        now=(Delete(W0, "uid-0", BROKEN),),
        later=(
            Create(1, hold=f"waits for {W0} to become Ready"),
            Delete(
                "web-home-dfw-3",
                "uid-3",
                "no more than 2 are wanted",
                hold=f"waits for {W0} to be gone",
            ),
        ),
    )


def test_w41_broken_ones_are_replaced_one_by_one():
    """Several broken Instances go from the highest down, each after the last is gone."""
    wd = deployment(2)

    assert plan(wd, members(wd, 0, 1, stale=True, ready=False)) == Plan(
        now=(Delete(W1, "uid-1", BROKEN),),
        later=(Delete(W0, "uid-0", BROKEN, hold=f"waits for {W1} to be gone"),),
    )


def test_broken_ones_wait_while_another_is_terminating():
    """One at a time holds for repairs too."""
    wd = deployment(2)
    world = [member(wd, 0, stale=True, ready=False), member(wd, 1, deleting=True)]

    assert plan(wd, world) == Plan(
        now=(Wait(W1, "is terminating"),),
        later=(Delete(W0, "uid-0", BROKEN, hold=f"waits for {W1} to be gone"),),
    )


def test_instance_that_names_no_template_is_stale():
    """An Instance without a recorded hash is replaced like any other of another template."""
    wd = deployment(1)
    made = member(wd, 0)
    bare = msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, controller=None))

    assert plan(wd, [bare]).now == (Delete(W0, "uid-0", OTHER),)


def test_parallel_creates_all_at_once():
    """No slot waits for another."""
    assert plan(parallel(3), []) == Plan(now=(Create(0), Create(1), Create(2)))


def test_parallel_removes_all_surplus_at_once():
    """Everything beyond the slots goes in one pass, terminating ones aside."""
    wd = parallel(1)
    world = [*members(wd, 0, 1, 2), member(wd, 3, deleting=True)]

    assert plan(wd, world) == Plan(
        now=(
            Wait("web-home-dfw-3", "is terminating"),
            Delete(W2, "uid-2", "no more than 1 are wanted"),
            Delete(W1, "uid-1", "no more than 1 are wanted"),
        )
    )


def test_w42_parallel_update_keeps_to_max_unavailable():
    """As many are replaced as may be unavailable, from the highest; the rest waits."""
    wd = parallel(3)
    got = plan(wd, members(wd, 0, 1, 2, stale=True), Settings(max_unavailable=2))

    limit = "waits because no more than 2 may be unavailable at a time"
    assert got == Plan(
        now=(Delete(W2, "uid-2", OTHER), Delete(W1, "uid-1", OTHER)),
        later=(Delete(W0, "uid-0", OTHER, hold=limit),),
    )


@pytest.mark.parametrize(
    "state",
    [{"ready": False}, {"deleting": True}],
    ids=["unready", "terminating"],
)
def test_parallel_update_counts_what_is_unavailable_already(state):
    """A slot that is not served uses up the allowance, whatever the cause."""
    wd = parallel(2)
    got = plan(wd, [member(wd, 0, stale=True), member(wd, 1, **state)])

    limit = "waits because no more than 1 may be unavailable at a time"
    assert got.later == (Delete(W0, "uid-0", OTHER, hold=limit),)


def test_parallel_update_counts_empty_slots():
    """A slot that is only being filled is not served yet."""
    wd = parallel(2)
    got = plan(wd, members(wd, 0, stale=True))

    limit = "waits because no more than 1 may be unavailable at a time"
    assert got == Plan(now=(Create(1),), later=(Delete(W0, "uid-0", OTHER, hold=limit),))


def test_w41_parallel_replaces_all_broken_ones_at_once():
    """What is unavailable already costs nothing, so no limit holds it back."""
    wd = parallel(2)

    assert plan(wd, members(wd, 0, 1, stale=True, ready=False)) == Plan(
        now=(Delete(W1, "uid-1", BROKEN), Delete(W0, "uid-0", BROKEN))
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
    got = plan(wd, members(wd, *range(replicas), stale=True))

    assert len(got.now) == replaced


def test_ordered_ready_ignores_max_unavailable():
    """OrderedReady promises one by one, and keeps the promise."""
    wd = deployment(3)
    got = plan(wd, members(wd, 0, 1, 2, stale=True), Settings(max_unavailable=3))

    assert got.now == (Delete(W2, "uid-2", OTHER),)


def test_unknown_policy_is_followed_as_ordered_ready():
    """A policy that nobody knows must not mean that nothing happens."""
    assert plan(deployment(2, policy="Sideways"), []) == plan(deployment(2), [])


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
@pytest.mark.parametrize(
    ("ready", "why"), [(True, OTHER), (False, BROKEN)], ids=["ready", "broken"]
)
def test_pause_holds_every_replacement(policy, ready, why):
    """Neither a Ready Instance nor a broken one changes its template during a pause."""
    wd = deployment(1, policy=policy, annotations={annotations.PAUSED: "true"})
    got = plan(wd, members(wd, 0, ready=ready, stale=True))

    assert got == Plan(later=(Delete(W0, "uid-0", why, hold=PAUSED),))


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_pause_lets_scaling_and_healing_go_on(policy):
    """Empty slots are filled and surplus goes, as without a pause."""
    wd = deployment(2, policy=policy, annotations={annotations.PAUSED: "true"})
    world = [member(wd, 0), member(wd, 2)]

    assert plan(wd, world) == Plan(
        now=(Create(1), Delete(W2, "uid-2", "no more than 2 are wanted"))
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, Settings()),
        ({annotations.PAUSED: "true"}, Settings(paused=True)),
        ({annotations.PAUSED: "yes"}, Settings()),
        ({annotations.MAX_UNAVAILABLE: "25%"}, Settings(max_unavailable="25%")),
        ({annotations.MAX_UNAVAILABLE: "2"}, Settings(max_unavailable=2)),
    ],
    ids=["silent", "paused", "not paused", "share", "count"],
)
def test_settings_come_from_annotations(said, expected):
    """Only the exact word pauses; a limit is a count or a share."""
    assert settings_of(deployment(annotations=said)) == expected


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_deleted_deployment_removes_all_at_once(policy):
    """Teardown keeps no order: highest first, all in one pass, paused or not."""
    wd = deployment(
        2, policy=policy, deletion_timestamp=NOW, annotations={annotations.PAUSED: "true"}
    )
    world = [*members(wd, 0, 1, stale=True), member(wd, 2, deleting=True)]

    why = "the deployment is being deleted"
    assert plan(wd, world) == Plan(
        now=(Wait(W2, "is terminating"), Delete(W1, "uid-1", why), Delete(W0, "uid-0", why))
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
    assert plan(wd, [stray]) == Plan(now=(Delete(name, "uid-stray", why), Create(0)))


def test_a_terminating_stray_is_awaited_by_nobody():
    """A stray that cannot finish terminating must not stop the rollout."""
    wd = deployment(1)
    stray = member(wd, 0, name="old", uid="uid-stray", deleting=True)

    assert plan(wd, [stray, *members(wd, 0, stale=True)]) == Plan(
        now=(Wait("old", "is terminating"), Delete(W0, "uid-0", OTHER))
    )


def test_the_name_decides_who_holds_a_slot():
    """Where a label claims another slot the name is right, and the label is mended."""
    wd = deployment(2)
    claimant = member(wd, 1)
    claimant.metadata.labels[labels.INSTANCE_INDEX] = "0"

    assert plan(wd, [member(wd, 0), claimant]) == Plan(
        now=(Label(W1, "uid-1", {labels.INSTANCE_INDEX: "1"}),)
    )


@pytest.mark.parametrize("ready", [True, False])
def test_missing_labels_are_filled_in_whatever_the_readiness(ready):
    """Only the keys that are missing or wrong are set, and nothing waits for it."""
    wd = deployment(2)
    bare = member(wd, 0, ready=ready, labels={"mine": "kept", labels.CITY_CODE: "DFW"})

    label, *rest = plan(wd, [bare]).now

    assert label == Label(
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
    assert rest == [Create(1) if ready else Wait(W0, "is not Ready")]


@pytest.mark.parametrize(
    ("replicas", "deleting"), [(1, True), (0, False)], ids=["terminating", "surplus"]
)
def test_what_goes_is_not_labelled(replicas, deleting):
    """Labels are for Instances that stay in their slots."""
    wd = deployment(replicas)
    got = plan(wd, [member(wd, 0, deleting=deleting, labels={})])

    assert not [action for action in got.now if isinstance(action, Label)]


def test_instance_without_conditions_is_not_ready():
    """What nobody has spoken of is not so."""
    wd = deployment(2)
    silent = msgspec.structs.replace(member(wd, 0), status=instance(0).status)

    assert plan(wd, [silent]).now == (Wait(W0, "is not Ready"),)


@pytest.mark.parametrize(
    ("networking", "expected"),
    [(True, (gates.NETWORK, gates.QUOTA)), (False, (gates.QUOTA,))],
    ids=["networking", "no networking"],
)
def test_gates_follow_the_configuration(networking, expected):
    """Quota is always waited for, the network only where networks are managed."""
    assert rollout.gates(networking=networking) == expected
