"""Other numbers of Instances: the Workload that `scale` writes.

A scale belongs to a placement, not to a city. So cities can be named only if they are all the cities
of the placements that are meant.
"""

from collections.abc import Collection
from dataclasses import dataclass

from msgspec.structs import replace

from compute.api.compute import Placement, ScaleSettings, Workload
from compute.decide.validation.grammar import nearest
from compute.decide.workload_edits.deploy_flags import DeployFlags, FlagError
from compute.decide.workload_edits.placements import scaled
from kubekit.api.meta import with_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleFlags:
    """What a scaling asks for. None means that a flag is not given."""

    minimum: int | None = None
    maximum: int | None = None  # 0 turns scaling by load off
    cpu_percent: int | None = None  # as `maximum`
    memory_percent: int | None = None
    placement: str = ""
    cities: tuple[str, ...] = ()


def rescaled(workload: Workload, flags: ScaleFlags) -> Workload:
    """The Workload with these numbers in the placements that are meant: all, or those named."""
    if flags.memory_percent:
        problem = "instances can be scaled by the load of their CPU only; use --cpu-percent"
        raise FlagError("--memory-percent", problem)
    asked = (flags.minimum, flags.maximum, flags.cpu_percent)
    if all(value is None for value in asked):
        raise FlagError("--min", "say how many instances to run in each city, such as --min 3")
    meant = _meant(workload.spec.placements, flags)
    placements = tuple(
        replace(p, scale_settings=_scaled(p, flags)) if p.name in meant else p
        for p in workload.spec.placements
    )
    return with_spec(workload, placements=placements)


def _scaled(placement: Placement, flags: ScaleFlags) -> ScaleSettings:
    asked = DeployFlags(minimum=flags.minimum, maximum=flags.maximum, cpu_percent=flags.cpu_percent)
    return scaled(placement.scale_settings, asked)


def _meant(placements: Collection[Placement], flags: ScaleFlags) -> frozenset[str]:
    """The names of the placements that are meant."""
    names = [placement.name for placement in placements]
    if flags.placement and flags.placement not in names:
        near = nearest(flags.placement, names)
        hint = f"did you mean {near}? " if near else ""
        problem = f'there is no placement "{flags.placement}": {hint}there are: {", ".join(names)}'
        raise FlagError("--placement", problem)
    chosen = [p for p in placements if flags.placement in {"", p.name}]
    if not flags.cities:
        return frozenset(placement.name for placement in chosen)
    touched = [p for p in chosen if set(p.city_codes) & set(flags.cities)]
    for placement in touched:
        if not set(placement.city_codes) <= set(flags.cities):
            raise FlagError("--city", _shared(placement, flags))
    reached = {city for placement in touched for city in placement.city_codes}
    for city in flags.cities:
        if city not in reached:
            where = f"placement {flags.placement}" if flags.placement else "the workload"
            raise FlagError("--city", f"{where} does not run in {city}")
    return frozenset(placement.name for placement in touched)


def _shared(placement: Placement, flags: ScaleFlags) -> str:
    """Why these cities cannot be scaled alone, and how they could be."""
    others = [city for city in placement.city_codes if city not in flags.cities]
    alone = [city for city in placement.city_codes if city in flags.cities]
    return (
        f"placement {placement.name} has one scale for all its cities, "
        f"{', '.join(placement.city_codes)}; leave out --city, or first give {', '.join(alone)} "
        f"a placement of its own, which replaces the instances there: deploy with "
        f"--placement {placement.name} --city {','.join(others)}, then with "
        f"--placement OTHER --city {','.join(alone)}"
    )
