"""Cities whose template changes are held back: all of a Workload's, or those that are named."""

from collections.abc import Collection, Iterable

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide.overrides.annotated import cities_of, noted


def is_wholly_paused(workload: Workload) -> bool:
    """Whether the Workload is paused as a whole, cities that are added later included."""
    return workload.metadata.annotations.get(annotations.PAUSED) == "true"


def is_paused(workload: Workload, city: str) -> bool:
    """Whether template changes are held back in a city. Scaling and healing continue."""
    return is_wholly_paused(workload) or city in named(workload)


def named(workload: Workload) -> tuple[str, ...]:
    """The cities in the annotation, whether or not the spec has them, each once."""
    written = workload.metadata.annotations.get(annotations.PAUSED_CITIES, "")
    return tuple(dict.fromkeys(filter(None, map(str.strip, written.split(",")))))


def paused_cities(workload: Workload) -> tuple[str, ...]:
    """The cities of the spec in which template changes are held back, in its order."""
    if is_wholly_paused(workload):
        return cities_of(workload)
    chosen = frozenset(named(workload))
    return tuple(city for city in cities_of(workload) if city in chosen)


def paused(workload: Workload, cities: Collection[str] = ()) -> Workload:
    """The Workload with these cities paused besides; as a whole if none is named."""
    if is_wholly_paused(workload):
        return workload
    if cities:
        return _noted(workload, (*paused_cities(workload), *cities))
    return noted(workload, {annotations.PAUSED: "true", annotations.PAUSED_CITIES: None})


def resumed(workload: Workload, cities: Collection[str] = ()) -> Workload:
    """The Workload with these cities not paused any more; none of them if none is named.

    If it was paused as a whole, its other cities stay paused, each by name.
    """
    still = (city for city in paused_cities(workload) if city not in cities)
    return _noted(workload, still if cities else ())


def _noted(workload: Workload, cities: Iterable[str]) -> Workload:
    chosen = frozenset(cities)
    text = ",".join(city for city in cities_of(workload) if city in chosen)
    return noted(workload, {annotations.PAUSED: None, annotations.PAUSED_CITIES: text or None})
