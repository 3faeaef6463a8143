"""The annotations of a Workload, and the cities that they can be about."""

from collections.abc import Mapping

from compute.api.compute import Workload
from compute.decide import json_annotations
from kubekit.api.meta import with_metadata


def cities_of(workload: Workload) -> tuple[str, ...]:
    """The cities of the spec, each once, in its order."""
    named = (city for placement in workload.spec.placements for city in placement.city_codes)
    return tuple(dict.fromkeys(named))


def noted(workload: Workload, changes: Mapping[str, str | None]) -> Workload:
    """The Workload with these annotations, and without those that are None."""
    merged = {**workload.metadata.annotations, **changes}
    return with_metadata(workload, annotations={k: v for k, v in merged.items() if v is not None})


def text_of(entries: Mapping[str, object]) -> str | None:
    """The entries as the value of an annotation; None if there are none."""
    return json_annotations.write(entries) if entries else None
