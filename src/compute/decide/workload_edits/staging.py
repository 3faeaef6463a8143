"""A deploy in stages: the change reaches some cities, and the same write pauses the others.

A pause holds back the template of cities that run an earlier one. Where nothing runs yet, there is
nothing to hold back: an Instance there starts from the new template at once. So a new Workload, and a
deployment that is new in a later city, are refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from compute.api.compute import Workload
from compute.decide import joins
from compute.decide.overrides import CityTemplates, is_paused, paused
from compute.decide.overrides.annotated import cities_of
from compute.decide.validation.grammar import nearest
from compute.decide.workload_edits.deploy_flags import FlagError

PAUSE_AFTER: Final = "--pause-after"
CITY_ORDER: Final = "--city-order"


@dataclass(frozen=True, slots=True)
class StagingFlags:
    """How many cities a change reaches first. Cities without a position in the order come last."""

    pause_after: int
    city_order: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Staging:
    """A Workload to write, the cities that its change reaches, and those where it waits, in order.

    Both are empty if no template changes. Nothing waits if the change reaches all cities.
    """

    workload: Workload
    first: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


def staged(existing: Workload | None, wanted: Workload, flags: StagingFlags) -> Staging:
    """The wanted Workload, paused in all cities but the first."""
    if existing is None:
        name = wanted.metadata.name
        problem = f"{name} is new, so no city runs an earlier version to keep; leave it out"
        raise FlagError(PAUSE_AFTER, problem)
    cities = _in_order(wanted, flags.city_order)
    if not _changes_template(existing, wanted):
        return Staging(wanted)
    first, later = cities[: flags.pause_after], cities[flags.pause_after :]
    _refuse_paused(wanted, first)
    if not later:
        return Staging(wanted, first)
    _refuse_new(existing, wanted, later)
    return Staging(paused(wanted, later), first, later)


def _in_order(workload: Workload, order: Sequence[str]) -> tuple[str, ...]:
    """The cities of the Workload, those of the order first."""
    known = cities_of(workload)
    for city in order:
        if city not in known:
            near = nearest(city, known)
            hint = f"did you mean {near}? " if near else ""
            name = workload.metadata.name
            problem = f"{name} does not run in {city}: {hint}it runs in {', '.join(known)}"
            raise FlagError(CITY_ORDER, problem)
    return tuple(dict.fromkeys((*order, *known)))


def _changes_template(existing: Workload, wanted: Workload) -> bool:
    before, after = CityTemplates(existing), CityTemplates(wanted)
    return any(before.hash_of(city) != after.hash_of(city) for city in cities_of(existing))


def _refuse_paused(workload: Workload, first: Sequence[str]) -> None:
    """Refuse a first city that is paused: to resume it is not what the flags ask for."""
    held = [city for city in first if is_paused(workload, city)]
    if held:
        problem = (
            f"{workload.metadata.name} is paused in {', '.join(held)}, so the change would not get "
            f"there; resume it, or name other cities first with {CITY_ORDER}"
        )
        raise FlagError(PAUSE_AFTER, problem)


def _refuse_new(existing: Workload, wanted: Workload, later: Sequence[str]) -> None:
    new = joins.expected(wanted).keys() - joins.expected(existing).keys()
    started = [city for city in later if any(city == key[1] for key in new)]
    if started:
        problem = (
            f"new instances in {', '.join(started)} would start with the change, since no earlier "
            f"version runs there; name such a city first with {CITY_ORDER}, or add it in a deploy of "
            "its own"
        )
        raise FlagError(PAUSE_AFTER, problem)
