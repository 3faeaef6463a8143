"""From a cell to the hub: a copy of every Instance, for the project to see.

The cell compares its Instances with the hub's copies and repairs the difference. It needs no
finalizer for that, so an unreachable hub never blocks the deletion of an Instance; the copy is
deleted when the hub is reachable again. The label `source-cluster` of a copy names the cell that
wrote it, so that each cell deletes only its own.

A copy is created only while the hub's deployment exists, so what was deleted on the hub never returns.
It has no owner there: it outlives the deployment until the machine has stopped, and the user sees that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.decide import joins
from compute.decide.deployment import replacements
from compute.decide.deployment.rollup import same
from compute.decide.federation.hub import ProjectNamespace
from compute.decide.writes import Create, Delete, Update, Write, change
from kubekit.api.meta import ObjectMeta


@dataclass(frozen=True, slots=True)
class Hub:
    """What one namespace of the hub holds, as far as this cell is concerned."""

    deployments: Sequence[WorkloadDeployment] = ()
    copies: Sequence[Instance] = ()


@dataclass(frozen=True, slots=True)
class Unlinked:
    """An Instance that cannot be copied, because labels that would link the copy are missing."""

    name: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WriteBack:
    """The writes that correct the copies, and the Instances that cannot be copied."""

    writes: tuple[Write[Instance], ...] = ()
    unlinked: tuple[Unlinked, ...] = ()


def hub_instance(instance: Instance, identity: ProjectNamespace, cell: str) -> Instance | Unlinked:
    """The hub's copy of a cell's Instance: only the labels that leave the cell, spec and status.

    Of the annotations it has the one that shows which request to replace the Instance was fulfilled.

    A label that is missing is never written as an empty string: a copy that is linked to nothing,
    or to a wrong object, is worse than none. The deployment controller restores the label.
    """
    known = instance.metadata.labels | {
        labels.UPSTREAM_CLUSTER: names.encode_cluster(identity.project),
        labels.UPSTREAM_NAMESPACE: identity.namespace,
    }
    missing = tuple(key for key in labels.WRITE_BACK if not known.get(key))
    if missing:
        return Unlinked(instance.metadata.name, missing)
    return Instance(
        metadata=ObjectMeta(
            name=instance.metadata.name,
            namespace=instance.metadata.namespace,
            labels={key: known[key] for key in labels.WRITE_BACK} | {labels.SOURCE_CLUSTER: cell},
            annotations=replacements.recorded(instance),
        ),
        spec=instance.spec,
        status=instance.status,
    )


def write_back(
    instances: Sequence[Instance], hub: Hub, identity: ProjectNamespace, cell: str
) -> WriteBack:
    """What makes the hub's copies of one namespace equal to this cell's Instances.

    Copies are deleted because the Instance is not listed, so the list must be a live one.
    """
    present = {d.metadata.name for d in hub.deployments if not d.deleting}
    copies = {_name(copy): copy for copy in hub.copies}
    writes: list[Write[Instance]] = []
    unlinked: list[Unlinked] = []
    for instance in sorted(instances, key=_name):
        deployment = joins.deployment_name(instance)
        existing = copies.get(_name(instance))
        if existing is None and deployment not in present:
            continue
        if not _may_write(existing, cell):
            continue
        desired = hub_instance(instance, identity, cell)
        if isinstance(desired, Unlinked):
            unlinked.append(desired)
        else:
            writes += _due(existing, desired)
    return WriteBack((*writes, *_withdrawn(instances, hub, cell)), tuple(unlinked))


def _due(existing: Instance | None, desired: Instance) -> list[Create[Instance] | Update[Instance]]:
    if existing is None:
        return [Create(desired)]
    if existing.deleting:
        return []
    update = change(existing, _merged(existing, desired))
    return [update] if update else []


def _may_write(existing: Instance | None, cell: str) -> bool:
    """Whether the copy is this cell's to write: it is new, its own, or of no cell.

    Management assigns the copies of a deployment that moved here; see `moves`.
    """
    writer = existing.metadata.labels.get(labels.SOURCE_CLUSTER) if existing else None
    return writer in (None, cell)


def _merged(existing: Instance, desired: Instance) -> Instance:
    """The copy as it should be. An earlier release let the hub's deployment own it."""
    kind = WorkloadDeployment.RESOURCE.kind
    others = tuple(r for r in existing.metadata.owner_references if r.kind != kind)
    metadata = msgspec.structs.replace(
        existing.metadata,
        labels=existing.metadata.labels | desired.metadata.labels,
        annotations=replacements.copied(existing, desired),
        owner_references=others,
    )
    status = existing.status if same(existing.status, desired.status) else desired.status
    return msgspec.structs.replace(existing, metadata=metadata, spec=desired.spec, status=status)


def _withdrawn(instances: Sequence[Instance], hub: Hub, cell: str) -> list[Delete[Instance]]:
    """The copies of this cell that have no Instance."""
    present = set(map(_name, instances))
    return [
        Delete(copy)
        for copy in sorted(hub.copies, key=_name)
        if copy.metadata.labels.get(labels.SOURCE_CLUSTER) == cell
        and not copy.deleting
        and _name(copy) not in present
    ]


def _name(instance: Instance) -> str:
    return instance.metadata.name
