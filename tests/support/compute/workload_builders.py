"""A project with the workload controllers, and helpers for what users and neighbours do in it."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec

from compute.api import labels
from compute.api.compute import (
    Instance,
    Placement,
    Workload,
    WorkloadDeployment,
    WorkloadDeploymentStatus,
    WorkloadRef,
)
from compute.api.networking import (
    BoundLocation,
    LocationBinding,
    LocationBindingSpec,
    Network,
    NetworkIPAM,
    NetworkSpec,
)
from compute.controllers.management.planes import ManagementPlanes
from compute.controllers.management.workload import controller as subject
from compute.decide.conditions import find, is_true
from compute.decide.deployment.template import build_instance
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.options import PLAIN_WRITE, PatchType
from kubekit.client.transport import ResourceLocation
from kubekit.runtime.controller import Controller
from tests.support.compute.builders import condition, deployment, placement, workload
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage, staged

PROJECT = "shop"
BOTH = placement("home", "DFW", "LHR", replicas=2)
Story = Callable[[Stage], Coroutine[Any, Any, None]]


def run_story(directory: Path, story: Story, *cities: str, **more: Any) -> None:
    """Run a story in a project with a network and these cities, DFW and LHR by default.

    ``neighbours`` are created in their place.
    """
    offered = [binding(city) for city in cities or ("DFW", "LHR")]
    neighbours = more.pop("neighbours", [network(), *offered])

    async def whole(stage: Stage) -> None:
        client = stage.client(PROJECT, "admin")
        for neighbour in neighbours:
            await client.create(neighbour)
        stage.start(*controllers(stage, **more))
        await story(stage)

    staged(directory, whole, ("projects", PROJECT))


def controllers(stage: Stage, **more: Any) -> list[Controller]:
    planes = ManagementPlanes(stage.role("projects"), stage.role("hub"))
    return subject.controllers(planes, stage.factory, **more)


def fresh(*placements: Placement, name: str = "web", **changes: Any) -> Workload:
    """A Workload as a user writes it."""
    return with_meta(workload(name, *placements, **changes), uid="", generation=0)


def stray(name: str, uid: str = "another") -> WorkloadDeployment:
    """A deployment that another client created."""
    made = deployment(name=name, namespace="default", uid="", generation=0)
    spec = msgspec.structs.replace(made.spec, workload_ref=WorkloadRef(name="other", uid=uid))
    return msgspec.structs.replace(made, spec=spec)


async def changed(stage: Stage, kind: type[Object], name: str, patch: Any) -> None:
    """A user's change of an object, as a merge patch."""
    place = ResourceLocation(kind.RESOURCE, "default", name)
    document = msgspec.to_builtins(patch)
    await stage.client(PROJECT).raw.patch(place, PatchType.MERGE, document, PLAIN_WRITE)


def network(name: str = "default", namespace: str = "default") -> Network:
    metadata = ObjectMeta(name=name, namespace=namespace)
    return Network(metadata=metadata, spec=NetworkSpec(ipam=NetworkIPAM(mode="Auto")))


def binding(location: str, city: str | None = None) -> LocationBinding:
    """The LocationBinding of a city."""
    name = f"lab-{location.lower()}"
    code = location if city is None else city
    return LocationBinding(
        metadata=ObjectMeta(name=name),
        spec=LocationBindingSpec(
            location_ref=BoundLocation(name=name),
            topology={labels.TOPOLOGY_CITY_CODE: code},
        ),
    )


async def reports(
    stage: Stage, name: str, *, ready: int, reason: str = "", message: str = "", **counts: int
) -> WorkloadDeployment:
    """Write the status of one deployment, as the federator reports it from a cell."""
    client = stage.client(PROJECT, "federator")
    seen = await client.get(WorkloadDeployment, name, "default")
    wanted = seen.spec.scale_settings.min_replicas
    available = condition(
        "Available", "True" if ready else "False", reason or "StableInstanceFound", message
    )
    known: dict[str, Any] = dict.fromkeys(("replicas", "desired_replicas"), wanted)
    known |= dict.fromkeys(("updated_replicas", "current_replicas", "ready_replicas"), ready)
    status = WorkloadDeploymentStatus(
        conditions=(available,), observed_generation=1, **(known | counts)
    )
    return await client.patch_status(seen, msgspec.structs.replace(seen, status=status))


async def shows(stage: Stage, of: WorkloadDeployment, ordinal: int = 0) -> Instance:
    """The projection of an Instance that is Ready and has the deployment's current template."""
    client = stage.client(PROJECT, "projector")
    instance = await client.create(build_instance(of, ordinal, ()))
    status = msgspec.structs.replace(instance.status, conditions=(condition("Ready"),))
    return await client.patch_status(instance, msgspec.structs.replace(instance, status=status))


async def deployment_names(stage: Stage) -> list[str]:
    found = await stage.client(PROJECT).list(WorkloadDeployment, "default")
    return [d.metadata.name for d in found.items]


def available(workload: Workload) -> bool:
    return is_true(workload.status.conditions, "Available")


def availability(workload: Workload) -> tuple[str, str, str]:
    """Status, reason and message of the Available condition of a Workload; empty before it has one."""
    found = find(workload.status.conditions, "Available")
    return (found.status, found.reason, found.message) if found else ("", "", "")
