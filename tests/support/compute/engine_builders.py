"""A hub with cells and the engine that connects them, for tests of the federation engine."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from compute.api import labels, names
from compute.api.compute import WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.karmada import (
    ClusterSpec,
    MemberCluster,
    PropagationPolicy,
    PropagationSpec,
    ResourceSelector,
)
from compute.api.karmada_work import ResourceBinding, Work
from compute.app.links import Link, linked_client
from compute.decide.conditions import find, is_true
from compute.decide.federation.policies import policy
from compute.federation import engine
from compute.federation.planes import EnginePlanes
from kubekit.api.errors import NotFound
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Condition, ObjectMeta
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.watching.informers import ALL_OBJECTS, KindSelectors
from tests.support.compute.builders import condition
from tests.support.compute.federation_builders import on_hub, original, with_meta, with_status
from tests.support.kubekit.stage import Stage, staged

NS = "ns-1"
WD = "web-home-dfw"
Story = Callable[[Stage], Coroutine[Any, Any, None]]
LinkStory = Callable[[Stage, dict[str, Link]], Coroutine[Any, Any, None]]


def member(name: str = "dfw", city: str = "DFW") -> MemberCluster:
    topology = {labels.TOPOLOGY_CITY_CODE: city}
    return MemberCluster(
        metadata=ObjectMeta(name=name, labels=topology), spec=ClusterSpec(sync_mode="Push")
    )


def sent(name: str = WD, city: str = "DFW", **meta: Any) -> WorkloadDeployment:
    """A deployment as the federator makes it on the hub."""
    return with_meta(on_hub(original(name, city)), uid="", generation=0, **meta)


def planes(stage: Stage) -> EnginePlanes:
    return EnginePlanes(stage.role("hub"), stage.role("cell"))


def start(stage: Stage) -> None:
    stage.start(*engine.controllers(planes(stage), stage.factory))


def run_story(
    tmp_path: Path, story: Story, *cells: str, copies: int = 1, parts: KindSelectors = ALL_OBJECTS
) -> None:
    """Run a story in a hub with these cells, all of them in DFW, and a namespace."""

    def linked(stage: Stage, _: dict[str, Link]) -> Coroutine[Any, Any, None]:
        return story(stage)

    run_story_with_links(tmp_path, linked, *cells, copies=copies, parts=parts)


def run_story_with_links(
    tmp_path: Path,
    story: LinkStory,
    *cells: str,
    copies: int = 1,
    parts: KindSelectors = ALL_OBJECTS,
) -> None:
    """Run a story with links that can be cut."""
    cells = cells or ("dfw",)

    async def run(stage: Stage) -> None:
        hub = stage.client("hub")
        stage.role("cell", parts)
        links = {cell: await engage(stage, cell) for cell in cells}
        for cell in cells:
            await hub.create(member(cell))
        await hub.create(Namespace(metadata=ObjectMeta(name=NS, labels={"of": "shop"})))
        for _ in range(copies):
            start(stage)
        for cell in cells:
            await stage.named("hub", MemberCluster, cell, "", is_ready)
        await story(stage, links)

    staged(tmp_path, run, ("hub", "hub"))


async def engage(stage: Stage, cell: str) -> Link:
    """Engage a cell through a link that can be cut."""
    link = Link(cell)
    client = linked_client(await stage.plane(cell), "engine", link)
    await stage.role("cell").engage(cluster_name(cell), client)
    return link


def is_ready(cluster: MemberCluster) -> bool:
    return is_true(cluster.status.conditions, ConditionType.READY)


async def send(stage: Stage, name: str = WD, city: str = "DFW") -> WorkloadDeployment:
    """Put a deployment on the hub, with the policy of its city, as the federator does."""
    hub = stage.client("hub")
    made = await hub.create(sent(name, city))
    if await hub.find(type(policy(city, NS)), names.policy(city), NS) is None:
        await hub.create(policy(city, NS))
    return made


def of_kinds(*kinds: type[Any], **changes: Any) -> PropagationPolicy:
    chosen = tuple(ResourceSelector(api_version="v1", kind=kind.__name__) for kind in kinds)
    base = policy("DFW", NS)
    spec = PropagationSpec(resource_selectors=chosen, placement=base.spec.placement)
    spec = msgspec.structs.replace(spec, **changes)
    metadata = ObjectMeta(name="data", namespace=NS)
    return PropagationPolicy(metadata=metadata, spec=spec)


async def arrived(stage: Stage, cell: str = "dfw", name: str = WD) -> WorkloadDeployment:
    return await stage.named(cell, WorkloadDeployment, name, NS)


async def bound(
    stage: Stage, true: Callable[[ResourceBinding], object] = lambda _: True, name: str = WD
) -> ResourceBinding:
    binding = names.resource_binding(name, "WorkloadDeployment")
    return await stage.named("hub", ResourceBinding, binding, NS, true)


async def work(stage: Stage, cell: str = "dfw", name: str = WD) -> Work:
    name = names.work(NS, name, "WorkloadDeployment")
    return await stage.named("hub", Work, name, names.execution_namespace(cell))


async def report(stage: Stage, cell: str = "dfw", name: str = WD, ready: int = 1) -> None:
    """Write the status of the copy in the cell."""
    copy = await arrived(stage, cell, name)
    now = stage.environment.now().replace(microsecond=0)
    seen = copy.metadata.generation
    well = condition("Available", "True" if ready else "False", since=now, generation=seen)
    await stage.client(cell).patch_status(copy, with_status(copy, well, ready_replicas=ready))


async def change(stage: Stage, plane: str, obj: Any, edit: Callable[[Any], Any]) -> Any:
    """Edit an object as a user does: read it, and write it."""
    meta = obj.metadata
    live = await stage.client(plane).get(type(obj), meta.name, meta.namespace)
    return await stage.client(plane).patch(live, edit(live))


async def remove(stage: Stage, plane: str, obj: Any) -> None:
    meta = obj.metadata
    with suppress(NotFound):
        live = await stage.client(plane).get(type(obj), meta.name, meta.namespace)
        await stage.client(plane).delete(live)


def scaled(of: WorkloadDeployment, replicas: int) -> WorkloadDeployment:
    scale = msgspec.structs.replace(of.spec.scale_settings, min_replicas=replicas)
    spec = msgspec.structs.replace(of.spec, scale_settings=scale)
    return msgspec.structs.replace(of, spec=spec)


def written(stage: Stage, since: int = 0) -> list[str]:
    """The kinds that were written, in order and by plane, without Leases."""
    seen = ((plane, kind.rpartition("/")[2]) for plane, kind, _ in stage.writes[since:])
    return [f"{plane} {kind}" for plane, kind in seen if kind != "leases"]


async def settle(stage: Stage, seconds: float = 15.0) -> int:
    """Wait until only Leases are written. Returns the number of writes until then."""
    seen = -1
    while seen != len(written(stage)):
        seen = len(written(stage))
        await asyncio.sleep(seconds)
    return len(stage.writes)


def condition_of(of: Any, kind: str) -> Condition:
    """The condition of an object that must have it."""
    found = find(of.status.conditions, kind)
    assert found is not None, f"{of.kind} says nothing of {kind}"
    return found
