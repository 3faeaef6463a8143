"""Everything that can be read about one Instance: in its project, on the hub, and in its cell."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import NetworkBinding
from compute.api.quota import ResourceClaim
from compute.cli.exits import Exit, Failure
from compute.cli.shell.groups import nearest
from compute.cli.shell.other_planes import PlaneProblem, on_plane
from compute.cli.shell.session import Session
from compute.decide import joins
from compute.decide.workload.running_revisions import RunningRevisions
from compute.views.details.event_reading import read_events
from compute.views.details.instance_details import InstanceEvidence
from compute.views.details.plane_paths import CELL, HUB, PlaneReading
from compute.views.instances import InstanceContext
from compute.views.reading import ProjectReader
from compute.views.workloads import can_undo
from kubekit.api.errors import NotFound
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.client.client import Client, K

Bindings = Mapping[str, NetworkBinding]


class _InCell(NamedTuple):
    """An Instance in its cell, and the bindings of its networks by the name of the network."""

    instance: Instance | None
    bindings: Bindings


async def read_instance(session: Session, name: str) -> Instance:
    """The Instance; a failure with the nearest names where there is none."""
    try:
        return await session.client.get(Instance, name, session.namespace)
    except NotFound as error:
        if error.details is None or not error.details.name:
            raise  # the server does not serve Instances, or has no such project
    known = await ProjectReader(session.client, session.namespace).all(Instance)
    near = nearest(name, (instance.metadata.name for instance in known))
    hint = f"; did you mean {near}?" if near else ""
    raise Failure(
        f"there is no instance {name} {session.target.inside}, namespace {session.namespace}{hint}",
        Exit.NOT_FOUND,
        next_step="compute instances",
        reason="NotFound",
    )


async def read_evidence(session: Session, name: str) -> InstanceEvidence:
    """All that can be read about an Instance. What may not be read is left out."""
    reader = ProjectReader(session.client, session.namespace)
    instance = await read_instance(session, name)
    owner = joins.workload_name(instance)
    deployment, workload, revisions, claim, namespace = await asyncio.gather(
        _named(reader, WorkloadDeployment, joins.deployment_name(instance)),
        _named(reader, Workload, owner),
        _named(reader, ConfigMap, names.history(owner)),
        reader.if_found(ResourceClaim, names.claim(name)),
        reader.if_found(Namespace, session.namespace),
    )
    events = await read_events(reader, [deployment] if deployment else [], name)
    planes, bindings = await _other_planes(session, instance, namespace)
    context = InstanceContext(
        deployment,
        RunningRevisions(workload, revisions) if workload else None,
        next(iter(bindings.values()), None),
        workload is None or can_undo(workload, revisions),
    )
    project = session.project or session.target.server
    return InstanceEvidence(instance, context, project, claim, bindings, events, planes)


async def _named(reader: ProjectReader, kind: type[K], name: str) -> K | None:
    """The object; None without a name, which would be the whole collection."""
    return await reader.if_found(kind, name) if name else None


async def _other_planes(
    session: Session, instance: Instance, namespace: Namespace | None
) -> tuple[Sequence[PlaneReading], Bindings]:
    """The Instance on the hub and in its cell."""
    name, cell = instance.metadata.name, instance.metadata.labels.get(labels.SOURCE_CLUSTER, "")
    if namespace is None:
        problem = "you may not read the namespace in the project, whose uid is its name there"
        unread = [
            PlaneReading(HUB, HUB, problem=problem),
            PlaneReading(CELL, cell, problem=problem),
        ]
        return unread, {}
    there = names.hub_namespace(namespace.metadata.uid)

    async def on_hub(client: Client) -> Instance | None:
        return await _found(client, name, there)

    async def in_cell(client: Client) -> _InCell:
        found = await _found(client, name, there)
        listed = await ProjectReader(client, there).if_served(NetworkBinding)
        return _InCell(found, _bindings(joins.deployment_name(instance), listed or ()))

    hub, copy = await asyncio.gather(
        on_plane(session, HUB, on_hub), on_plane(session, f"{CELL}-{cell}", in_cell)
    )
    upper = (
        PlaneReading(HUB, HUB, problem=hub)
        if isinstance(hub, PlaneProblem)
        else PlaneReading(HUB, HUB, hub)
    )
    if isinstance(copy, PlaneProblem):
        return [upper, PlaneReading(CELL, cell, problem=copy)], {}
    return [upper, PlaneReading(CELL, cell, copy.instance)], copy.bindings


async def _found(client: Client, name: str, namespace: str) -> Instance | None:
    """The Instance, or None; raises NotFound where the plane does not serve Instances."""
    try:
        return await client.get(Instance, name, namespace)
    except NotFound as error:
        if error.details is None or not error.details.name:
            raise
        return None


def _bindings(deployment: str, listed: Iterable[NetworkBinding]) -> Bindings:
    """The bindings of a deployment by network, the last that was asked for of each."""
    own = (
        b
        for b in listed
        if (names.network_binding_parts(b.metadata.name) or ("",))[0] == deployment
    )
    return {b.spec.network.name: b for b in sorted(own, key=joins.order)}
