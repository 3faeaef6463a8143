"""The status of a running world: cells, projects, load, and stuck objects."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any, Final

from compute.api import labels
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.karmada import MemberCluster
from compute.api.networking import Network
from compute.api.resource_manager import Project
from compute.app.links import is_cut
from compute.app.planes import PlaneRef
from compute.app.system_environment import system
from compute.app.world_folder import RunningState, WorldFolder
from compute.decide.conditions import find, is_true
from compute.decide.object_health import stuck
from kubekit.api import times
from kubekit.api.errors import ApiError
from kubekit.api.meta import Object
from kubekit.api.wire import Wire
from kubekit.client.connection import Misconfigured
from kubekit.client.http.client import HttpClient
from kubekit.client.http.settings import HttpSettings
from kubekit.client.http.transport import HttpTransport
from kubekit.client.kubeconfig import contexts, load

PACKAGE: Final = "datum-compute"
_CELL: Final = "cell-"
_CONDITIONS: Final[tuple[tuple[type[Any], str], ...]] = (
    (Workload, ConditionType.AVAILABLE),
    (WorkloadDeployment, ConditionType.AVAILABLE),
    (Instance, ConditionType.READY),
    (Network, ConditionType.READY),
)
_CPU: Final = "process_cpu_seconds_total"
_STARTED: Final = "process_start_time_seconds"
_MEMORY: Final = "process_resident_memory_bytes"
_WRITES: Final = "compute_store_writes_total"
_BYTES: Final = "compute_store_size_bytes"


class PartStatus(Wire, frozen=True, kw_only=True):
    """A cell or a project, and its state in a sentence."""

    name: str
    city: str
    ready: bool
    state: str


class PlaneLoad(Wire, frozen=True, kw_only=True):
    """What a plane has written since the world was started, and how large its file is."""

    plane: str
    writes: int
    bytes: int


class StuckObject(Wire, frozen=True, kw_only=True):
    """An object without progress for minutes, and the command that shows more of it."""

    project: str
    kind: str
    name: str
    since: str
    why: str
    next: str


class WorldStatus(Wire, frozen=True, kw_only=True):
    """The whole status. ``cpu`` is the share of one processor since the start."""

    version: str
    command_version: str
    url: str
    pid: int
    started: str
    data: str
    cells: tuple[PartStatus, ...]
    projects: tuple[PartStatus, ...]
    cpu: float
    memory_bytes: int
    planes: tuple[PlaneLoad, ...]
    stuck: tuple[StuckObject, ...]


def client(folder: WorldFolder, context: str) -> HttpClient:
    """A client of one plane of the world that runs from a folder."""
    environment = system()
    connection = load(environment, [folder.kubeconfig], context)
    return HttpClient(connection, environment, HttpSettings(warn=lambda _: None))


async def observed(folder: WorldFolder, state: RunningState) -> WorldStatus:
    """The status of a running world."""
    now = system().now()
    async with client(folder, "hub") as hub, client(folder, "core") as core:
        clusters, projects = (
            (await hub.every(MemberCluster)).items,
            (await core.every(Project)).items,
        )
    own_contexts = _own_contexts(folder)
    pages = await asyncio.gather(*(_metrics(folder, context) for context in own_contexts))
    stuck_objects = await asyncio.gather(*(_stuck(folder, project, now) for project in projects))
    process = pages[own_contexts.index("hub")]
    return WorldStatus(
        version=state.version,
        command_version=version(PACKAGE),
        url=state.url,
        pid=state.pid,
        started=state.started,
        data=str(folder.data),
        cells=(
            *(_cell(folder, cluster) for cluster in clusters),
            *_orphans(folder, state, clusters),
        ),
        projects=tuple(map(_project, projects)),
        cpu=round(process[_CPU] / max(now.timestamp() - process[_STARTED], 1.0), 4),
        memory_bytes=int(process[_MEMORY]),
        planes=tuple(map(_load, own_contexts, pages)),
        stuck=tuple(each for objects in stuck_objects for each in objects),
    )


def _own_contexts(folder: WorldFolder) -> list[str]:
    """One context for each plane. The contexts of the projects' own users lead to the same planes."""
    named = contexts([folder.kubeconfig])
    return sorted(name for name in named if not name.startswith("project-"))


async def _metrics(folder: WorldFolder, context: str) -> dict[str, float]:
    """The metrics of a plane that have no labels."""
    environment = system()
    connection = load(environment, [folder.kubeconfig], context)
    async with HttpTransport(connection, environment) as transport:
        page = (await transport.call("GET", "/metrics")).decode()
    lines = (line.split() for line in page.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value, *_ in lines if "{" not in name}


def _load(context: str, metrics: dict[str, float]) -> PlaneLoad:
    plane = context.removeprefix("admin-")
    return PlaneLoad(plane=plane, writes=int(metrics[_WRITES]), bytes=int(metrics[_BYTES]))


def _cell(folder: WorldFolder, cluster: MemberCluster) -> PartStatus:
    name, ready = cluster.metadata.name, find(cluster.status.conditions, ConditionType.READY)
    is_ready = ready is not None and ready.status == "True" and not is_cut(cluster)
    city = cluster.metadata.labels.get(labels.TOPOLOGY_CITY_CODE, "")
    if is_cut(cluster):
        state = f"cut off; `{folder.command(f'cell heal {name}')}` connects it again"
    elif ready is None:
        state = "no report yet"
    else:
        state = "Ready" if ready.status == "True" else ready.message or ready.reason
    return PartStatus(name=name, city=city, ready=is_ready, state=state)


def _orphans(
    folder: WorldFolder, state: RunningState, clusters: Iterable[MemberCluster]
) -> list[PartStatus]:
    """The cells that run without a Cluster on the hub."""
    known = {cluster.metadata.name for cluster in clusters}
    running = [
        context.removeprefix(_CELL)
        for context in _own_contexts(folder)
        if context.startswith(_CELL)
    ]
    up = folder.command(f"up --cities {','.join(state.cities)}")
    gone = (
        "its Cluster on the hub is gone: it removes what it runs, unless it is cut off, and gets "
        "nothing new; "
        f"`{folder.command('down')}`, then `{up}` joins it again"
    )
    return [
        PartStatus(name=name, city="", ready=False, state=gone)
        for name in running
        if name not in known
    ]


def _project(project: Project) -> PartStatus:
    ready = find(project.status.conditions, ConditionType.READY)
    is_ready = is_true(project.status.conditions, ConditionType.READY) and not project.deleting
    if project.deleting:
        more = ready.message if ready and ready.status == "False" else ""
        state = f"being deleted. {more}".strip(". ")
    else:
        state = "Ready" if is_ready else "not Ready yet"
    return PartStatus(name=project.metadata.name, city="", ready=is_ready, state=state)


async def _stuck(folder: WorldFolder, project: Project, now: datetime) -> list[StuckObject]:
    """What is stuck in a project, and the project itself if its deletion takes long."""
    name = project.metadata.name
    result: list[StuckObject] = []
    late = stuck(project, project.status.conditions, ConditionType.READY, now)
    if late is not None and project.deleting:
        command = f"kubectl --context core describe project {name}"
        result.append(
            _stuck_object(name, project, times.format_time(late.since), late.why, command)
        )
    ref = PlaneRef("project", name)
    try:
        async with client(folder, ref.admin_context) as plane:
            lists = [(await plane.every(kind)).items for kind, _ in _CONDITIONS]
    except (ApiError, Misconfigured, OSError):
        return result  # it has no plane, or no longer
    for objects, (_, condition) in zip(lists, _CONDITIONS, strict=True):
        result += _late(ref, objects, condition, now)
    return result


def _late(
    ref: PlaneRef, objects: Sequence[Any], condition: str, now: datetime
) -> list[StuckObject]:
    result = []
    for obj in objects:
        late = stuck(obj, obj.status.conditions, condition, now)
        if late is not None:
            meta, kind = obj.metadata, obj.RESOURCE.singular
            command = (
                f"kubectl --context {ref.admin_context} --namespace {meta.namespace} "
                f"describe {kind} {meta.name}"
            )
            since = times.format_time(late.since)
            result.append(_stuck_object(ref.name, obj, since, late.why, command))
    return result


def _stuck_object(project: str, obj: Object, since: str, why: str, command: str) -> StuckObject:
    meta = obj.metadata
    name = "/".join(filter(None, (meta.namespace, meta.name)))
    return StuckObject(
        project=project, kind=obj.kind, name=name, since=since, why=why, next=command
    )
