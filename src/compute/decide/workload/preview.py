"""A preview of the objects that a manifest would create.

It uses the rules of admission, the split of the workload controller and the sizes of the quota gate:
which deployments in which cities, their Instances in the order in which they start, the quota that
they need, and all errors.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from compute.api import names
from compute.api.compute import MOST_REPLICAS, Workload, WorkloadDeployment
from compute.decide import joins, quota, validation
from compute.decide.workload import placement
from compute.decide.workload.placement import Unmatched
from kubekit.api import scheme
from kubekit.api.fields import FieldError
from kubekit.api.meta import EPOCH

_PLACEMENTS: Final = "spec.placements"


@dataclass(frozen=True, slots=True)
class Need:
    """Quota that would be claimed. Where the size is not known, the instances alone count."""

    instances: int = 0
    millicores: int = 0
    mebibytes: int = 0

    def __add__(self, other: "Need") -> "Need":
        return Need(
            self.instances + other.instances,
            self.millicores + other.millicores,
            self.mebibytes + other.mebibytes,
        )


@dataclass(frozen=True, slots=True)
class Planned:
    """One deployment that would be created."""

    placement: str
    city: str
    deployment: str
    policy: str
    need: Need

    @property
    def instances(self) -> tuple[str, ...]:
        """The names of its Instances, in the order in which they start."""
        return tuple(names.instance(self.deployment, n) for n in range(self.need.instances))


@dataclass(frozen=True, slots=True)
class Preview:
    """Everything that one Workload manifest would create."""

    workload: str
    namespace: str
    deployments: tuple[Planned, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()
    errors: tuple[FieldError, ...] = ()
    is_least: bool = False  # the need may be higher, since the placements have errors
    warnings: tuple[str, ...] = ()

    @property
    def need(self) -> Need:
        """The quota of all deployments together."""
        return sum((d.need for d in self.deployments), Need())


def preview(document: Mapping[str, object], cities: Collection[str] | None = None) -> Preview:
    """What this manifest would create in a project that is offered ``cities``.

    Without ``cities``, the cities of the manifest count as offered. For an invalid but readable
    manifest the preview is of the manifest after the suggested corrections: it has the quota that is
    needed then, and not that of sizes or cities which admission refuses.
    """
    workload = _read(document)
    offered = cities_named(document) if cities is None else cities
    review = validation.review_document(document, cities=offered)
    name, namespace = _identity(document)
    result = Preview(name, namespace, errors=review.errors, warnings=review.warnings)
    if workload is None:
        return result
    corrected = validation.corrected(workload, offered)
    errors = validation.validate(corrected, cities=offered).errors
    return replace(
        result,
        deployments=tuple(_planned(corrected, _split(corrected, offered))),
        unmatched=_split(workload, offered).unmatched,
        is_least=any(error.path.startswith(_PLACEMENTS) for error in errors),
    )


def cities_named(document: Mapping[str, object]) -> list[str]:
    """The cities that a manifest names; none where it cannot be read."""
    workload = _read(document)
    return [city for _, city in joins.expected(workload)] if workload else []


def _read(document: Mapping[str, object]) -> Workload | None:
    try:
        return validation.with_defaults(scheme.decode_as(Workload, document))
    except scheme.DecodeError:
        return None  # the review has the errors, field by field


def _split(workload: Workload, offered: Collection[str]) -> placement.Split:
    return placement.split(workload, (), offered, EPOCH)


def _identity(document: Mapping[str, object]) -> tuple[str, str]:
    metadata = document.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    return str(known.get("name") or ""), str(known.get("namespace") or "default")


def _planned(workload: Workload, split: placement.Split) -> Iterator[Planned]:
    """The deployments in the order of the spec, which its author knows."""
    created = {joins.placement_city(d): d for d in split.create}
    return (_preview(created[key]) for key in joins.expected(workload) if key in created)


def _preview(deployment: WorkloadDeployment) -> Planned:
    spec = deployment.spec
    replicas = spec.scale_settings.min_replicas
    # A number out of bounds is refused, so nothing is created.
    count = replicas if 0 < replicas <= MOST_REPLICAS else 0
    size = quota.size(spec.template.spec)
    return Planned(
        placement=spec.placement_name,
        city=spec.city_code,
        deployment=deployment.metadata.name,
        policy=spec.scale_settings.instance_management_policy,
        need=Need(
            count,
            count * size.millicores if size else 0,
            count * size.mebibytes if size else 0,
        ),
    )
