"""What a user of a project does and sees: in a world of this process, or on real servers."""

from collections.abc import Callable
from typing import Any

import msgspec

from compute.api import names
from compute.api.compute import Instance, Workload
from compute.api.conditions import ConditionType
from compute.decide import joins
from compute.decide.conditions import find, is_true
from compute.decide.deployment.template import recorded_hash, template_hash
from kubekit.api.errors import Conflict
from kubekit.api.kinds.core import Namespace
from kubekit.client.client import Client
from tests.support.compute import builders
from tests.support.kubekit.waits import Waits

Change = Callable[[Workload], Workload]


class UserStage(Waits):
    """The project of a user, with one namespace of it."""

    namespace: str = "default"

    @property
    def user(self) -> Client:
        """The client of the project's user."""
        raise NotImplementedError

    async def hub_namespace(self) -> str:
        """What the namespace of the project is called on the hub and in cells."""
        found = await self.user.get(Namespace, self.namespace)
        return names.hub_namespace(found.metadata.uid)

    async def edit(self, name: str, changed: Change) -> Workload:
        """Patch a Workload, as it is when no controller writes to it meanwhile."""

        async def patched() -> Workload | None:
            present = await self.user.get(Workload, name, self.namespace)
            try:
                return await self.user.patch(present, changed(present))
            except Conflict:
                return None

        return await self.until(patched, what=f"a change of {name}")

    async def instances_of(self, name: str) -> list[Instance]:
        """The Instances of a Workload, as the user sees them."""
        listed = await self.user.every(Instance, self.namespace)
        return [each for each in listed.items if joins.workload_name(each) == name]

    async def served(self, name: str, seconds: float = 120.0) -> Workload:
        """The Workload, once all of its Instances are Ready and have the newest template.

        The counters alone would say so too early: a cell may not know the newest template yet.
        """

        async def check() -> Workload | None:
            workload = await self.user.get(Workload, name, self.namespace)
            if not is_served(workload):
                return None
            newest = template_hash(workload.spec.template)
            shown = await self.instances_of(name)
            proven = all(is_ready(i) and recorded_hash(i) == newest for i in shown)
            return workload if proven and len(shown) == workload.status.replicas else None

        try:
            return await self.until(check, seconds, f"{name} to be served")
        except AssertionError as failure:
            last = await self.user.find(Workload, name, self.namespace)
            failure.add_note(f"last seen: {msgspec.json.encode(last).decode()}")
            raise


def with_image(image: str) -> Change:
    """A change of a Workload: another image."""

    def changed(present: Workload) -> Workload:
        template = builders.template(image)
        spec = msgspec.structs.replace(present.spec, template=template)
        return msgspec.structs.replace(present, spec=spec)

    return changed


def with_replicas(count: int) -> Change:
    """A change of a Workload: this many Instances in each city."""

    def changed(present: Workload) -> Workload:
        placements = tuple(
            msgspec.structs.replace(
                p, scale_settings=msgspec.structs.replace(p.scale_settings, min_replicas=count)
            )
            for p in present.spec.placements
        )
        spec = msgspec.structs.replace(present.spec, placements=placements)
        return msgspec.structs.replace(present, spec=spec)

    return changed


def is_ready(obj: Any) -> bool:
    return is_true(obj.status.conditions, "Ready")


def is_served(workload: Workload) -> bool:
    """Whether all counters say that every Instance runs and has the newest template."""
    status = workload.status
    wanted = sum(
        len(p.city_codes) * p.scale_settings.min_replicas for p in workload.spec.placements
    )
    return (
        status.observed_generation == workload.metadata.generation
        and is_true(status.conditions, ConditionType.AVAILABLE)
        and status.replicas == status.desired_replicas == status.ready_replicas == wanted
        and status.updated_replicas == status.current_replicas == wanted
    )


def reason_of(obj: Any, kind: str) -> str:
    condition = find(obj.status.conditions, kind)
    return condition.reason if condition else ""
