"""OrderedReady, case by case. Names in holds are how a user reads the plan."""

from compute.api.compute import MOST_REPLICAS
from compute.decide.deployment.rollout import (
    CreateInstance,
    DeleteInstance,
    RolloutPlan,
    RolloutSettings,
    WaitForInstance,
    plan,
)
from tests.support.compute.builders import NOW, deployment
from tests.support.compute.rollout_builders import member, members

W0, W1, W2 = "web-home-dfw-0", "web-home-dfw-1", "web-home-dfw-2"
OTHER = "it is of another template"
BROKEN = "it is of another template and not Ready"


def test_fresh_deployment_creates_from_the_lowest():
    """The first slot is filled at once, the next waits for it, and the plan says so."""
    got = plan(deployment(2), [], NOW)

    assert got == RolloutPlan(
        now=(CreateInstance(0),), later=(CreateInstance(1, hold=f"waits for {W0} to become Ready"),)
    )


def test_next_ordinal_follows_a_ready_one():
    """A Ready predecessor lets its successor come."""
    wd = deployment(3)

    assert plan(wd, members(wd, 0), NOW) == RolloutPlan(
        now=(CreateInstance(1),), later=(CreateInstance(2, hold=f"waits for {W1} to become Ready"),)
    )


def test_template_change_rolls_from_the_highest():
    """With all Ready, the highest is replaced first and the others wait for it."""
    wd = deployment(2)

    assert plan(wd, members(wd, 0, 1, stale=True), NOW) == RolloutPlan(
        now=(DeleteInstance(W1, "uid-1", OTHER),),
        later=(DeleteInstance(W0, "uid-0", OTHER, hold=f"waits for {W1} to be gone"),),
    )


def test_roll_waits_for_the_last_replacement():
    """A replacement that is not Ready yet holds the roll where it is."""
    wd = deployment(2)
    world = [member(wd, 0, stale=True), member(wd, 1, ready=False)]

    assert plan(wd, world, NOW) == RolloutPlan(
        now=(WaitForInstance(W1, "is not Ready"),),
        later=(DeleteInstance(W0, "uid-0", OTHER, hold=f"waits for {W1} to become Ready"),),
    )


def test_roll_waits_for_an_empty_slot():
    """No Instance that serves is removed while a slot is empty; the slot is filled first."""
    wd = deployment(2)

    assert plan(wd, members(wd, 0, stale=True), NOW) == RolloutPlan(
        now=(CreateInstance(1),),
        later=(DeleteInstance(W0, "uid-0", OTHER, hold=f"waits for {W1} to become Ready"),),
    )


def test_empty_slot_below_is_filled_while_higher_ones_exist():
    """An empty slot is filled, whatever the slots above it."""
    wd = deployment(3)

    assert plan(wd, members(wd, 0, 2), NOW) == RolloutPlan(now=(CreateInstance(1),))


def test_scale_up_waits_for_an_unready_instance():
    """An unready Instance of the right template holds back those above it."""
    wd = deployment(3)
    world = [member(wd, 0), member(wd, 1, ready=False)]

    assert plan(wd, world, NOW) == RolloutPlan(
        now=(WaitForInstance(W1, "is not Ready"),),
        later=(CreateInstance(2, hold=f"waits for {W1} to become Ready"),),
    )


def test_scale_up_waits_for_a_terminating_instance():
    """A terminating Instance does not count as Ready, whatever its conditions still say."""
    wd = deployment(3)
    world = [member(wd, 0), member(wd, 1, deleting=True)]

    assert plan(wd, world, NOW) == RolloutPlan(
        now=(WaitForInstance(W1, "is terminating"),),
        later=(CreateInstance(2, hold=f"waits for {W1} to become Ready"),),
    )


def test_scale_down_goes_from_the_highest_one_by_one():
    """Only the highest goes; the next waits until it is gone."""
    wd = deployment(1)

    assert plan(wd, members(wd, 0, 1, 2), NOW) == RolloutPlan(
        now=(DeleteInstance(W2, "uid-2", "no more than 1 are wanted"),),
        later=(
            DeleteInstance(
                W1, "uid-1", "no more than 1 are wanted", hold=f"waits for {W2} to be gone"
            ),
        ),
    )


def test_the_highest_ordinal_is_compared_as_a_number():
    """Ordinal 10 stands above 9, though its name sorts below."""
    wd = deployment(9)

    assert plan(wd, members(wd, *range(11)), NOW).now == (
        DeleteInstance("web-home-dfw-10", "uid-10", "no more than 9 are wanted"),
    )


def test_scale_down_waits_for_what_is_terminating():
    """While one is on its way out, no other is sent after it."""
    wd = deployment(1)
    world = [*members(wd, 0, 1), member(wd, 2, deleting=True)]

    assert plan(wd, world, NOW) == RolloutPlan(
        now=(WaitForInstance(W2, "is terminating"),),
        later=(
            DeleteInstance(
                W1, "uid-1", "no more than 1 are wanted", hold=f"waits for {W2} to be gone"
            ),
        ),
    )


def test_scale_down_comes_before_the_roll():
    """Nothing that serves is replaced while there is still something to remove."""
    wd = deployment(1)

    assert plan(wd, members(wd, 0, 1, stale=True), NOW) == RolloutPlan(
        now=(DeleteInstance(W1, "uid-1", "no more than 1 are wanted"),),
        later=(DeleteInstance(W0, "uid-0", OTHER, hold=f"waits for {W1} to be gone"),),
    )


def test_scaled_to_a_negative_number_means_none():
    """A count below zero, which admission refuses, removes all instead of failing."""
    wd = deployment(-3)

    assert plan(wd, members(wd, 0), NOW).now == (
        DeleteInstance(W0, "uid-0", "no more than 0 are wanted"),
    )


def test_w41_scale_down_is_not_held_by_a_broken_instance():
    """What is not wanted goes although a lower ordinal never became Ready."""
    wd = deployment(1)
    world = [member(wd, 0, ready=False), member(wd, 1)]

    assert plan(wd, world, NOW) == RolloutPlan(
        now=(
            WaitForInstance(W0, "is not Ready"),
            DeleteInstance(W1, "uid-1", "no more than 1 are wanted"),
        )
    )


def test_w41_a_bad_image_is_repaired_by_a_new_template():
    """An Instance that never became Ready is replaced once the template changes."""
    wd = deployment(2)
    world = [member(wd, 0, stale=True), member(wd, 1, stale=True, ready=False)]

    assert plan(wd, world, NOW) == RolloutPlan(
        now=(DeleteInstance(W1, "uid-1", BROKEN),),
        later=(DeleteInstance(W0, "uid-0", OTHER, hold=f"waits for {W1} to become Ready"),),
    )


def test_w41_a_broken_first_ordinal_does_not_block_the_rest():
    """A broken ordinal 0 is replaced first, and only what needs it Ready waits."""
    wd = deployment(2)
    world = [member(wd, 0, stale=True, ready=False), member(wd, 3)]

    assert plan(wd, world, NOW) == RolloutPlan(
        now=(DeleteInstance(W0, "uid-0", BROKEN),),
        later=(
            CreateInstance(1, hold=f"waits for {W0} to become Ready"),
            DeleteInstance(
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

    assert plan(wd, members(wd, 0, 1, stale=True, ready=False), NOW) == RolloutPlan(
        now=(DeleteInstance(W1, "uid-1", BROKEN),),
        later=(DeleteInstance(W0, "uid-0", BROKEN, hold=f"waits for {W1} to be gone"),),
    )


def test_broken_ones_wait_while_another_is_terminating():
    """One at a time holds for repairs too."""
    wd = deployment(2)
    world = [member(wd, 0, stale=True, ready=False), member(wd, 1, deleting=True)]

    assert plan(wd, world, NOW) == RolloutPlan(
        now=(WaitForInstance(W1, "is terminating"),),
        later=(DeleteInstance(W0, "uid-0", BROKEN, hold=f"waits for {W1} to be gone"),),
    )


def test_ordered_ready_ignores_max_unavailable():
    """OrderedReady promises one by one, and keeps the promise."""
    wd = deployment(3)
    got = plan(wd, members(wd, 0, 1, 2, stale=True), NOW, RolloutSettings(max_unavailable=3))

    assert got.now == (DeleteInstance(W2, "uid-2", OTHER),)


def test_a_number_beyond_all_bounds_is_cut():
    """A deployment that passed admission by costs no more than one that did not."""
    got = plan(deployment(2**31 - 1, policy="Parallel"), [], NOW)

    assert len(got.now) + len(got.later) == MOST_REPLICAS
