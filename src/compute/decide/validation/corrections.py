"""A Workload once the advice of its errors is followed, as far as that leaves no choice."""

from collections.abc import Collection

from msgspec.structs import replace

from compute.api.compute import Placement, Workload
from compute.api.instance_spec import InstanceSpec, Sandbox
from compute.decide.validation.cities import Choice, corrected_cities


def corrected(workload: Workload, cities: Collection[str]) -> Workload:
    """The Workload with what admission refuses removed, or replaced by what was probably meant.

    That is what decides on its quota: sizes beside the instance type, and cities.
    """
    spec, choice = workload.spec, Choice(frozenset(cities))
    template = replace(spec.template, spec=_sized_by_type(spec.template.spec))
    placements = tuple(_placed(placement, choice) for placement in spec.placements)
    return replace(workload, spec=replace(spec, template=template, placements=placements))


def _sized_by_type(spec: InstanceSpec) -> InstanceSpec:
    runtime = spec.runtime
    resources = replace(runtime.resources, requests={})
    sandbox = None if runtime.sandbox is None else _without_sizes(runtime.sandbox)
    return replace(spec, runtime=replace(runtime, resources=resources, sandbox=sandbox))


def _without_sizes(sandbox: Sandbox) -> Sandbox:
    containers = tuple(replace(container, resources=None) for container in sandbox.containers)
    return replace(sandbox, containers=containers)


def _placed(placement: Placement, choice: Choice) -> Placement:
    return replace(placement, city_codes=corrected_cities(placement.city_codes, choice))
