"""From a project to the hub: the namespace, the deployment in it, and their deletion.

Uids differ on every plane, so a copy is joined to its original by name, and a hub namespace to a
project namespace by the two upstream labels. The engine of the hub propagates labels, annotations
and spec to a cell, and nothing else. So one of these has to contain all that a cell must know.
"""

from dataclasses import dataclass

import msgspec

from compute.api import annotations, finalizers, labels, names
from compute.api.compute import WorkloadDeployment
from compute.api.names import ClusterName
from compute.decide.writes import Create, Update, change
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta, with_metadata
from kubekit.api.selectors.label_syntax import value_fault


@dataclass(frozen=True, slots=True)
class ProjectNamespace:
    """The project, and the namespace in it, that a hub namespace stands for."""

    project: ClusterName
    namespace: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a deployment cannot be copied to the hub, as a message for its user."""

    why: str


@dataclass(frozen=True, slots=True)
class DeleteHub:
    """Delete the hub's deployment, by its uid, and reconcile again."""

    uid: str


@dataclass(frozen=True, slots=True)
class WaitFor:
    """The hub's deployment is being deleted. The finalizer stays until it is gone."""

    why: str


@dataclass(frozen=True, slots=True)
class ReleaseFinalizer:
    """Nothing of the deployment is left on the hub."""


Finalization = DeleteHub | WaitFor | ReleaseFinalizer


def identity(namespace: Namespace) -> ProjectNamespace | None:
    """What a hub namespace, or its copy in a cell, stands for; None without the labels.

    It is never guessed: a wrong identity would copy one project's Instances to another.
    """
    project = namespace.metadata.labels.get(labels.UPSTREAM_CLUSTER, "")
    original = namespace.metadata.labels.get(labels.UPSTREAM_NAMESPACE, "")
    try:
        return ProjectNamespace(names.decode_cluster(project), original) if original else None
    except ValueError:
        return None


def hub_namespace(project: ClusterName, namespace: Namespace) -> Namespace:
    """The hub namespace of a project namespace. The engine copies it, with its labels, to cells."""
    return Namespace(
        metadata=ObjectMeta(
            name=names.hub_namespace(namespace.metadata.uid),
            labels={
                labels.UPSTREAM_CLUSTER: names.encode_cluster(project),
                labels.UPSTREAM_NAMESPACE: namespace.metadata.name,
            },
        )
    )


def namespace_due(
    existing: Namespace | None, desired: Namespace
) -> Create[Namespace] | Update[Namespace] | None:
    """The write that the hub namespace needs. A terminating namespace must be gone first."""
    if existing is None:
        return Create(desired)
    if existing.deleting:
        return None
    merged = existing.metadata.labels | desired.metadata.labels
    return change(existing, with_metadata(existing, labels=merged))


def prepared(
    deployment: WorkloadDeployment, hub_namespace_name: str
) -> Update[WorkloadDeployment] | None:
    """The write that must precede the first one on the hub; None when it was done.

    It records on the project's deployment all that its removal will need, even if the project
    namespace no longer exists by then.
    """
    meta = deployment.metadata
    held = meta.finalizers
    noted = meta.annotations | {annotations.FEDERATION_NAMESPACE: hub_namespace_name}
    if finalizers.FEDERATOR not in held:
        held = (*held, finalizers.FEDERATOR)
    return change(deployment, with_metadata(deployment, annotations=noted, finalizers=held))


def hub_deployment(
    deployment: WorkloadDeployment, project: ClusterName, hub_namespace_name: str
) -> WorkloadDeployment | Refused:
    """The deployment as the hub should hold it.

    The city goes into a label exactly as it was written, because cells are chosen by that label.
    An empty one would match the wrong cells, and one that is no label value would be refused.
    """
    city = deployment.spec.city_code
    fault = value_fault(city) if city else "it must not be empty"
    if fault:
        return Refused(f"spec.cityCode {city!r} cannot be used to choose a cell: {fault}")
    known = deployment.metadata.annotations
    return WorkloadDeployment(
        metadata=ObjectMeta(
            name=deployment.metadata.name,
            namespace=hub_namespace_name,
            labels={
                labels.TOPOLOGY_CITY_CODE: city,
                labels.UPSTREAM_CLUSTER: names.encode_cluster(project),
                labels.UPSTREAM_NAMESPACE: deployment.metadata.namespace,
                labels.WORKLOAD_UID: deployment.spec.workload_ref.uid,
            },
            annotations={key: known[key] for key in annotations.MIRRORED if key in known},
        ),
        spec=deployment.spec,
    )


def deployment_due(
    existing: WorkloadDeployment | None, desired: WorkloadDeployment
) -> Create[WorkloadDeployment] | Update[WorkloadDeployment] | None:
    """The write that the hub's deployment needs. A terminating deployment must be gone first.

    Labels and annotations of other writers stay. A mirrored annotation that the original lacks is
    removed: a stale one would block Instances indefinitely.
    """
    if existing is None:
        return Create(desired)
    if existing.deleting:
        return None
    meta = existing.metadata
    others = {k: v for k, v in meta.annotations.items() if k not in annotations.MIRRORED}
    metadata = msgspec.structs.replace(
        meta,
        labels=meta.labels | desired.metadata.labels,
        annotations=others | desired.metadata.annotations,
    )
    merged = msgspec.structs.replace(existing, metadata=metadata, spec=desired.spec)
    return change(existing, merged)


def finalization(
    deployment: WorkloadDeployment, hub: WorkloadDeployment | None, project: ClusterName
) -> Finalization:
    """The next step in the deletion of a deployment on the hub, after its project has deleted it.

    The namespace may come from an annotation, which users can edit: an object of the same name
    there is touched only if its labels say that it is this deployment's copy.
    """
    if hub is None or not is_copy(hub, deployment, project):
        return ReleaseFinalizer()
    if hub.deleting:
        return WaitFor(f"the hub is still removing {hub.metadata.namespace}/{hub.metadata.name}")
    return DeleteHub(hub.metadata.uid)


def is_copy(hub: WorkloadDeployment, deployment: WorkloadDeployment, project: ClusterName) -> bool:
    """Whether the hub's deployment stands for this one, in this project.

    Copies that the original system made do not name the project: the other fields identify them.
    """
    known = hub.metadata.labels
    encoded = names.encode_cluster(project)
    return (
        hub.metadata.name == deployment.metadata.name
        and known.get(labels.UPSTREAM_NAMESPACE) == deployment.metadata.namespace
        and known.get(labels.UPSTREAM_CLUSTER, encoded) == encoded
    )
