"""Where a Workload runs, how many Instances a placement asks for, and in what order."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from compute.api.compute import MOST_REPLICAS, Metric, MetricTarget, Placement, ScaleSettings
from compute.decide.validation.cities import Choice, check_cities, city_warnings
from compute.decide.validation.grammar import Taken, check_label
from kubekit.api.fields import FieldError, Path, forbidden, invalid, not_supported, required
from kubekit.api.quantity import ZERO, Quantity, QuantityError

# The cities that a placement may choose, by the name of the placement.
ChoiceOf = Callable[[str], Choice]

LEAST_REPLICAS: Final = 1
POLICIES: Final = ("OrderedReady", "Parallel")
METRICS: Final = ("cpu",)
_TARGETS: Final = "averageUtilization, averageValue or value"


def check_placements(
    path: Path, placements: Sequence[Placement], choice_of: ChoiceOf
) -> Iterator[FieldError]:
    if not placements:
        yield required(path, "name at least one placement")
    names = Taken()
    for position, placement in enumerate(placements):
        at = path.at(position)
        yield from check_label(at.child("name"), placement.name)
        yield from names.check(at.child("name"), placement.name)
        yield from check_cities(
            at.child("cityCodes"), placement.city_codes, choice_of(placement.name)
        )
        yield from check_scale(at.child("scaleSettings"), placement.scale_settings)


def placement_warnings(
    path: Path, placements: Sequence[Placement], choice_of: ChoiceOf
) -> Iterator[str]:
    for position, placement in enumerate(placements):
        at = path.at(position)
        yield from city_warnings(
            at.child("cityCodes"), placement.city_codes, choice_of(placement.name)
        )
        yield from scale_warnings(at.child("scaleSettings"), placement.scale_settings)


def check_scale(path: Path, scale: ScaleSettings) -> Iterator[FieldError]:
    yield from _check_replicas(path, scale)
    if scale.instance_management_policy not in POLICIES:
        yield not_supported(
            path.child("instanceManagementPolicy"), scale.instance_management_policy, POLICIES
        )
    if scale.max_replicas is not None:
        yield from _check_metrics(path.child("metrics"), scale.metrics)


def scale_warnings(path: Path, scale: ScaleSettings) -> Iterator[str]:
    if scale.metrics and scale.max_replicas is None:
        yield f"{path.child('metrics')}: without maxReplicas these are ignored"


def _check_replicas(path: Path, scale: ScaleSettings) -> Iterator[FieldError]:
    least, most = scale.min_replicas, scale.max_replicas
    if not LEAST_REPLICAS <= least <= MOST_REPLICAS:
        yield invalid(
            path.child("minReplicas"), least, f"must be from {LEAST_REPLICAS} to {MOST_REPLICAS}"
        )
    if most is not None and most < least:
        yield invalid(
            path.child("maxReplicas"), most, f"must not be less than minReplicas, which is {least}"
        )


def _check_metrics(path: Path, metrics: tuple[Metric, ...]) -> Iterator[FieldError]:
    if not metrics:
        yield required(
            path, "maxReplicas needs a metric to scale by; add one or remove maxReplicas"
        )
    for position, metric in enumerate(metrics):
        at = path.at(position).child("resource")
        if metric.resource is None:
            yield required(at, "name the resource to scale by")
            continue
        if metric.resource.name not in METRICS:
            yield not_supported(at.child("name"), metric.resource.name, METRICS)
        yield from _check_target(at.child("target"), metric.resource.target)


def _check_target(path: Path, target: MetricTarget) -> Iterator[FieldError]:
    named = (("averageValue", target.average_value), ("value", target.value))
    amounts = {name: amount for name, amount in named if amount is not None}
    targets = len(amounts) + (target.average_utilization is not None)
    if targets == 0:
        yield required(path, f"set one of {_TARGETS}")
    if targets > 1:
        yield forbidden(path, f"set only one of {_TARGETS}")
    if target.average_utilization is not None and target.average_utilization < 1:
        yield invalid(
            path.child("averageUtilization"), target.average_utilization, "must be at least 1"
        )
    for name, amount in amounts.items():
        yield from _check_amount(path.child(name), amount)


def _check_amount(path: Path, amount: int | str) -> Iterator[FieldError]:
    try:
        positive = Quantity.parse(amount) > ZERO
    except QuantityError:
        yield invalid(path, amount, "must be a quantity such as 500m or 2")
    else:
        if not positive:
            yield invalid(path, amount, "must be more than 0")
