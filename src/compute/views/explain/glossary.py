"""Reasons and conditions as people look them up: what each means, who acts, and what to type next."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from compute.api.condition_uses import USES
from compute.api.conditions import ConditionType, KnownCondition, NeighbourCondition
from compute.api.reasons import KnownReason, NeighbourReason, Owner, Reason, Trait
from compute.views.view import View

OWNERS: Final[Mapping[Owner, str]] = MappingProxyType(
    {
        Owner.USER: "you, the author of the workload",
        Owner.PLATFORM: "the operators of the platform",
        Owner.TRANSIENT: "no one: it is normal, or it passes by itself",
    }
)

# What a trait means to a reader. The others matter to decisions only.
_TRAITS: Final[Mapping[Trait, str]] = MappingProxyType(
    {
        Trait.INTENDED: "It was asked for: nothing is wrong.",
        Trait.POINTER: "It only points to another condition, which has the cause.",
        Trait.TERMINAL: "Waiting does not help, so a rollout that meets it fails.",
    }
)
_PLATFORM: Final = "compute"
_NEIGHBOUR: Final = "a service that compute works with"


class ReasonView(View, frozen=True, kw_only=True):
    """A reason of conditions and events. ``conditions`` are those that may have it."""

    reason: str
    meaning: str
    owner: Owner
    acts: str  # the same in words
    next_step: str
    notes: tuple[str, ...]
    set_by: str
    conditions: tuple[str, ...]


class ConditionUseView(View, frozen=True, kw_only=True):
    """A type of condition on one kind of object, with the reasons that it may have."""

    on: str
    reasons: tuple[str, ...]


class ConditionTypeView(View, frozen=True, kw_only=True):
    """A type of condition: what it means when it is True, and the objects that have it."""

    condition: str
    meaning: str
    set_by: str
    objects: tuple[ConditionUseView, ...]


def reason_view(reason: KnownReason) -> ReasonView:
    """A reason, ours or a neighbour's."""
    return ReasonView(
        reason=str(reason),
        meaning=reason.meaning,
        owner=reason.owner,
        acts=OWNERS[reason.owner],
        next_step=reason.next_step,
        notes=tuple(_TRAITS[trait] for trait in _TRAITS if trait in reason.traits),
        set_by=_PLATFORM if isinstance(reason, Reason) else _NEIGHBOUR,
        conditions=tuple(f"{use.condition} ({use.on})" for use in USES if reason in use.reasons),
    )


def condition_view(condition: KnownCondition) -> ConditionTypeView:
    """A type of condition."""
    return ConditionTypeView(
        condition=str(condition),
        meaning=condition.meaning,
        set_by=condition.writer,
        objects=tuple(
            ConditionUseView(on=use.on, reasons=use.reasons)
            for use in USES
            if use.condition == condition
        ),
    )


def reason_named(word: str) -> ReasonView | None:
    """The reason of this name, in any letter case."""
    typed = word.casefold()
    known = next((each for each in (*Reason, *NeighbourReason) if each.casefold() == typed), None)
    return reason_view(known) if known else None


def condition_named(word: str) -> ConditionTypeView | None:
    """The type of condition of this name, in any letter case."""
    typed = word.casefold()
    known = next((each for each in _conditions() if each.casefold() == typed), None)
    return condition_view(known) if known else None


def reason_names() -> tuple[str, ...]:
    """Every reason, by name."""
    return tuple(sorted({str(each) for each in (*Reason, *NeighbourReason)}))


def condition_names() -> tuple[str, ...]:
    """Every type of condition, by name."""
    return tuple(sorted({str(each) for each in _conditions()}))


def _conditions() -> Iterable[KnownCondition]:
    return (*ConditionType, *NeighbourCondition)
