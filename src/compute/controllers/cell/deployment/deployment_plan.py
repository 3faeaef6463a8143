"""What one look at a deployment finds to be done. It is decided from what is there, before any write."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec

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
from compute.decide.deployment.template import mould
from compute.decide.networking.networks import NetworkPlan
from compute.decide.scheduling_gates import opened
from kubekit.runtime.reconciling.commit import merge_maps

_MOMENT: Final = timedelta(seconds=2)  # in which networks are usually set up


@dataclass(frozen=True, slots=True, kw_only=True)
class Agenda:
    """The deployment and its Instances as they were seen, and what is to be done about them.

    ``network`` is None where nobody manages networks: then nothing waits for any.
    ``origin`` is what Instances of the present template are made from.
    ``changes`` are Instances that are not as they should be, each with labels that it lacks.
    ``patience`` is how long nothing new is made: a network that is set up meanwhile saves each
    Instance the way through a gate.
    """

    deployment: WorkloadDeployment
    instances: Sequence[Instance]
    network: NetworkPlan | None
    plan: RolloutPlan
    origin: HashedTemplate
    changes: tuple[tuple[Instance, Mapping[str, str]], ...]
    patience: timedelta | None = None

    @property
    def creates(self) -> list[CreateInstance]:
        if self.patience is not None:
            return []
        return [action for action in self.plan.now if isinstance(action, CreateInstance)]

    @property
    def crowd(self) -> list[CreateInstance]:
        """What is made too, as far as slots of those cannot be filled."""
        return [] if self.patience is not None else self.plan.crowd

    @property
    def deletes(self) -> list[Instance]:
        """The very Instances that are to go."""
        by_uid = {instance.metadata.uid: instance for instance in self.instances}
        return [by_uid[each.uid] for each in self.plan.now if isinstance(each, DeleteInstance)]

    @property
    def due(self) -> bool:
        """Whether anything is to be written but the deployment's own status."""
        leaving = any(isinstance(action, DeleteInstance) for action in self.plan.now)
        return bool(leaving or self.creates or self.changes or self.asks_for_networks)

    @property
    def settled(self) -> bool:
        """Whether nothing is to be done, nor waits for a change of an Instance to be done."""
        going = any(instance.deleting for instance in self.instances)
        closed = self.network is not None and not self.network.verdict.ready
        return not (self.due or self.plan.later or going or closed)

    @property
    def asks_for_networks(self) -> bool:
        return self.network is not None and self.network.due and not self.deployment.deleting

    @property
    def verdict(self) -> NetworkVerdict | None:
        return self.network.verdict if self.network else None


def agenda(
    deployment: WorkloadDeployment,
    instances: Sequence[Instance],
    network: NetworkPlan | None,
    now: datetime,
) -> Agenda:
    """What is to be done for a deployment, given its Instances and how its networks stand."""
    plan = rollout.plan(deployment, instances, now)
    origin = HashedTemplate(deployment.spec.template)
    return Agenda(
        deployment=deployment,
        instances=instances,
        network=network,
        plan=plan,
        origin=origin,
        changes=tuple(_changes(instances, plan, network, origin)),
        patience=_patience(deployment, network, now),
    )


def new_instances(work: Agenda, settings: CellSettings) -> Callable[[int], Instance]:
    """What makes the Instance for a slot. It waits for nothing that is there already."""
    ready = work.verdict is None or work.verdict.ready
    location = work.verdict.location if work.verdict else None
    status = msgspec.structs.replace(work.deployment.status, location=location)
    deployment = msgspec.structs.replace(work.deployment, status=status)
    made = mould(deployment, rollout.initial_gates(networking=not ready))
    # From the beginning, since to put it on later is a write for every Instance.
    held = (finalizers.CLAIM,) if settings.quota else ()

    def new(ordinal: int) -> Instance:
        plain = made(ordinal)
        return msgspec.structs.replace(
            plain, metadata=msgspec.structs.replace(plain.metadata, finalizers=held)
        )

    return new


def tended(
    instance: Instance,
    labels: Mapping[str, str],
    network: NetworkPlan | None,
    origin: HashedTemplate,
) -> Instance:
    """The Instance with its labels, its location, its template's spec, and no gate that is open.

    It is itself where it has all of that.
    """
    is_open = network is None or network.verdict.ready
    own = restored(instance, origin)
    let = opened(own, NETWORK) if is_open else own
    place = instance.spec.location or (network.verdict.location if network else None)
    if not labels and let is instance and place is instance.spec.location:
        return instance
    kept = merge_maps(instance.metadata.labels, labels)
    return msgspec.structs.replace(
        let,
        metadata=msgspec.structs.replace(instance.metadata, labels=kept),
        spec=msgspec.structs.replace(let.spec, location=place),
    )


def _patience(
    deployment: WorkloadDeployment, network: NetworkPlan | None, now: datetime
) -> timedelta | None:
    """How long a new deployment waits for its networks before it makes Instances that wait."""
    born = deployment.metadata.creation_timestamp
    if network is None or network.verdict.reason != Reason.NETWORK_PROVISIONING or born is None:
        return None
    age = now - born
    return _MOMENT - age if timedelta() <= age < _MOMENT else None


def _changes(
    instances: Iterable[Instance],
    plan: RolloutPlan,
    network: NetworkPlan | None,
    origin: HashedTemplate,
) -> Iterator[tuple[Instance, Mapping[str, str]]]:
    """Instances that stay and are to change: in one write each, whatever the number of reasons."""
    labels = {action.uid: action.labels for action in plan.now if isinstance(action, LabelInstance)}
    leaving = {action.uid: None for action in plan.now if isinstance(action, DeleteInstance)}
    for instance in instances:
        if not instance.deleting and instance.metadata.uid not in leaving:
            lacking = labels.get(instance.metadata.uid, {})
            if tended(instance, lacking, network, origin) is not instance:
                yield instance, lacking
