"""The rules of a Workload beyond its schema."""

from collections.abc import Callable, Collection, Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from compute.api.compute import Placement, ScaleSettings, Workload
from compute.api.instance_spec import InstanceSpec, Sandbox
from compute.decide.validation.cities import Choice, corrected_cities
from compute.decide.validation.metadata import check_name, check_settings
from compute.decide.validation.overrides import (
    check_overrides,
    override_warnings,
    pins_to_authorize,
)
from compute.decide.validation.placements import check_placements, placement_warnings
from compute.decide.validation.review import NetworkUse, Review
from compute.decide.validation.template import check_template, template_warnings
from kubekit.api.fields import Path
from kubekit.api.meta import with_spec

MOST_ERRORS: Final = 100
_METADATA: Final = Path("metadata")
_TEMPLATE: Final = Path("spec.template")
_PLACEMENTS: Final = Path("spec.placements")
_DEFAULT_POLICY: Final = "OrderedReady"


def validate(workload: Workload, *, cities: Collection[str], old: Workload | None = None) -> Review:
    """All errors and warnings of a Workload, in the order of its fields.

    ``cities`` are those the project is offered. With ``old`` it is an update, for which the same rules
    hold, even if the old Workload violates them. There are four exceptions, because a refusal could
    not be resolved:

    - An unchanged spec: it may be older than a rule, and controllers must still be able to add and
      remove their finalizers.
    - A name cannot be changed, so only that of a new Workload is validated.
    - A city that the placement of the same name had before is kept, with a warning, after the
      project is no longer offered it: other edits must remain possible.
    - A Workload that is being deleted is never refused: its finalizers must be removed. The
      deletion time of the old Workload counts, since only the server can have set it.

    The errors stop at a hundred, so that no document can keep the validation busy for long.
    """
    if old is not None and old.deleting:
        return Review()
    choice_of = _choices(cities, old)
    spec = workload.spec
    unchanged = old is not None and old.spec == spec
    errors = chain(
        check_name(_METADATA, workload.metadata) if old is None else (),
        check_settings(_METADATA, workload.metadata),
        check_overrides(_METADATA, workload.metadata, old.metadata if old else None),
        () if unchanged else check_template(_TEMPLATE, spec.template),
        () if unchanged else check_placements(_PLACEMENTS, spec.placements, choice_of),
    )
    warnings = chain(
        override_warnings(_METADATA, workload),
        template_warnings(_TEMPLATE, spec.template),
        placement_warnings(_PLACEMENTS, spec.placements, choice_of),
    )
    return Review(
        errors=tuple(islice(errors, MOST_ERRORS)),
        warnings=tuple(islice(warnings, MOST_ERRORS)),
        networks=tuple(_networks(workload, old if unchanged else None)),
    )


def with_defaults(workload: Workload) -> Workload:
    """The Workload as it is stored: an empty policy becomes the default one.

    The schema defaults an absent policy, but some clients send an empty string for an unset
    field. Nothing else is defaulted: a stored default would look like the user's choice, and a
    default in a template would roll every Instance on the day it changes.
    """
    placements = tuple(map(_with_policy, workload.spec.placements))
    if placements == workload.spec.placements:
        return workload
    return with_spec(workload, placements=placements)


class Default(NamedTuple):
    """A field that a Workload leaves to the server, and its value."""

    path: tuple[str, ...]
    """The tokens of a JSON pointer to the field."""
    value: str


def defaults(workload: Workload) -> tuple[Default, ...]:
    """What `with_defaults` fills in, field by field, in the order of the spec."""
    pairs = zip(workload.spec.placements, with_defaults(workload).spec.placements, strict=True)
    return tuple(
        Default(
            ("spec", "placements", str(position), "scaleSettings", "instanceManagementPolicy"),
            full.scale_settings.instance_management_policy,
        )
        for position, (given, full) in enumerate(pairs)
        if given != full
    )


def _with_policy(placement: Placement) -> Placement:
    scale: ScaleSettings = placement.scale_settings
    if scale.instance_management_policy:
        return placement
    filled = replace(scale, instance_management_policy=_DEFAULT_POLICY)
    return replace(placement, scale_settings=filled)


def _choices(cities: Collection[str], old: Workload | None) -> Callable[[str], Choice]:
    offered = frozenset(cities)
    kept = {p.name: frozenset(p.city_codes) for p in old.spec.placements} if old else {}
    return lambda placement: Choice(offered, kept.get(placement, frozenset()))


def _networks(workload: Workload, same_spec: Workload | None) -> Iterator[NetworkUse]:
    """The networks to authorize, each once.

    Any change of the spec requires all of them again: a user who changes the image of a Workload
    sends traffic through its networks. Where the spec is that of ``same_spec``, only a changed pin of
    a city requires those of its template: controllers change metadata, and have no access to networks.
    """
    own = [] if same_spec else [(_TEMPLATE, workload.spec.template)]
    seen: set[tuple[str, str]] = set()
    for path, template in (*own, *pins_to_authorize(_METADATA, workload, same_spec)):
        interfaces = path.child("spec", "networkInterfaces")
        for position, interface in enumerate(template.spec.network_interfaces):
            namespace = interface.network.namespace or workload.metadata.namespace
            if (namespace, interface.network.name) not in seen:
                field = interfaces.at(position).child("network")
                yield NetworkUse(namespace, interface.network.name, field)
            seen.add((namespace, interface.network.name))


def corrected(workload: Workload, cities: Collection[str]) -> Workload:
    """The Workload with refused fields removed, or replaced by the probable intention.

    Only the fields that decide on its quota: sizes beside the instance type, and cities.
    """
    spec, choice = workload.spec, Choice(frozenset(cities))
    template = replace(spec.template, spec=_sized_by_type(spec.template.spec))
    placements = tuple(_placed(placement, choice) for placement in spec.placements)
    return with_spec(workload, template=template, placements=placements)


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
