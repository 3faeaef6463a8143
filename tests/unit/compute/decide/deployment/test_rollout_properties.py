"""Laws of a rollout, from any world: strays, holes, broken, stale and terminating Instances.

A small model carries plans out. Deletions and starts take some steps, and only an Instance of a
good template ever becomes Ready. Every plan on the way is checked, not only the end.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from hypothesis import given, settings, strategies as st

from compute.api import annotations, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.decide import json_annotations
from compute.decide.deployment import replacements
from compute.decide.deployment.rollout import (
    CreateInstance,
    DeleteInstance,
    LabelInstance,
    RolloutPlan,
    WaitForInstance,
    plan,
)
from compute.decide.deployment.template import build_instance, matches
from tests.support.compute.builders import NOW, deployment, instance_spec, template
from tests.support.compute.rollout_builders import READY, member
from tests.support.generated import depth

POLICIES = ("OrderedReady", "Parallel")
GOOD, BETTER, BAD = "registry.test/web:1", "registry.test/web:2", "registry.test/web:broken"
STRAYS = ("web-home-dfw-x", "web-home-lhr-0", "lost")
STATES: tuple[dict[str, Any] | None, ...] = (
    None,  # an empty slot
    {},  # as it should be
    {"labels": {}},
    {"ready": False},
    {"stale": True},
    {"stale": True, "ready": False},
    {"annotations": {}},  # it has not the stamp of its slot
    {"annotations": {}, "ready": False},
    {"annotations": {}, "stale": True},
    {"deleting": True},
    {"deleting": True, "stale": True, "ready": False},
)
ENOUGH = 300  # more steps than any world here needs


@dataclass
class World:
    """A deployment, its Instances, and how many steps each is away from what comes next."""

    deployment: WorkloadDeployment
    instances: list[Instance]
    pace: int = 0
    left: dict[str, int] = field(default_factory=dict)
    born: int = 0

    def plan(self) -> RolloutPlan:
        return plan(self.deployment, self.instances, NOW)

    def carry_out(self, done: RolloutPlan) -> None:
        for action in done.now:
            match action:
                case CreateInstance(ordinal):
                    self._create(ordinal)
                case DeleteInstance(_, uid):
                    self._change(uid, deletion_timestamp=NOW)
                case LabelInstance(_, uid, added):
                    kept = next(i for i in self.instances if i.metadata.uid == uid)
                    self._change(uid, labels={**kept.metadata.labels, **added})
                case WaitForInstance():
                    pass

    def pass_time(self) -> None:
        self.instances = [aged for old in self.instances for aged in self._aged(old)]

    def _aged(self, old: Instance) -> Iterable[Instance]:
        left = self.left.setdefault(old.metadata.uid, self.pace)
        self.left[old.metadata.uid] = left - 1
        if left > 0:
            return [old]
        if old.deleting or serves(old):
            return [] if old.deleting else [old]
        good = matches(self.deployment, old) and old.spec.runtime != instance_spec(BAD).runtime
        status = msgspec.structs.replace(old.status, conditions=READY)
        return [msgspec.structs.replace(old, status=status) if good else old]

    def _create(self, ordinal: int) -> None:
        made = build_instance(self.deployment, ordinal, ())
        assert made.metadata.name not in {i.metadata.name for i in self.instances}
        self.born += 1
        meta = msgspec.structs.replace(made.metadata, uid=f"new-{self.born}")
        self.instances.append(msgspec.structs.replace(made, metadata=meta))

    def _change(self, uid: str, **meta: object) -> None:
        self.left.pop(uid, None)
        self.instances = [
            msgspec.structs.replace(i, metadata=msgspec.structs.replace(i.metadata, **meta))
            if i.metadata.uid == uid
            else i
            for i in self.instances
        ]


@st.composite
def worlds(draw, *, policies=POLICIES, pauses=(True, False), image=GOOD):
    said = {annotations.MAX_UNAVAILABLE: str(draw(st.integers(1, 3)))}
    if draw(st.sampled_from(pauses)):
        said[annotations.PAUSED] = "true"
    requested = draw(st.sets(st.integers(0, 6)))
    if requested:
        stamps = {names.instance("web-home-dfw", ordinal): "now" for ordinal in requested}
        said[annotations.REPLACED_INSTANCES] = json_annotations.write(stamps)
    owner = deployment(
        draw(st.integers(0, 5)),
        policy=draw(st.sampled_from(policies)),
        image=image,
        annotations=said,
    )
    states = draw(st.lists(st.sampled_from(STATES), max_size=7))
    instances = [
        member(owner, ordinal, **state) for ordinal, state in enumerate(states) if state is not None
    ]
    strays = [
        member(owner, 0, name=name, uid=f"uid-{name}", deleting=draw(st.booleans()))
        for name in draw(st.sets(st.sampled_from(STRAYS)))
    ]
    everything = draw(st.permutations(instances + strays))
    return World(owner, list(everything), pace=draw(st.integers(0, 2)))


def settle(
    world: World, check: Callable[[World, RolloutPlan], None] = lambda _world, _plan: None
) -> RolloutPlan:
    """The plan that is left when nothing changes any more."""
    for _ in range(ENOUGH):
        step = world.plan()
        check(world, step)
        before = list(world.instances)
        world.carry_out(step)
        world.pass_time()
        if world.instances == before and not any(i.deleting for i in before) and done(world):
            return step
    raise AssertionError(f"still busy after {ENOUGH} steps: {world.plan()}")


def settle_twice(world: World, check: Callable[[World, RolloutPlan], None]) -> None:
    """Checks every plan on the way to rest, and then through a change of the template."""
    settle(world, check)
    change_template(world, BETTER)
    settle(world, check)


def change_template(world: World, image: str) -> None:
    spec = msgspec.structs.replace(world.deployment.spec, template=template(image))
    world.deployment = msgspec.structs.replace(world.deployment, spec=spec)


def done(world: World) -> bool:
    return all(world.left[i.metadata.uid] < 0 for i in world.instances)


def serves(instance: Instance) -> bool:
    return not instance.deleting and instance.status.conditions == READY


def slots_of(world: World) -> dict[int, Instance | None]:
    """Who is in each slot that is wanted."""
    by_name = {i.metadata.name: i for i in world.instances}
    wanted = world.deployment.spec.scale_settings.min_replicas
    return {o: by_name.get(names.instance("web-home-dfw", o)) for o in range(wanted)}


def unserved(world: World) -> set[str]:
    return {
        names.instance("web-home-dfw", ordinal)
        for ordinal, occupant in slots_of(world).items()
        if occupant is None or not serves(occupant)
    }


def removals(step: RolloutPlan) -> list[str]:
    """Names of the deployment's own Instances that are removed now."""
    deletes = [a.name for a in step.now if isinstance(a, DeleteInstance)]
    return [name for name in deletes if (names.instance_parts(name) or ("",))[0] == "web-home-dfw"]


def rolls(world: World, step: RolloutPlan) -> list[str]:
    """Names of Instances in slots that serve and are removed now."""
    serving = {i.metadata.name for i in slots_of(world).values() if i} - unserved(world)
    return [name for name in removals(step) if name in serving]


def is_settled(world: World) -> bool:
    """Exactly the wanted Instances, all Ready, of the template and with the stamps of their slots."""
    occupants = list(slots_of(world).values())
    return (
        len(world.instances) == len(occupants)
        and all(i is not None and serves(i) and matches(world.deployment, i) for i in occupants)
        and not requested(world)
    )


def requested(world: World) -> set[str]:
    """Names of the Instances in slots that the user asked to replace."""
    stamps = replacements.stamps(world.deployment)
    return {
        occupant.metadata.name
        for ordinal, occupant in slots_of(world).items()
        if occupant is not None and replacements.is_due(occupant, stamps.get(ordinal))
    }


@given(worlds(pauses=(False,)))
@settings(max_examples=depth.examples(80), deadline=None)
def test_any_world_settles_to_its_template(world):
    """From any world the wanted Instances come to be, Ready, of the template, and rest there."""
    assert settle(world) == RolloutPlan()
    assert is_settled(world)


@given(worlds(pauses=(True,)))
@settings(max_examples=depth.examples(80), deadline=None)
def test_a_pause_changes_numbers_and_no_template(world):
    """During a pause only what the user asked to replace is removed from a slot; the rest settles."""

    def check(world, step):
        in_slots = {i.metadata.name for i in slots_of(world).values() if i}
        assert in_slots.intersection(removals(step)) <= requested(world)

    last = settle(world, check)

    assert len(world.instances) == sum(i is not None for i in slots_of(world).values())
    assert not [a for a in last.now if not isinstance(a, WaitForInstance)]
    assert all(a.hold for a in last.later)
    assert not requested(world) & {i.metadata.name for i in world.instances if serves(i)} or any(
        not serves(i) for i in slots_of(world).values() if i
    )


@given(worlds(policies=("OrderedReady",)))
@settings(max_examples=depth.examples(80), deadline=None)
def test_ordered_ready_takes_down_one_at_a_time(world):
    """Never two removals in one plan, and none while another is under way; strays aside."""

    def check(world, step):
        leaving = {i.metadata.name for i in world.instances if i.deleting}.difference(STRAYS)
        assert len(removals(step)) + len(leaving) <= max(1, len(leaving))

    settle_twice(world, check)


@given(worlds(policies=("OrderedReady",)))
@settings(max_examples=depth.examples(80), deadline=None)
def test_ordered_ready_rolls_only_while_all_others_serve(world):
    """A serving Instance is replaced only when every slot is served."""

    def check(world, step):
        assert not (rolls(world, step) and unserved(world))

    settle_twice(world, check)


@given(worlds(policies=("OrderedReady",)))
@settings(max_examples=depth.examples(80), deadline=None)
def test_ordered_ready_creates_upwards(world):
    """An Instance is created only when all below it serve, and what follows is shown in order."""

    def check(world, step):
        lowest_first = [
            a.ordinal for a in (*step.now, *step.later) if isinstance(a, CreateInstance)
        ]
        assert lowest_first == sorted(lowest_first)
        for action in step.now:
            if isinstance(action, CreateInstance):
                below = {names.instance("web-home-dfw", o) for o in range(action.ordinal)}
                assert not below & unserved(world)

    settle_twice(world, check)


@given(worlds(policies=("Parallel",)))
@settings(max_examples=depth.examples(80), deadline=None)
def test_parallel_keeps_to_max_unavailable(world):
    """Updates never make more slots unserved than allowed, counting those that are already."""
    most = int(world.deployment.metadata.annotations[annotations.MAX_UNAVAILABLE])

    def check(world, step):
        taken = rolls(world, step)
        assert not taken or len(taken) + len(unserved(world)) <= most

    settle_twice(world, check)


@given(worlds(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_the_list_does_not_matter(world, chance):
    """A plan depends on which Instances there are, not on how they were listed."""
    expected = world.plan()
    chance.shuffle(world.instances)

    assert world.plan() == expected


@given(worlds())
@settings(deadline=None)
def test_nothing_is_asked_twice(world):
    """No Instance is both acted on and held back, and none that is terminating is deleted."""
    step = world.plan()
    deletes = [a.uid for a in (*step.now, *step.later) if isinstance(a, DeleteInstance)]
    leaving = {i.metadata.uid for i in world.instances if i.deleting}

    assert len(deletes) == len(set(deletes))
    assert not leaving.intersection(deletes)


@given(worlds(), st.booleans())
@settings(deadline=None)
def test_what_is_held_back_says_why(world, deleting):
    """Every action that waits says for what, and none that is due does."""
    if deleting:
        meta = msgspec.structs.replace(world.deployment.metadata, deletion_timestamp=NOW)
        world.deployment = msgspec.structs.replace(world.deployment, metadata=meta)
    step = world.plan()

    assert all(a.hold for a in step.later)
    assert not any(a.hold for a in step.now if isinstance(a, CreateInstance | DeleteInstance))
    assert not (deleting and step.later)


@given(worlds(pauses=(False,), image=BAD), st.integers(0, 40))
@settings(max_examples=depth.examples(80), deadline=None)
def test_w41_a_bad_template_is_repaired_by_a_good_one(world, steps):
    """However far a broken template got, a good one brings everything back."""
    for _ in range(steps):
        world.carry_out(world.plan())
        world.pass_time()
    change_template(world, GOOD)

    assert settle(world) == RolloutPlan()
    assert is_settled(world)
