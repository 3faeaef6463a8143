"""What one look at a deployment finds to be done. It is decided from what is there, before any write."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from compute.api import finalizers
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.gates import NETWORK
from compute.controllers.cell.planes import CellSettings
from compute.decide import rollout
from compute.decide.gating import opened
from compute.decide.networks import NetworkPlan
from compute.decide.rollout import Create, Delete, Label, Plan
from compute.decide.rollup import NetworkVerdict
from compute.decide.template import build_instance
from compute.runtime.commit import merged


@dataclass(frozen=True, slots=True, kw_only=True)
class Agenda:
    """The deployment and its Instances as they were seen, and what is to be done about them.

    ``network`` is None where nobody manages networks: then nothing waits for any.
    ``changes`` are Instances that are not as they should be, each with labels that it lacks.
    """

    deployment: WorkloadDeployment
    instances: Sequence[Instance]
    network: NetworkPlan | None
    plan: Plan
    changes: tuple[tuple[Instance, Mapping[str, str]], ...]

    @property
    def creates(self) -> list[Create]:
        return [action for action in self.plan.now if isinstance(action, Create)]

    @property
    def deletes(self) -> list[Instance]:
        """The very Instances that are to go."""
        by_uid = {instance.metadata.uid: instance for instance in self.instances}
        return [by_uid[each.uid] for each in self.plan.now if isinstance(each, Delete)]

    @property
    def due(self) -> bool:
        """Whether anything is to be written but the deployment's own status."""
        steps = any(isinstance(action, Create | Delete) for action in self.plan.now)
        return steps or bool(self.changes) or self.asks_for_networks

    @property
    def asks_for_networks(self) -> bool:
        return self.network is not None and self.network.due and not self.deployment.deleting

    @property
    def verdict(self) -> NetworkVerdict | None:
        return self.network.verdict if self.network else None


def agenda(
    deployment: WorkloadDeployment, instances: Sequence[Instance], network: NetworkPlan | None
) -> Agenda:
    """What is to be done for a deployment, given its Instances and how its networks stand."""
    plan = rollout.plan(deployment, instances)
    return Agenda(
        deployment=deployment,
        instances=instances,
        network=network,
        plan=plan,
        changes=tuple(_changes(instances, plan, network)),
    )


def new_instance(work: Agenda, ordinal: int, settings: CellSettings) -> Instance:
    """The Instance for a slot. It waits for nothing that is there already."""
    ready = work.verdict is None or work.verdict.ready
    made = build_instance(work.deployment, ordinal, rollout.gates(networking=not ready))
    location = work.verdict.location if work.verdict else None
    # From the beginning, since to put it on later is a write for every Instance.
    held = (finalizers.CLAIM,) if settings.quota else ()
    return msgspec.structs.replace(
        made,
        metadata=msgspec.structs.replace(made.metadata, finalizers=held),
        spec=msgspec.structs.replace(made.spec, location=location),
    )


def tended(instance: Instance, labels: Mapping[str, str], network: NetworkPlan | None) -> Instance:
    """The Instance with its labels, its location, and no gate that is open; itself if it has all."""
    is_open = network is None or network.verdict.ready
    let = opened(instance, NETWORK) if is_open else instance
    place = instance.spec.location or (network.verdict.location if network else None)
    if not labels and let is instance and place is instance.spec.location:
        return instance
    kept = merged(instance.metadata.labels, labels)
    return msgspec.structs.replace(
        let,
        metadata=msgspec.structs.replace(instance.metadata, labels=kept),
        spec=msgspec.structs.replace(let.spec, location=place),
    )


def _changes(
    instances: Iterable[Instance], plan: Plan, network: NetworkPlan | None
) -> Iterator[tuple[Instance, Mapping[str, str]]]:
    """Instances that stay and are to change: in one write each, whatever the number of reasons."""
    labels = {action.uid: action.labels for action in plan.now if isinstance(action, Label)}
    leaving = {action.uid: None for action in plan.now if isinstance(action, Delete)}
    for instance in instances:
        if not instance.deleting and instance.metadata.uid not in leaving:
            lacking = labels.get(instance.metadata.uid, {})
            if tended(instance, lacking, network) is not instance:
                yield instance, lacking
