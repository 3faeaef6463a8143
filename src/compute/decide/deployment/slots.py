"""The numbered slots of a deployment, and the state of the Instance in each.

A slot is an ordinal below the number of Instances that is wanted. It belongs to the
Instance that has its name, and to no other: names are unique, labels are not.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from compute.api import names
from compute.api.compute import MOST_REPLICAS, Instance, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.decide.deployment import replacements
from compute.decide.deployment.template import recorded_hash, template_hash

_READY: Final = ConditionType.READY.value


class Slots(msgspec.Struct, frozen=True):
    """The Instances of a deployment by their ordinals, in ascending order."""

    deployment: WorkloadDeployment
    desired: int  # how many slots there are
    template: str  # the hash of the deployment's present template
    occupants: Mapping[int, Instance]  # in slots or beyond them, terminating ones included
    kept: dict[int, Instance]  # in slots, and not terminating
    ready: frozenset[int]  # of the occupants, those that serve and are not terminating
    outdated: dict[int, Instance]  # of those kept, those created from another template
    requested: dict[int, Instance]  # of those kept, those that the user asked to replace
    terminating: tuple[Instance, ...]  # without strays
    strays: tuple[Instance, ...]  # their names have no ordinal of this deployment

    @property
    def missing(self) -> tuple[int, ...]:
        """Slots without an Instance."""
        return tuple(o for o in range(self.desired) if o not in self.occupants)

    @property
    def unavailable(self) -> tuple[int, ...]:
        """Slots without a Ready Instance: empty ones, and those whose Instance is terminating."""
        return tuple(o for o in range(self.desired) if o not in self.ready)

    @property
    def surplus(self) -> tuple[Instance, ...]:
        """Instances beyond the slots that are not terminating yet."""
        return tuple(i for o, i in self.occupants.items() if o >= self.desired and not i.deleting)

    def name(self, ordinal: int) -> str:
        """The name that the Instance in a slot has, or will have."""
        return names.instance(self.deployment.metadata.name, ordinal)

    def stale(self, *, ready: bool) -> list[Instance]:
        """The kept Instances of another template that serve, or that do not; in descending order."""
        return [
            instance
            for ordinal, instance in reversed(self.outdated.items())
            if (ordinal in self.ready) is ready and ordinal not in self.requested
        ]

    def to_replace(self, *, ready: bool) -> list[Instance]:
        """The Instances to replace on request that serve, or that do not; in descending order."""
        requested = reversed(self.requested.items())
        return [instance for ordinal, instance in requested if (ordinal in self.ready) is ready]

    def coming(self) -> list[Instance]:
        """The kept Instances of the present template that do not serve yet."""
        leaving = self.outdated.keys() | self.requested.keys()
        return [
            instance
            for ordinal, instance in self.kept.items()
            if ordinal not in self.ready and ordinal not in leaving
        ]


def survey(deployment: WorkloadDeployment, instances: Iterable[Instance]) -> Slots:
    """The slots of a deployment, given all Instances that carry its label, in any order.

    There may be a thousand, and reading them costs more than the planning itself: so all that the
    plan needs of them is computed here, once.
    """
    occupants, strays = _by_ordinal(deployment.metadata.name, instances)
    count, template = desired(deployment), template_hash(deployment.spec.template)
    leaving = {o: i for o, i in occupants.items() if i.deleting}
    kept = {o: i for o, i in occupants.items() if o < count and o not in leaving}
    stamps = replacements.stamps(deployment)
    return Slots(
        deployment=deployment,
        desired=count,
        template=template,
        occupants=occupants,
        kept=kept,
        ready=frozenset(o for o, i in occupants.items() if is_ready(i)),
        outdated={o: i for o, i in kept.items() if recorded_hash(i) != template},
        requested={o: i for o, i in kept.items() if replacements.is_due(i, stamps.get(o))},
        terminating=tuple(leaving.values()),
        strays=strays,
    )


def _by_ordinal(
    name: str, instances: Iterable[Instance]
) -> tuple[dict[int, Instance], tuple[Instance, ...]]:
    """The Instances by their ordinals, and those that have none."""
    by_ordinal: dict[int, Instance] = {}
    strays = []
    for instance in instances:
        parts = names.instance_parts(instance.metadata.name)
        if parts and parts[0] == name:
            by_ordinal[parts[1]] = instance
        else:
            strays.append(instance)
    strays.sort(key=lambda stray: (stray.metadata.name, stray.metadata.uid))
    return {ordinal: by_ordinal[ordinal] for ordinal in sorted(by_ordinal)}, tuple(strays)


def is_ready(instance: Instance) -> bool:
    """Whether the Instance is Ready, and not being deleted."""
    # Called for every Instance in every reconcile pass, so it calls no functions itself.
    for condition in instance.status.conditions:
        if condition.type == _READY:
            return condition.status == "True" and instance.metadata.deletion_timestamp is None
    return False


def desired(deployment: WorkloadDeployment) -> int:
    """How many Instances are wanted: none once the deployment is being deleted.

    A number that admission would have refused is cut to what it allows: a deployment that bypassed
    admission must not exhaust the memory of the cell.
    """
    replicas = deployment.spec.scale_settings.min_replicas
    return 0 if deployment.deleting else min(max(0, replicas), MOST_REPLICAS)
