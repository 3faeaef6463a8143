"""One propagation policy per city of a hub namespace. It exists only while a deployment needs it.

A policy must not be deleted while a deployment of its city is created, and neither side holds a lock.
So a policy is deleted in two reconcile passes. The first marks it as unused. The second finds the
mark, lists the deployments again and deletes the policy at that very version. The writer of a
deployment on the hub reads the policies afterwards and removes the mark. One of the two always
observes the other: either the list shows the new deployment, or the mark is found and its removal
makes the deletion fail.

This holds only if the deployments are read from the server, after the policy with its mark. The policy
may come from a cache: it is deleted only in that version.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from compute.api import annotations, labels, names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import (
    ClusterAffinity,
    ClusterPlacement,
    PropagationPolicy,
    PropagationSpec,
    ResourceSelector,
    SpreadConstraint,
)
from compute.decide.writes import Create, Delete, Update, Write, change
from kubekit.api.meta import LabelSelector, ObjectMeta, with_metadata

_OURS: Final = {labels.SERVICE_NAME: labels.COMPUTE_SERVICE}
# Two cells of one city share its deployments. If both ran each, there would be twice the replicas,
# and their reports of one deployment would overwrite each other.
_ONE_CELL: Final = SpreadConstraint(spread_by_field="cluster", min_groups=1, max_groups=1)

# What is restored in a policy of ours: the cells of its deployments, that nothing blocks their
# propagation, and that they are deleted with their Workload. All else is up to an operator; the table
# in docs/decisions lists it field by field.
_OUR_PLACEMENT: Final = ("cluster_affinity", "cluster_affinities", "spread_constraints")
_OUR_SPEC: Final = (
    "resource_selectors",
    "dependent_overrides",
    "failover",
    "activation_preference",
    "preserve_resources_on_deletion",
)


def policy(city: str, namespace: str) -> PropagationPolicy:
    """The policy that sends the deployments of a city to one of the cells that serve it."""
    of_city = LabelSelector(match_labels={labels.TOPOLOGY_CITY_CODE: city})
    return PropagationPolicy(
        metadata=ObjectMeta(name=names.policy(city), namespace=namespace, labels=dict(_OURS)),
        spec=PropagationSpec(
            resource_selectors=(
                ResourceSelector(
                    api_version=WorkloadDeployment.RESOURCE.api_version,
                    kind=WorkloadDeployment.RESOURCE.kind,
                    namespace=namespace,
                    label_selector=of_city,
                ),
            ),
            placement=ClusterPlacement(
                cluster_affinity=ClusterAffinity(label_selector=of_city),
                spread_constraints=(_ONE_CELL,),
            ),
        ),
    )


def policies_due(
    deployments: Iterable[WorkloadDeployment], policies: Iterable[PropagationPolicy]
) -> tuple[Write[PropagationPolicy], ...]:
    """The writes that give every live city of a hub namespace its policy, and no other city one.

    Both arguments are complete for one namespace, and read in the order that the module requires.
    """
    deployments = tuple(deployments)
    existing = {p.metadata.name: p for p in policies}
    wanted = {
        names.policy(city): policy(city, d.metadata.namespace)
        for d in deployments
        if not d.deleting and (city := _city(d))
    }
    ensured = (_ensured(existing.get(name), wanted[name]) for name in sorted(wanted))
    retired = (_retired(p) for _, p in sorted(existing.items()) if is_unused(p, deployments))
    return tuple(write for write in (*ensured, *retired) if write)


def is_unused(policy: PropagationPolicy, deployments: Iterable[WorkloadDeployment]) -> bool:
    """Whether a policy of ours has no deployment left, not even one that is terminating."""
    cities = {_city(d) for d in deployments} - {""}
    ours = policy.metadata.labels.items() >= _OURS.items()
    return ours and policy.metadata.name not in map(names.policy, cities)


def policy_differs(existing: PropagationPolicy, desired: PropagationPolicy) -> bool:
    """Whether a policy has drifted in a field of ours. Fields of others may differ."""
    return existing != _merged(existing, desired)


def _ensured(
    existing: PropagationPolicy | None, desired: PropagationPolicy
) -> Create[PropagationPolicy] | Update[PropagationPolicy] | None:
    if existing is None:
        return Create(desired)
    if existing.deleting:
        return None  # created again once it is gone
    return change(existing, _merged(existing, desired))


def _retired(policy: PropagationPolicy) -> Write[PropagationPolicy] | None:
    if policy.deleting:
        return None
    if annotations.UNUSED in policy.metadata.annotations:
        return Delete(policy, unchanged=True)
    marked = policy.metadata.annotations | {annotations.UNUSED: "true"}
    return Update(policy, with_metadata(policy, annotations=marked))


def _merged(existing: PropagationPolicy, desired: PropagationPolicy) -> PropagationPolicy:
    """The policy in use: our fields as we set them, all others as servers and admins set them."""
    remaining = {k: v for k, v in existing.metadata.annotations.items() if k != annotations.UNUSED}
    metadata = msgspec.structs.replace(
        existing.metadata,
        labels=existing.metadata.labels | desired.metadata.labels,
        annotations=remaining,
    )
    placement = msgspec.structs.replace(
        existing.spec.placement, **_parts(desired.spec.placement, _OUR_PLACEMENT)
    )
    spec = msgspec.structs.replace(
        existing.spec, placement=placement, **_parts(desired.spec, _OUR_SPEC)
    )
    return msgspec.structs.replace(existing, metadata=metadata, spec=spec)


def _parts(of: ClusterPlacement | PropagationSpec, fields: Iterable[str]) -> dict[str, Any]:
    return {field: getattr(of, field) for field in fields}


def _city(deployment: WorkloadDeployment) -> str:
    return deployment.metadata.labels.get(labels.TOPOLOGY_CITY_CODE, "")
