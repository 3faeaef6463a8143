"""Splitting a Workload: one WorkloadDeployment per placement and city, and nothing else.

The split compares what should exist with what does and names every deployment exactly once, so
that whoever acts on it cannot forget one. A city the project is not offered is part of the answer:
a user who asked for five cities and got four must be told which one is missing.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import msgspec

from compute.api import annotations, labels, names
from compute.api.compute import (
    ScaleSettings,
    Workload,
    WorkloadDeployment,
    WorkloadDeploymentSpec,
    WorkloadRef,
)
from compute.api.meta import ObjectMeta, OwnerReference
from compute.decide import joins
from compute.decide.writes import Update, change

# What a user sets on the Workload for its deployments to obey. Absence is copied too.
_HANDED_DOWN = (annotations.PAUSED, annotations.MAX_UNAVAILABLE)

Owners = tuple[OwnerReference, ...]


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A city that was asked for and is not offered to the project."""

    placement: str
    city: str


@dataclass(frozen=True, slots=True)
class Split:
    """What becomes of every deployment of a Workload, existing or wanted. Each list is by name."""

    create: tuple[WorkloadDeployment, ...] = ()
    update: tuple[Update[WorkloadDeployment], ...] = ()
    keep: tuple[WorkloadDeployment, ...] = ()
    delete: tuple[WorkloadDeployment, ...] = ()
    terminating: tuple[WorkloadDeployment, ...] = ()  # wanted or not, they must be gone first
    taken: tuple[WorkloadDeployment, ...] = ()  # another Workload's, under a name we want
    unmatched: tuple[Unmatched, ...] = ()  # in the order of the spec


def split(
    workload: Workload, deployments: Iterable[WorkloadDeployment], offered: Collection[str]
) -> Split:
    """The exact set of deployments to create, update, keep and delete.

    ``deployments`` are those of this Workload, and any other that stands under a wanted name.
    When no city is offered at all, deployments that the spec still wants are kept as they are: an
    empty list is far more often a neighbour that has not answered yet than a withdrawal of every
    city, and taking the second for the first would stop everything the project runs. A Workload
    that is being deleted wants none.
    """
    by_name = {d.metadata.name: d for d in deployments}
    mine = {n: d for n, d in by_name.items() if d.spec.workload_ref.uid == workload.metadata.uid}
    wanted = {
        d.metadata.name: d
        for d in _wanted(workload, by_name)
        if d.spec.city_code in offered or (not offered and d.metadata.name in mine)
    }
    present = {n: d for n, d in mine.items() if not d.deleting}
    shared = sorted(wanted.keys() & present.keys())
    changes = {n: change(present[n], _merged(present[n], wanted[n])) for n in shared}
    return Split(
        create=tuple(wanted[n] for n in sorted(wanted.keys() - by_name.keys())),
        update=tuple(update for update in changes.values() if update),
        keep=tuple(present[n] for n, update in changes.items() if update is None),
        delete=tuple(present[n] for n in sorted(present.keys() - wanted.keys())),
        terminating=tuple(mine[n] for n in sorted(mine.keys() - present.keys())),
        taken=tuple(by_name[n] for n in sorted(wanted.keys() & (by_name.keys() - mine.keys()))),
        unmatched=tuple(
            Unmatched(placement, city)
            for placement, city in joins.expected(workload)
            if city not in offered
        ),
    )


def withheld(split: Split) -> Split:
    """The split while a network that the template names is missing: nothing that needs it is begun.

    What runs keeps the template it has, since an Instance of the new one could not start. Numbers
    change and deployments go as ever.
    """
    changes = [(u, change(u.existing, _held_back(u.desired, u.existing))) for u in split.update]
    still = tuple(update.existing for update, left in changes if left is None)
    return replace(
        split,
        create=(),
        update=tuple(left for _, left in changes if left),
        keep=tuple(sorted((*split.keep, *still), key=lambda d: d.metadata.name)),
    )


def is_paused(workload: Workload) -> bool:
    """Whether template changes are held back. Scaling and healing go on."""
    return workload.metadata.annotations.get(annotations.PAUSED) == "true"


def _wanted(
    workload: Workload, existing: dict[str, WorkloadDeployment]
) -> Iterable[WorkloadDeployment]:
    for (placement, city), scale in joins.expected(workload).items():
        desired = _deployment(workload, placement, city, scale)
        current = existing.get(desired.metadata.name)
        yield _held_back(desired, current) if current and is_paused(workload) else desired


def _held_back(desired: WorkloadDeployment, current: WorkloadDeployment) -> WorkloadDeployment:
    """The deployment with the template it has: a pause stops templates, not numbers."""
    spec = msgspec.structs.replace(desired.spec, template=current.spec.template)
    return msgspec.structs.replace(desired, spec=spec)


def _merged(existing: WorkloadDeployment, desired: WorkloadDeployment) -> WorkloadDeployment:
    """The existing deployment with what we say of it, and all that others say of it.

    The federator's finalizer and note above all: without them a later removal would leave what runs
    in the cell behind. Without its owner it would outlive the Workload.
    """
    meta = existing.metadata
    others = {k: v for k, v in meta.annotations.items() if k not in _HANDED_DOWN}
    metadata = msgspec.structs.replace(
        meta,
        labels=meta.labels | desired.metadata.labels,
        annotations=others | desired.metadata.annotations,
        owner_references=_owned(meta.owner_references, desired.metadata.owner_references),
    )
    return msgspec.structs.replace(existing, metadata=metadata, spec=desired.spec)


def _owned(present: Owners, wanted: Owners) -> Owners:
    """The owners with the Workload among them; only one of them can be in control."""
    if all(owner in present for owner in wanted):
        return present
    ours = {owner.uid for owner in wanted}
    return (*(o for o in present if o.uid not in ours and not o.controller), *wanted)


def _deployment(
    workload: Workload, placement: str, city: str, scale: ScaleSettings
) -> WorkloadDeployment:
    meta = workload.metadata
    handed_down = {k: meta.annotations[k] for k in _HANDED_DOWN if k in meta.annotations}
    return WorkloadDeployment(
        metadata=ObjectMeta(
            name=names.deployment(meta.name, placement, city),
            namespace=meta.namespace,
            labels={labels.WORKLOAD_UID: meta.uid},
            annotations=handed_down,
            owner_references=(workload.reference(controller=True, block_owner_deletion=True),),
        ),
        spec=WorkloadDeploymentSpec(
            workload_ref=WorkloadRef(name=meta.name, uid=meta.uid),
            placement_name=placement,
            city_code=city,
            template=workload.spec.template,
            scale_settings=scale,
        ),
    )
