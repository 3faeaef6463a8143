"""What a change of a Workload does in each city, and the quota that it needs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from compute.api.compute import MOST_REPLICAS, ScaleSettings, Workload
from compute.decide import joins, quota
from compute.decide.overrides import CityTemplates, is_paused
from compute.decide.workload.preview import Need

_NOTHING: Final = Need()


class Effect(StrEnum):
    """What happens to the Instances of one placement in one city."""

    CREATE = "create"
    REPLACE = "replace"  # each by one of the new template
    SCALE = "scale"
    KEEP = "keep"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class CityEffect:
    """The effect of a change in one city."""

    placement: str
    city: str
    effect: Effect
    before: int  # Instances
    after: int
    need: Need  # quota of all Instances there after the change
    held: Need  # quota of all Instances there now
    paused: bool = False  # the change waits there until the rollout is resumed


def effects(existing: Workload | None, wanted: Workload) -> tuple[CityEffect, ...]:
    """The effect in each city, in the order of the spec; cities that are left come last."""
    return tuple(_effects(existing, wanted))


def total(needs: Iterable[Need]) -> Need:
    """All of this quota together."""
    return sum(needs, _NOTHING)


def _effects(existing: Workload | None, wanted: Workload) -> Iterator[CityEffect]:
    old = joins.expected(existing) if existing else {}
    new = joins.expected(wanted)
    before, after = CityTemplates(existing or wanted), CityTemplates(wanted)
    for key in (*new, *(left for left in old if left not in new)):
        placement, city = key
        had = _need(before, city, old.get(key)) if existing else _NOTHING
        has = _need(after, city, new.get(key))
        differs = before.hash_of(city) != after.hash_of(city)
        yield CityEffect(
            placement,
            city,
            _effect(had, has, is_old=key in old, is_new=key in new, differs=differs),
            had.instances,
            has.instances,
            has,
            had,
            is_paused(wanted, city),
        )


def _effect(had: Need, has: Need, *, is_old: bool, is_new: bool, differs: bool) -> Effect:
    if not is_old:
        return Effect.CREATE
    if not is_new:
        return Effect.REMOVE
    if differs:
        return Effect.REPLACE
    return Effect.KEEP if had.instances == has.instances else Effect.SCALE


def _need(templates: CityTemplates, city: str, scale: ScaleSettings | None) -> Need:
    if scale is None:
        return _NOTHING
    count = min(max(scale.min_replicas, 0), MOST_REPLICAS)
    size = quota.size(templates.of(city).spec)
    if size is None:
        return Need(count)
    return Need(count, count * size.millicores, count * size.mebibytes)
