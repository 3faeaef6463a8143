"""From a cell to the hub: a copy of every Instance, for the project to see.

The cell compares its Instances with the hub's copies and repairs the difference. It needs no
finalizer for that, so an unreachable hub never blocks the deletion of an Instance; the copy is
deleted when the hub is reachable again. The label `source-cluster` of a copy names the cell that
wrote it, so that each cell deletes only its own.

A copy is owned by the hub's deployment and created only while that exists. So what was deleted on
the hub never returns as an orphan.
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
from kubekit.api.meta import ObjectMeta, OwnerReference


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


def hub_instance(
    instance: Instance, owner: WorkloadDeployment, identity: ProjectNamespace, cell: str
) -> Instance | Unlinked:
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
            owner_references=(_controller(owner),),
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
    owners = {d.metadata.name: d for d in hub.deployments if not d.deleting}
    copies = {_name(copy): copy for copy in hub.copies}
    writes: list[Write[Instance]] = []
    unlinked: list[Unlinked] = []
    for instance in sorted(instances, key=_name):
        owner = owners.get(joins.deployment_name(instance))
        existing = copies.get(_name(instance))
        if owner is None or not _may_write(existing, cell):
            continue
        desired = hub_instance(instance, owner, identity, cell)
        if isinstance(desired, Unlinked):
            unlinked.append(desired)
        else:
            writes += _due(existing, desired, owner)
    return WriteBack((*writes, *_withdrawn(instances, hub, cell)), tuple(unlinked))


def _due(
    existing: Instance | None, desired: Instance, owner: WorkloadDeployment
) -> list[Create[Instance] | Update[Instance]]:
    if existing is None:
        return [Create(desired)]
    if existing.deleting or _is_controlled_by_another(existing, owner):
        return []
    update = change(existing, _merged(existing, desired, owner))
    return [update] if update else []


def _may_write(existing: Instance | None, cell: str) -> bool:
    """Whether the copy is this cell's to write: it is new, its own, or of no cell.

    Management assigns the copies of a deployment that moved here; see `moves`.
    """
    writer = existing.metadata.labels.get(labels.SOURCE_CLUSTER) if existing else None
    return writer in (None, cell)


def _is_controlled_by_another(copy: Instance, owner: WorkloadDeployment) -> bool:
    """Whether another object owns the copy.

    That may be an earlier deployment of the same name. Its copies are deleted with it and created again.
    """
    return any(
        ref.controller and ref.uid != owner.metadata.uid for ref in copy.metadata.owner_references
    )


def _merged(existing: Instance, desired: Instance, owner: WorkloadDeployment) -> Instance:
    others = [r for r in existing.metadata.owner_references if r.uid != owner.metadata.uid]
    metadata = msgspec.structs.replace(
        existing.metadata,
        labels=existing.metadata.labels | desired.metadata.labels,
        annotations=replacements.copied(existing, desired),
        owner_references=(*others, *desired.metadata.owner_references),
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


def _controller(owner: WorkloadDeployment) -> OwnerReference:
    """Ownership that does not block the owner's deletion: that needs rights cells do not have."""
    return owner.reference(controller=True)


def _name(instance: Instance) -> str:
    return instance.metadata.name
