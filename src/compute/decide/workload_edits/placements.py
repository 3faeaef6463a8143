"""Cities, number and order of the Instances of one placement."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from compute.api.compute import (
    MOST_REPLICAS,
    Metric,
    MetricTarget,
    Placement,
    ResourceMetric,
    ScaleSettings,
)
from compute.decide.validation.grammar import nearest
from compute.decide.validation.placements import LEAST_REPLICAS, METRICS, POLICIES
from compute.decide.workload_edits.deploy_flags import DeployFlags, FlagError

DEFAULT_PLACEMENT: Final = "default"
_CPU: Final = METRICS[0]


def with_placement(placements: Sequence[Placement], flags: DeployFlags) -> tuple[Placement, ...]:
    """The placements with the one that the flags are about changed, or added."""
    if not flags.edits_placement:
        if flags.placement:
            raise FlagError("--placement", "give what to change there, such as --city or --min")
        return tuple(placements)
    position = _position(placements, flags)
    if position is None:
        return (*placements, new_placement(flags))
    changed = _edited(placements[position], flags)
    return (*placements[:position], changed, *placements[position + 1 :])


def new_placement(flags: DeployFlags) -> Placement:
    """The placement that the flags describe, with one Instance in each city by default."""
    if flags.cities is None:
        raise FlagError("--city", "say where it has to run, such as --city DFW,LHR")
    scale = ScaleSettings(min_replicas=LEAST_REPLICAS)
    name = flags.placement or DEFAULT_PLACEMENT
    return _edited(Placement(name=name, city_codes=(), scale_settings=scale), flags)


def _position(placements: Sequence[Placement], flags: DeployFlags) -> int | None:
    """The placement that is meant; None for a new one, which must have cities."""
    by_name = {placement.name: i for i, placement in enumerate(placements)}
    known = ", ".join(by_name)
    if not flags.placement:
        if len(placements) == 1:
            return 0
        problem = f"the workload has the placements {known}; say which one with --placement"
        raise FlagError(_first_flag(flags), problem)
    if flags.placement not in by_name and flags.cities is None:
        problem = f'there is no "{flags.placement}"; there are: {known}; a new one needs --city'
        raise FlagError("--placement", problem)
    return by_name.get(flags.placement)


def _first_flag(flags: DeployFlags) -> str:
    given = (
        ("--city", flags.cities),
        ("--min", flags.minimum),
        ("--max", flags.maximum),
        ("--cpu-percent", flags.cpu_percent),
    )
    return next((flag for flag, value in given if value is not None), "--strategy")


def _edited(placement: Placement, flags: DeployFlags) -> Placement:
    cities = placement.city_codes if flags.cities is None else flags.cities
    # Another order of the same cities is no change that the user asked for.
    if set(cities) == set(placement.city_codes):
        cities = placement.city_codes
    scale = scaled(placement.scale_settings, flags)
    if flags.strategy is not None:
        scale = replace(scale, instance_management_policy=_policy(flags.strategy))
    return replace(placement, city_codes=tuple(cities), scale_settings=scale)


def _policy(text: str) -> str:
    by_case = {policy.casefold(): policy for policy in POLICIES}
    if text.casefold() in by_case:
        return by_case[text.casefold()]
    near = nearest(text, POLICIES)
    hint = f"; did you mean {near}?" if near else ""
    raise FlagError("--strategy", f'"{text}" is neither {" nor ".join(POLICIES)}{hint}')


def scaled(scale: ScaleSettings, flags: DeployFlags) -> ScaleSettings:
    """The scale with what the flags name. The bounds are those of admission."""
    minimum = scale.min_replicas if flags.minimum is None else flags.minimum
    if not LEAST_REPLICAS <= minimum <= MOST_REPLICAS:
        raise FlagError("--min", f"{minimum} is not from {LEAST_REPLICAS} to {MOST_REPLICAS}")
    scale = replace(scale, min_replicas=minimum)
    if 0 in {flags.maximum, flags.cpu_percent}:
        return _without_load(scale, flags)
    if flags.maximum is not None or flags.cpu_percent is not None:
        scale = _by_load(scale, flags)
    most = scale.max_replicas
    if most is not None and most < minimum:
        flag = "--min" if flags.maximum is None else "--max"
        problem = f"the maximum, {most}, is less than the minimum, {minimum}; give both"
        raise FlagError(flag, problem)
    return scale


def _without_load(scale: ScaleSettings, flags: DeployFlags) -> ScaleSettings:
    """The scale without scaling by load."""
    if flags.maximum:
        raise FlagError("--max", "--cpu-percent 0 turns scaling by load off; leave out --max")
    if flags.cpu_percent:
        raise FlagError("--cpu-percent", "--max 0 turns scaling by load off; leave it out")
    return replace(scale, max_replicas=None, metrics=())


def _by_load(scale: ScaleSettings, flags: DeployFlags) -> ScaleSettings:
    most = scale.max_replicas if flags.maximum is None else flags.maximum
    metrics = scale.metrics
    if flags.cpu_percent is not None:
        if flags.cpu_percent < 0:
            raise FlagError("--cpu-percent", f"{flags.cpu_percent} is no share; give 1 or more")
        others = (m for m in metrics if m.resource is None or m.resource.name != _CPU)
        target = MetricTarget(average_utilization=flags.cpu_percent)
        metrics = (Metric(resource=ResourceMetric(name=_CPU, target=target)), *others)
    if most is None:
        raise FlagError("--cpu-percent", "give --max too: the most instances in each city")
    if not metrics:
        raise FlagError("--max", "give --cpu-percent too: the load to scale by")
    return replace(scale, max_replicas=most, metrics=metrics)
