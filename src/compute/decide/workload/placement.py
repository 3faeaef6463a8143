"""Splitting a Workload: one WorkloadDeployment per placement and city, and nothing else.

The split compares the wanted deployments with the existing ones and contains each exactly once, so
that its caller cannot overlook one. A city that the project is not offered is part of the result: a
user who named five cities and got four must learn which one is missing.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import msgspec

from compute.api import annotations, labels, names
from compute.api.compute import (
    ScaleSettings,
    Workload,
    WorkloadDeployment,
    WorkloadDeploymentSpec,
    WorkloadRef,
)
from compute.api.instance_spec import InstanceTemplate
from compute.decide import joins
from compute.decide.deployment import drains, handover
from compute.decide.deployment.drains import Grace
from compute.decide.networking import network_use
from compute.decide.networking.network_use import Lack
from compute.decide.overrides import CityTemplates, paused_cities, replaced_instances
from compute.decide.writes import Update, change
from kubekit.api.meta import ObjectMeta, OwnerReference, with_metadata, with_spec

# Annotations that a user sets on the Workload for its deployments. Absence is copied too.
_INHERITED: Final[tuple[str, ...]] = (annotations.PAUSED, annotations.MAX_UNAVAILABLE)
_OURS: Final[tuple[str, ...]] = (*_INHERITED, annotations.REPLACED_INSTANCES, annotations.DRAIN)

Owners = tuple[OwnerReference, ...]


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A city that the spec names and that is not offered to the project."""

    placement: str
    city: str


@dataclass(frozen=True, slots=True)
class Split:
    """The action for every deployment of a Workload, existing or wanted. Each list is by name."""

    create: tuple[WorkloadDeployment, ...] = ()
    update: tuple[Update[WorkloadDeployment], ...] = ()
    keep: tuple[WorkloadDeployment, ...] = ()
    delete: tuple[WorkloadDeployment, ...] = ()
    terminating: tuple[WorkloadDeployment, ...] = ()  # wanted or not, they must be deleted first
    taken: tuple[WorkloadDeployment, ...] = ()  # another Workload's, under a name we want
    unmatched: tuple[Unmatched, ...] = ()  # in the order of the spec; withdrawn cities aside
    withheld: tuple[WorkloadDeployment, ...] = ()  # not created while a network is missing


def split(
    workload: Workload,
    deployments: Iterable[WorkloadDeployment],
    offered: Collection[str],
    now: datetime,
    grace: Grace = drains.DEFAULT_GRACE,
) -> Split:
    """The exact set of deployments to create, update, keep and delete.

    ``deployments`` are those of this Workload, and any other with a wanted name.

    A city that is withdrawn while a deployment runs there is drained after a grace period. Until then
    the deployment is updated like any other: it serves, so it serves the present spec. If no city is
    offered at all, nothing is withdrawn: an empty list far more often means that a service has not
    answered yet than that every city was withdrawn.

    A deployment that the spec no longer names keeps running until its replacement serves, by the
    rules of `handover`. A Workload that is being deleted wants no deployment.
    """
    by_name = {d.metadata.name: d for d in deployments}
    mine = {n: d for n, d in by_name.items() if d.spec.workload_ref.uid == workload.metadata.uid}
    present = {n: d for n, d in mine.items() if not d.deleting}
    named = {d.metadata.name: d for d in _wanted(workload, by_name)}
    wanted = {
        name: placed
        for name, desired in named.items()
        if (placed := _placed(desired, present.get(name), offered, now, grace))
    }
    leaving = [present[n] for n in sorted(present.keys() - named.keys())]
    merged = {n: _merged(present[n], wanted[n]) for n in wanted.keys() & present.keys()}
    stay = merged | handover.retained(leaving, wanted.keys(), present, now, grace)
    changes = {n: change(present[n], stay[n]) for n in sorted(stay)}
    unplaced = [key for key in joins.expected(workload) if key[1] not in offered]
    drained = {joins.placement_city(d) for d in wanted.values() if drains.of(d)}
    return Split(
        create=tuple(wanted[n] for n in sorted(wanted.keys() - by_name.keys())),
        update=tuple(update for update in changes.values() if update),
        keep=tuple(present[n] for n, update in changes.items() if update is None),
        delete=tuple(present[n] for n in sorted(present.keys() - stay.keys())),
        terminating=tuple(mine[n] for n in sorted(mine.keys() - present.keys())),
        taken=tuple(by_name[n] for n in sorted(wanted.keys() & (by_name.keys() - mine.keys()))),
        unmatched=tuple(Unmatched(*key) for key in unplaced if key not in drained),
    )


def withheld(split: Split, lack: Lack) -> Split:
    """The split while the template names networks that it cannot use: no deployment is created.

    Existing deployments keep their template, since an Instance of the new template could not start.
    Only a deployment that is already attached to the deleting networks gets the new template. Scaling
    and deletion work as usual. A city whose own template names none of these networks is not affected.
    """
    changes = [
        (u, u if _has_networks(u.existing, _lack_of(u.desired, lack)) else _numbers_only(u))
        for u in split.update
    ]
    still = tuple(update.existing for update, left in changes if left is None)
    return replace(
        split,
        create=tuple(d for d in split.create if not _lack_of(d, lack)),
        withheld=tuple(d for d in split.create if _lack_of(d, lack)),
        update=tuple(left for _, left in changes if left),
        keep=tuple(sorted((*split.keep, *still), key=lambda d: d.metadata.name)),
    )


def _lack_of(deployment: WorkloadDeployment, lack: Lack) -> Lack:
    """Those of the networks that the template of a deployment names."""
    own = network_use.named(deployment.spec.template, deployment.metadata.namespace).keys()
    return Lack(lack.missing & own, lack.terminating & own)


def _has_networks(deployment: WorkloadDeployment, lack: Lack) -> bool:
    """Whether a deployment is attached to all that the template names, though it is being deleted."""
    attached = network_use.named(deployment.spec.template, deployment.metadata.namespace)
    return not lack.missing and lack.terminating <= attached.keys()


def _numbers_only(update: Update[WorkloadDeployment]) -> Update[WorkloadDeployment] | None:
    return change(update.existing, _held_back(update.desired, update.existing))


def _wanted(
    workload: Workload, existing: dict[str, WorkloadDeployment]
) -> Iterable[WorkloadDeployment]:
    templates, paused = CityTemplates(workload), frozenset(paused_cities(workload))
    replacements = replaced_instances.by_deployment(workload)
    for (placement, city), scale in joins.expected(workload).items():
        desired = _deployment(workload, placement, city, scale, templates.of(city))
        own = dict(desired.metadata.annotations)
        if requests := replacements.get(desired.metadata.name):
            own[annotations.REPLACED_INSTANCES] = requests
        if city in paused:
            own[annotations.PAUSED] = "true"
        desired = with_metadata(desired, annotations=own)
        current = existing.get(desired.metadata.name)
        yield _held_back(desired, current) if current and city in paused else desired


def _placed(
    desired: WorkloadDeployment,
    present: WorkloadDeployment | None,
    offered: Collection[str],
    now: datetime,
    grace: Grace,
) -> WorkloadDeployment | None:
    """The desired deployment, with its drain where it has one; None when it is not wanted."""
    if desired.spec.city_code in offered:
        return desired
    if present is None:
        return None
    if not offered:
        return desired
    drain = drains.withdrawn(present, now, grace)
    return drains.stamped(desired, drain) if now < drain.at else None


def _held_back(desired: WorkloadDeployment, current: WorkloadDeployment) -> WorkloadDeployment:
    """The deployment with its present template: a pause holds back templates, not scaling."""
    return with_spec(desired, template=current.spec.template)


def _merged(existing: WorkloadDeployment, desired: WorkloadDeployment) -> WorkloadDeployment:
    """The existing deployment with our fields, and all fields of other writers.

    Without the federator's finalizer and annotation a later deletion would leave Instances behind in
    the cell. Without its owner the deployment would outlive the Workload.
    """
    meta = existing.metadata
    others = {k: v for k, v in meta.annotations.items() if k not in _OURS}
    metadata = msgspec.structs.replace(
        meta,
        labels=meta.labels | desired.metadata.labels,
        annotations=others | desired.metadata.annotations,
        owner_references=_owned(meta.owner_references, desired.metadata.owner_references),
    )
    return msgspec.structs.replace(existing, metadata=metadata, spec=desired.spec)


def _owned(present: Owners, wanted: Owners) -> Owners:
    """The owners with the Workload among them; only one of them can be the controller."""
    if all(owner in present for owner in wanted):
        return present
    ours = {owner.uid for owner in wanted}
    return (*(o for o in present if o.uid not in ours and not o.controller), *wanted)


def _deployment(
    workload: Workload,
    placement: str,
    city: str,
    scale: ScaleSettings,
    template: InstanceTemplate,
) -> WorkloadDeployment:
    meta = workload.metadata
    inherited = {k: meta.annotations[k] for k in _INHERITED if k in meta.annotations}
    return WorkloadDeployment(
        metadata=ObjectMeta(
            name=names.deployment(meta.name, placement, city),
            namespace=meta.namespace,
            labels={labels.WORKLOAD_UID: meta.uid},
            annotations=inherited,
            owner_references=(workload.reference(controller=True, block_owner_deletion=True),),
        ),
        spec=WorkloadDeploymentSpec(
            workload_ref=WorkloadRef(name=meta.name, uid=meta.uid),
            placement_name=placement,
            city_code=city,
            template=template,
            scale_settings=scale,
        ),
    )
