"""What to do next so that a deployment's Instances become what its template says.

An Instance is never changed in place: what runs was fixed when it was started, so a new template
means delete and create again. A plan is one step. It is made from what is there, not from what
was done before, so a restart, a lost event or a second controller changes nothing.

Two things hold under every policy. What is not Ready and of another template goes at once, since
nobody is served by it and waiting for it could last for ever. And what is not wanted any more goes
whatever the health of the rest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from compute.api import annotations, gates
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.gates import Gate
from compute.api.labels import INSTANCE_INDEX
from compute.api.reasons import Trait, has
from compute.decide.conditions import find
from compute.decide.deployment.slots import Slots, survey
from compute.decide.deployment.template import controller_labels
from compute.decide.scheduling_gates import closed, condition_of
from kubekit.api import digits, int_or_string

WAVE: Final = 32  # Instances of one deployment that are begun at once, if they are quick
FIRST_WAVE: Final = 8  # as many, as long as it is not known whether they are
_PROMPT: Final = timedelta(seconds=2)  # at its gates, which are often in another city
_STUCK: Final = timedelta(seconds=20)  # at its gates: it waits for more than its turn
_FEW: Final = 4  # that are slower than all others say nothing of what is behind the gates
_CROWDED: Final = "waits until those that were begun before it are let through their gates"
_PAUSED: Final = "the rollout is paused"


@dataclass(frozen=True, slots=True)
class CreateInstance:
    """Fill a slot from the deployment's template."""

    ordinal: int
    hold: str = ""  # what it waits for, in words; empty when it is due


@dataclass(frozen=True, slots=True)
class DeleteInstance:
    """Remove exactly this Instance: a later one of the same name has another uid."""

    name: str
    uid: str
    why: str
    hold: str = ""  # what it waits for, in words; empty when it is due


@dataclass(frozen=True, slots=True)
class LabelInstance:
    """Set these labels, leaving all others alone."""

    name: str
    uid: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WaitForInstance:
    """Nothing to do but let this Instance finish what it is at."""

    name: str
    why: str


Action = CreateInstance | DeleteInstance | LabelInstance | WaitForInstance


@dataclass(frozen=True, slots=True)
class RolloutPlan:
    """What to do in this pass, and what would follow it.

    ``later`` is never executed. It is kept so that logs, status and tests can show what the
    deployment is waiting to do, and for what, instead of showing nothing at all.
    """

    now: tuple[Action, ...] = ()
    later: tuple[CreateInstance | DeleteInstance, ...] = ()

    @property
    def crowd(self) -> list[CreateInstance]:
        """What is to be begun as soon as there is room."""
        return [s for s in self.later if isinstance(s, CreateInstance) and s.hold == _CROWDED]


@dataclass(frozen=True, slots=True)
class RolloutSettings:
    """What a user may say of a rollout.

    ``max_unavailable`` is a count or a share of the Instances, taken as 1 when it comes to none,
    since no update could ever happen otherwise. OrderedReady always goes one by one. A pause stops
    every replacement, that of Instances which are not Ready included: it would bring the very
    template that is being held back. Scaling goes on, and an empty slot is filled from the only
    template there is.
    """

    max_unavailable: int | str = 1
    paused: bool = False


def plan(
    deployment: WorkloadDeployment,
    instances: Iterable[Instance],
    now: datetime,
    settings: RolloutSettings | None = None,
) -> RolloutPlan:
    """The next step, from all Instances that carry the deployment's label.

    Without settings, those that the deployment's annotations give. A policy that is not known is
    followed as OrderedReady: doing nothing would be the one answer that nobody can explain.
    """
    slots = survey(deployment, instances)
    named = deployment.spec.scale_settings.instance_management_policy
    policy = _together if deployment.deleting else _POLICIES.get(named, _in_order)
    steps = tuple(policy(slots, settings or settings_of(deployment), now))
    return RolloutPlan(
        now=(
            *_evictions(slots),
            *_back_fill(slots),
            *_waits(slots),
            *(step for step in steps if not step.hold),
        ),
        later=tuple(step for step in steps if step.hold),
    )


def settings_of(deployment: WorkloadDeployment) -> RolloutSettings:
    """What the deployment's annotations say. A limit that cannot be read is taken as 1."""
    known = deployment.metadata.annotations
    return RolloutSettings(
        max_unavailable=_count_or_share(known.get(annotations.MAX_UNAVAILABLE, "1")),
        paused=known.get(annotations.PAUSED) == "true",
    )


def initial_gates(*, networking: bool) -> tuple[str, ...]:
    """The gates of a new Instance. That of the network only where networks are managed."""
    return tuple(name for name in gates.TABLE.initial if networking or name != gates.NETWORK)


def _count_or_share(text: str) -> int | str:
    try:
        value = int(text) if digits.only(text) else text
        int_or_string.scaled(value, 0, round_up=False)
    except ValueError:
        return 1
    return value


def _in_order(
    slots: Slots, settings: RolloutSettings, _: datetime
) -> Iterator[CreateInstance | DeleteInstance]:
    """OrderedReady: up from the lowest, down from the highest, one by one.

    An Instance that serves is replaced only while all others serve too, and nothing is taken down
    while something is still terminating.
    """
    paused = _PAUSED if settings.paused else ""
    unready = [slots.name(ordinal) for ordinal in slots.unavailable]
    recovery = f"waits for {unready[0]} to become Ready" if unready else ""
    for ordinal in slots.missing:
        yield CreateInstance(ordinal, "" if slots.name(ordinal) == unready[0] else recovery)
    yield from _one_by_one(
        slots,
        *((step, paused) for step in _repairs(slots)),
        *((step, "") for step in _trims(slots)),
        *((step, paused or recovery) for step in _rolls(slots)),
    )


def _one_by_one(slots: Slots, *steps: tuple[DeleteInstance, str]) -> Iterator[DeleteInstance]:
    """The removals, each with what it already waits for, so that one at most is under way."""
    leaving = next((i.metadata.name for i in slots.terminating), "")
    for step, reason in steps:
        hold = reason or (f"waits for {leaving} to be gone" if leaving else "")
        if not hold:
            leaving = step.name
        yield replace(step, hold=hold)


def _together(
    slots: Slots, settings: RolloutSettings, now: datetime
) -> Iterator[CreateInstance | DeleteInstance]:
    """Parallel: in waves, but none waits for another to serve. Updates leave slots served."""
    paused = _PAUSED if settings.paused else ""
    most = max(1, int_or_string.scaled(settings.max_unavailable, slots.desired, round_up=False))
    limit = f"waits because no more than {most} may be unavailable at a time"
    spare = max(0, most - len(slots.unavailable))
    room = _room(slots, now)
    for rank, ordinal in enumerate(slots.missing):
        yield CreateInstance(ordinal, "" if rank < room else _CROWDED)
    yield from (replace(step, hold=paused) for step in _repairs(slots))
    yield from _trims(slots)
    for rank, step in enumerate(_rolls(slots)):
        yield replace(step, hold=paused or ("" if rank < spare else limit))


def _room(slots: Slots, now: datetime) -> int:
    """How many more may be begun while others are at their gates.

    A thousand that are begun at once all serve at the very end, and each tells meanwhile that it
    waits. So those that were begun are let through before more are; what is behind the gates is its
    provider's, however long that takes. And who says what it waits for, such as quota, or waits for
    ever, is waited for by nobody: the more of them there are, the more are begun.
    """
    gated = [instance for instance in slots.coming() if closed(instance)]
    waits = [now - (i.metadata.creation_timestamp or now) for i in gated if is_begun(i)]
    turns = sorted((wait for wait in waits if wait < _STUCK), reverse=True)
    slow = turns[_FEW] if len(turns) > _FEW else _PROMPT
    wave = _wave(len(slots.kept) - len(gated), slow)
    return max(wave, len(gated) - len(turns)) - len(turns)


def _wave(through: int, wait: timedelta) -> int:
    """How many may be at their gates at once, when so many are through and others wait so long.

    All cities share the services behind the gates, and that one waits there is all that a city
    learns of the others. So it begins with a few, with more as those get through, and with fewer
    the longer they wait.
    """
    late = max(1.0, wait / _PROMPT)
    return max(1, int(min(max(through, FIRST_WAVE), WAVE) / late**2))


def is_begun(instance: Instance) -> bool:
    """Whether an Instance is at its gates, and has told of no cause but that it waits its turn."""
    if instance.deleting or not closed(instance):
        return False
    ready = find(instance.status.conditions, ConditionType.READY)
    if ready and ready.status != "Unknown" and not has(ready.reason, Trait.IN_TURN):
        return False
    return all(_is_undecided(gate, instance) for gate in gates.TABLE.services)


def _is_undecided(gate: Gate, instance: Instance) -> bool:
    """Whether the service behind a gate has not answered yet."""
    condition = condition_of(gate, instance)
    return condition is None or condition.reason == gate.undecided


_POLICIES: Final[
    Mapping[
        str, Callable[[Slots, RolloutSettings, datetime], Iterator[CreateInstance | DeleteInstance]]
    ]
] = {
    "OrderedReady": _in_order,
    "Parallel": _together,
}


def _repairs(slots: Slots) -> Iterator[DeleteInstance]:
    """Replacements that take nothing from anybody, from the highest ordinal down."""
    for instance in slots.stale(ready=False):
        yield _delete(instance, "it is of another template and not Ready")


def _rolls(slots: Slots) -> Iterator[DeleteInstance]:
    """Replacements of Instances that serve, from the highest ordinal down."""
    for instance in slots.stale(ready=True):
        yield _delete(instance, "it is of another template")


def _trims(slots: Slots) -> Iterator[DeleteInstance]:
    """Removals of what is not wanted any more, from the highest ordinal down."""
    wanted = f"no more than {slots.desired} are wanted"
    why = "the deployment is being deleted" if slots.deployment.deleting else wanted
    for instance in reversed(slots.surplus):
        yield _delete(instance, why)


def _evictions(slots: Slots) -> Iterator[DeleteInstance]:
    """Removals of strays. They stand in nobody's way, so nothing waits for them."""
    why = f"its name is not one that {slots.deployment.metadata.name} gives"
    for instance in slots.strays:
        if not instance.deleting:
            yield _delete(instance, why)


def _back_fill(slots: Slots) -> Iterator[LabelInstance]:
    """Labels that Instances lack. Others find them by these, so they wait for nothing."""
    wanted = controller_labels(slots.deployment, 0)
    for ordinal, instance in slots.kept.items():
        known = instance.metadata.labels
        wanted[INSTANCE_INDEX] = str(ordinal)
        if not wanted.items() <= known.items():
            missing = {key: value for key, value in wanted.items() if known.get(key) != value}
            yield LabelInstance(instance.metadata.name, instance.metadata.uid, missing)


def _waits(slots: Slots) -> Iterator[WaitForInstance]:
    for instance in (*slots.strays, *slots.terminating):
        if instance.deleting:
            yield WaitForInstance(instance.metadata.name, "is terminating")
    for instance in slots.coming():
        yield WaitForInstance(instance.metadata.name, "is not Ready")


def _delete(instance: Instance, why: str) -> DeleteInstance:
    return DeleteInstance(instance.metadata.name, instance.metadata.uid, why)
