"""The plan of one reconcile pass of a deployment, made from the caches before any write."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from compute.api import finalizers
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.gates import NETWORK
from compute.api.reasons import Reason
from compute.controllers.cell.planes import CellSettings
from compute.decide.deployment import rollout
from compute.decide.deployment.instance_edits import HashedTemplate, restored
from compute.decide.deployment.rollout import (
    CreateInstance,
    DeleteInstance,
    LabelInstance,
    RolloutPlan,
)
from compute.decide.deployment.rollup import NetworkVerdict
from compute.decide.deployment.template import instance_builder
from compute.decide.networking.networks import NetworkPlan
from compute.decide.scheduling_gates import opened
from kubekit.api.meta import with_metadata, with_spec, with_status
from kubekit.runtime.reconciling.commit import merge_maps

_NETWORK_SETUP: Final = timedelta(seconds=2)  # networks are usually ready within it


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentPlan:
    """A deployment and its Instances, and the writes that are due.

    ``network`` is None in a cell without networking: no Instance waits for networks then.
    ``template`` is what Instances of the current template are made from.
    ``changes`` are the Instances to update, each with the labels that it lacks.
    ``delay`` is how long to wait before Instances are created. If the network is ready by then, they
    need no Network gate.
    """

    deployment: WorkloadDeployment
    instances: Sequence[Instance]
    network: NetworkPlan | None
    rollout_plan: RolloutPlan
    template: HashedTemplate
    changes: tuple[tuple[Instance, Mapping[str, str]], ...]
    delay: timedelta | None = None

    @property
    def creates(self) -> list[CreateInstance]:
        if self.delay is not None:
            return []
        return [action for action in self.rollout_plan.now if isinstance(action, CreateInstance)]

    @property
    def queued_creates(self) -> list[CreateInstance]:
        """The Instances to create in place of those whose name is taken."""
        return [] if self.delay is not None else self.rollout_plan.waiting

    @property
    def deletes(self) -> list[Instance]:
        """The Instances to delete."""
        by_uid = {instance.metadata.uid: instance for instance in self.instances}
        return [
            by_uid[each.uid] for each in self.rollout_plan.now if isinstance(each, DeleteInstance)
        ]

    @property
    def has_writes(self) -> bool:
        """Whether anything but the status of the deployment is to be written."""
        deletes = any(isinstance(action, DeleteInstance) for action in self.rollout_plan.now)
        return bool(deletes or self.creates or self.changes or self.networks_due)

    @property
    def settled(self) -> bool:
        """Whether there is nothing to write, now or after a change of an Instance."""
        deleting = any(instance.deleting for instance in self.instances)
        closed = self.network is not None and not self.network.verdict.ready
        return not (self.has_writes or self.rollout_plan.later or deleting or closed)

    @property
    def networks_due(self) -> bool:
        return self.network is not None and self.network.due and not self.deployment.deleting

    @property
    def verdict(self) -> NetworkVerdict | None:
        return self.network.verdict if self.network else None


def plan_deployment(
    deployment: WorkloadDeployment,
    instances: Sequence[Instance],
    network: NetworkPlan | None,
    now: datetime,
) -> DeploymentPlan:
    """The plan for a deployment with these Instances and networks."""
    plan = rollout.plan(deployment, instances, now)
    template = HashedTemplate(deployment.spec.template)
    return DeploymentPlan(
        deployment=deployment,
        instances=instances,
        network=network,
        rollout_plan=plan,
        template=template,
        changes=tuple(_changes(instances, plan, network, template)),
        delay=_delay(deployment, network, now),
    )


def instance_factory(plan: DeploymentPlan, settings: CellSettings) -> Callable[[int], Instance]:
    """Builds the Instance of a slot. It has no gate for networks that are ready."""
    ready = plan.verdict is None or plan.verdict.ready
    location = plan.verdict.location if plan.verdict else None
    deployment = with_status(plan.deployment, location=location)
    build = instance_builder(deployment, rollout.initial_gates(networking=not ready))
    # Set on creation: to add it later costs a write for every Instance.
    initial_finalizers = (finalizers.CLAIM,) if settings.quota else ()

    def instance_of(ordinal: int) -> Instance:
        return with_metadata(build(ordinal), finalizers=initial_finalizers)

    return instance_of


def updated(
    instance: Instance,
    labels: Mapping[str, str],
    network: NetworkPlan | None,
    template: HashedTemplate,
) -> Instance:
    """The Instance with these labels, its location, the template's spec, and its open gates removed.

    The same object is returned if it has all of that.
    """
    is_open = network is None or network.verdict.ready
    own = restored(instance, template)
    ungated = opened(own, NETWORK) if is_open else own
    location = instance.spec.location or (network.verdict.location if network else None)
    if not labels and ungated is instance and location is instance.spec.location:
        return instance
    labelled = with_metadata(ungated, labels=merge_maps(instance.metadata.labels, labels))
    return with_spec(labelled, location=location)


def _delay(
    deployment: WorkloadDeployment, network: NetworkPlan | None, now: datetime
) -> timedelta | None:
    """How long a new deployment waits for its networks before it creates gated Instances."""
    created = deployment.metadata.creation_timestamp
    if network is None or network.verdict.reason != Reason.NETWORK_PROVISIONING or created is None:
        return None
    age = now - created
    return _NETWORK_SETUP - age if timedelta() <= age < _NETWORK_SETUP else None


def _changes(
    instances: Iterable[Instance],
    plan: RolloutPlan,
    network: NetworkPlan | None,
    template: HashedTemplate,
) -> Iterator[tuple[Instance, Mapping[str, str]]]:
    """The Instances that are kept and updated, with one write each."""
    labels = {action.uid: action.labels for action in plan.now if isinstance(action, LabelInstance)}
    deleted = {action.uid: None for action in plan.now if isinstance(action, DeleteInstance)}
    for instance in instances:
        if not instance.deleting and instance.metadata.uid not in deleted:
            lacking = labels.get(instance.metadata.uid, {})
            if updated(instance, lacking, network, template) is not instance:
                yield instance, lacking
