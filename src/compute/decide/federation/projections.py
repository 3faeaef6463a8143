"""From the hub to the project: what a user sees of an Instance.

A projection is exact. It exists while the hub's copy does, equals the copy, and is owned by the
project's deployment, so that it is deleted with it. Changes by a user are reverted.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from compute.api import labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.decide import joins
from compute.decide.deployment import replacements
from compute.decide.deployment.rollup import same
from compute.decide.writes import Create, Delete, Update, Write, change
from kubekit.api.meta import Object, ObjectMeta

# Labels with these prefixes are ours, and removed from a projection when its copy loses them.
_OURS: Final = ("compute.datumapis.com/", "meta.datumapis.com/")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A copy without a projection. It waits for its deployment."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Projected:
    """The writes that correct the projections, and the copies that must wait."""

    writes: tuple[Write[Instance], ...] = ()
    waiting: tuple[Waiting, ...] = ()


def projection(copy: Instance, deployment: WorkloadDeployment) -> Instance:
    """What the project sees of a hub copy, owned by the project's deployment.

    The uid in the labels is that of the project: the cell's uid means nothing there.
    """
    own = {k: v for k, v in copy.metadata.labels.items() if k.startswith(_OURS)}
    return Instance(
        metadata=ObjectMeta(
            name=copy.metadata.name,
            namespace=deployment.metadata.namespace,
            labels=own | {labels.DEPLOYMENT_UID: deployment.metadata.uid},
            annotations=replacements.recorded(copy),
            owner_references=(deployment.reference(),),
        ),
        spec=copy.spec,
        status=copy.status,
    )


def project(
    copies: Iterable[Instance],
    projections: Iterable[Instance],
    deployments: Iterable[WorkloadDeployment],
) -> Projected:
    """What makes the projections of one project exactly the copies that the hub holds of it.

    Projections are deleted because no copy is listed, so the list must be a live one.
    """
    owners = {_key(d): d for d in deployments}
    existing = {_key(p): p for p in projections}
    writes: list[Write[Instance]] = []
    waiting: list[Waiting] = []
    projected: set[tuple[str, str]] = set()
    for copy in sorted((c for c in copies if not c.deleting), key=_key):
        owner = owners.get(_owner_key(copy))
        if owner is None:
            waiting.append(Waiting(copy.metadata.name, _why(copy)))
            continue
        desired = projection(copy, owner)
        projected.add(_key(desired))
        writes += _due(existing.get(_key(desired)), desired, owner)
    writes += _removed(existing, projected)
    return Projected(tuple(writes), tuple(waiting))


def _due(
    existing: Instance | None, desired: Instance, owner: WorkloadDeployment
) -> list[Create[Instance] | Update[Instance]]:
    if existing is None:
        return [] if owner.deleting else [Create(desired)]
    if existing.deleting:
        return []  # created again once it is gone
    update = change(existing, _merged(existing, desired))
    return [update] if update else []


def _merged(existing: Instance, desired: Instance) -> Instance:
    """The projection as it should be. Owners are replaced: another one would keep it alive."""
    theirs = {k: v for k, v in existing.metadata.labels.items() if not k.startswith(_OURS)}
    metadata = msgspec.structs.replace(
        existing.metadata,
        labels=theirs | desired.metadata.labels,
        annotations=replacements.copied(existing, desired),
        owner_references=desired.metadata.owner_references,
    )
    status = existing.status if same(existing.status, desired.status) else desired.status
    return msgspec.structs.replace(existing, metadata=metadata, spec=desired.spec, status=status)


def _removed(
    existing: Mapping[tuple[str, str], Instance], projected: set[tuple[str, str]]
) -> Iterator[Delete[Instance]]:
    for key, instance in sorted(existing.items()):
        if key not in projected and not instance.deleting and _is_projection(instance):
            yield Delete(instance)


def _is_projection(instance: Instance) -> bool:
    """Whether we created it. A user may have removed the owner or the label, but hardly both."""
    owners = instance.metadata.owner_references
    owned = any(r.kind == WorkloadDeployment.RESOURCE.kind and not r.controller for r in owners)
    return owned or labels.UPSTREAM_CLUSTER in instance.metadata.labels


def _owner_key(copy: Instance) -> tuple[str, str]:
    """The namespace and name of a copy's deployment in the project. Old copies have only the name."""
    return copy.metadata.labels.get(labels.UPSTREAM_NAMESPACE, ""), joins.deployment_name(copy)


def _why(copy: Instance) -> str:
    namespace, name = _owner_key(copy)
    if not namespace or not name:
        return "its labels do not name its deployment"
    return f"deployment {namespace}/{name} is not in the project"


def _key(stored: Object) -> tuple[str, str]:
    return stored.metadata.namespace, stored.metadata.name
