"""Single Instances that a user asks to replace."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from compute.api import annotations, names
from compute.api.compute import MOST_REPLICAS, Workload
from compute.decide import joins, json_annotations
from compute.decide.overrides import stamps
from compute.decide.overrides.annotated import noted, text_of


def replaced(workload: Workload, instance_names: Iterable[str], now: datetime) -> Workload:
    """The Workload with these Instances to be replaced.

    Entries of Instances that the spec cannot have any more are dropped, and such names are ignored:
    `can_be_replaced` shows which.
    """
    known = requests(workload)
    asked = {name: stamps.following(now, known.get(name, "")) for name in instance_names}
    kept = fitting(workload, known | asked)
    return noted(workload, {annotations.REPLACED_INSTANCES: text_of(kept)})


def can_be_replaced(workload: Workload, instance_name: str) -> bool:
    """Whether the spec can have an Instance of this name."""
    return bool(fitting(workload, {instance_name: ""}))


def fitting(workload: Workload, stamp_of: Mapping[str, str]) -> dict[str, str]:
    """The stamps of Instances that the spec can have."""
    most = _most_by_deployment(workload)
    return {name: stamp for name, stamp in stamp_of.items() if _fits(name, most)}


def requests(workload: Workload) -> dict[str, str]:
    """The stamp of each Instance that the user asked to replace."""
    return json_annotations.texts(workload.metadata.annotations, annotations.REPLACED_INSTANCES)


def by_deployment(workload: Workload) -> dict[str, str]:
    """The annotation of each deployment that has such Instances."""
    groups: dict[str, dict[str, str]] = {}
    for name, stamp in requests(workload).items():
        parts = names.instance_parts(name)
        if parts:
            groups.setdefault(parts[0], {})[name] = stamp
    return {name: json_annotations.write(group) for name, group in groups.items()}


def _most_by_deployment(workload: Workload) -> dict[str, int]:
    """How many Instances each deployment of the spec can have."""
    return {
        names.deployment(workload.metadata.name, placement, city): min(
            max(scale.min_replicas, scale.max_replicas or 0), MOST_REPLICAS
        )
        for (placement, city), scale in joins.expected(workload).items()
    }


def _fits(instance_name: str, most: Mapping[str, int]) -> bool:
    parts = names.instance_parts(instance_name)
    return parts is not None and parts[1] < most.get(parts[0], 0)
