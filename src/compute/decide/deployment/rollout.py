"""The next step towards Instances that match their deployment's template.

An Instance is never changed in place: what runs was fixed when it was started, so a new template
means delete and create again. A plan is one step. It follows from what exists, not from what was
done before, so a restart, a lost event or a second controller changes nothing.

Two rules hold under every policy. An Instance of another template that is not Ready is removed at
once: it serves no traffic and may never become Ready. A surplus Instance is removed whatever the
health of the rest.

An Instance that the user asked to replace is replaced by the same rules as one of another template,
and before those. A pause does not stop that: the user named the Instance, and its successor gets the
template that the deployment has.
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

# The largest admission window: Instances of one deployment that start at once, while gates open quickly.
LARGEST_WINDOW: Final = 32
# The first admission window, while it is unknown how quickly gates open.
FIRST_WINDOW: Final = 8
# How long gates usually take. The services behind them are often in another city.
_PROMPT: Final = timedelta(seconds=2)
# An Instance that is at its gates for longer is not delayed by the others.
_STUCK: Final = timedelta(seconds=20)
# Outliers that do not show how quickly the services behind the gates answer.
_FEW: Final = 4
_WINDOW_FULL: Final = "waits until those that started before it have passed their gates"
_PAUSED: Final = "the rollout is paused"


@dataclass(frozen=True, slots=True)
class CreateInstance:
    """Fill a slot from the deployment's template."""

    ordinal: int
    hold: str = ""  # what it waits for, as a message; empty when it is due


@dataclass(frozen=True, slots=True)
class DeleteInstance:
    """Remove exactly this Instance: a later one of the same name has another uid."""

    name: str
    uid: str
    why: str
    hold: str = ""  # what it waits for, as a message; empty when it is due


@dataclass(frozen=True, slots=True)
class LabelInstance:
    """Set these labels, leaving all others alone."""

    name: str
    uid: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WaitForInstance:
    """Nothing to do until this Instance has become Ready or is gone."""

    name: str
    why: str


Action = CreateInstance | DeleteInstance | LabelInstance | WaitForInstance


@dataclass(frozen=True, slots=True)
class RolloutPlan:
    """What to do in this reconcile pass, and what would follow it.

    ``later`` is never executed. It lets logs, status and tests show what the deployment will do,
    and what it waits for.
    """

    now: tuple[Action, ...] = ()
    later: tuple[CreateInstance | DeleteInstance, ...] = ()

    @property
    def waiting(self) -> list[CreateInstance]:
        """Instances that wait for the admission window."""
        return [s for s in self.later if isinstance(s, CreateInstance) and s.hold == _WINDOW_FULL]


@dataclass(frozen=True, slots=True)
class RolloutSettings:
    """A user's settings of a rollout.

    ``max_unavailable`` is a count or a share of the Instances, and at least 1, since no update could
    happen otherwise. OrderedReady always replaces one by one. A pause stops every replacement that
    follows from a template, also of Instances that are not Ready: it would start the template that is
    being held back. Scaling continues, an empty slot is filled from the present template, and an
    Instance that the user asked to replace is replaced.
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

    The settings default to the deployment's annotations. An unknown policy is treated as
    OrderedReady: to do nothing would look like a fault without a cause.
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
    """The settings in the deployment's annotations. An unreadable limit is taken as 1."""
    known = deployment.metadata.annotations
    return RolloutSettings(
        max_unavailable=_count_or_share(known.get(annotations.MAX_UNAVAILABLE, "1")),
        paused=known.get(annotations.PAUSED) == "true",
    )


def initial_gates(*, networking: bool) -> tuple[str, ...]:
    """The gates of a new Instance. The Network gate is set only where networks are managed."""
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

    An Instance that serves is replaced only while all others serve too, and nothing is removed
    while something is still terminating.
    """
    paused = _PAUSED if settings.paused else ""
    unready = [slots.name(ordinal) for ordinal in slots.unavailable]
    recovery = f"waits for {unready[0]} to become Ready" if unready else ""
    for ordinal in slots.missing:
        yield CreateInstance(ordinal, "" if slots.name(ordinal) == unready[0] else recovery)
    yield from _one_by_one(
        slots,
        *((step, "") for step in _requests(slots, ready=False)),
        *((step, paused) for step in _repairs(slots)),
        *((step, "") for step in _trims(slots)),
        *((step, recovery) for step in _requests(slots, ready=True)),
        *((step, paused or recovery) for step in _rolls(slots)),
    )


def _one_by_one(slots: Slots, *steps: tuple[DeleteInstance, str]) -> Iterator[DeleteInstance]:
    """The removals, each with what it waits for, so that at most one is in progress."""
    leaving = next((i.metadata.name for i in slots.terminating), "")
    for step, reason in steps:
        hold = reason or (f"waits for {leaving} to be gone" if leaving else "")
        if not hold:
            leaving = step.name
        yield replace(step, hold=hold)


def _together(
    slots: Slots, settings: RolloutSettings, now: datetime
) -> Iterator[CreateInstance | DeleteInstance]:
    """Parallel: as many at once as the admission window allows. Updates keep enough slots available."""
    paused = _PAUSED if settings.paused else ""
    most = max(1, int_or_string.scaled(settings.max_unavailable, slots.desired, round_up=False))
    limit = f"waits because no more than {most} may be unavailable at a time"
    spare = max(0, most - len(slots.unavailable))
    free = _free_window(slots, now)
    for rank, ordinal in enumerate(slots.missing):
        yield CreateInstance(ordinal, "" if rank < free else _WINDOW_FULL)
    yield from _requests(slots, ready=False)
    yield from (replace(step, hold=paused) for step in _repairs(slots))
    yield from _trims(slots)
    steps = (
        *((step, "") for step in _requests(slots, ready=True)),
        *((step, paused) for step in _rolls(slots)),
    )
    for rank, (step, hold) in enumerate(steps):
        yield replace(step, hold=hold or ("" if rank < spare else limit))


def _free_window(slots: Slots, now: datetime) -> int:
    """The free part of the admission window: how many more Instances may start now.

    If a thousand started at once, all would serve only at the very end, and each would report
    meanwhile that it waits. So Instances pass their gates before more are started. The time after
    the gates is up to the provider, and does not matter here. An Instance that reports a cause, such
    as quota, or that has waited for long, takes no part of the window.
    """
    gated = [instance for instance in slots.coming() if closed(instance)]
    waits = [now - (i.metadata.creation_timestamp or now) for i in gated if is_at_gates(i)]
    turns = sorted((wait for wait in waits if wait < _STUCK), reverse=True)
    slow = turns[_FEW] if len(turns) > _FEW else _PROMPT
    window = _window(len(slots.kept) - len(gated), slow)
    return max(window, len(gated) - len(turns)) - len(turns)


def _window(passed: int, wait: timedelta) -> int:
    """The size of the admission window, from how many passed their gates and how long others wait.

    All cities share the services behind the gates, and a city knows the load of the others only by
    how long its own Instances wait. So the window is small at first, grows as Instances pass, and shrinks the
    longer they wait.
    """
    late = max(1.0, wait / _PROMPT)
    return max(1, int(min(max(passed, FIRST_WINDOW), LARGEST_WINDOW) / late**2))


def is_at_gates(instance: Instance) -> bool:
    """Whether an Instance is at its gates and reports no other cause than waiting its turn."""
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


def _requests(slots: Slots, *, ready: bool) -> Iterator[DeleteInstance]:
    """Replacements that the user asked for, from the highest ordinal down."""
    for instance in slots.to_replace(ready=ready):
        yield _delete(instance, "the user asked to replace it")


def _repairs(slots: Slots) -> Iterator[DeleteInstance]:
    """Replacements of Instances that do not serve, from the highest ordinal down."""
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
    """Removals of strays. They hold no slot, so nothing waits for them."""
    why = f"its name is not one that {slots.deployment.metadata.name} gives"
    for instance in slots.strays:
        if not instance.deleting:
            yield _delete(instance, why)


def _back_fill(slots: Slots) -> Iterator[LabelInstance]:
    """Labels that Instances lack. Other controllers select by them, so they are set at once."""
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
