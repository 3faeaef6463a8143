"""The facts of a server, a project and its Workloads. A refusal is a fact, never an error."""

import asyncio
from collections.abc import Awaitable, Iterable
from datetime import datetime
from importlib.metadata import version
from typing import TypeVar

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import LocationBinding, Network
from compute.api.quota import BUCKETS, AllowanceBucket
from compute.api.services import ServiceEntitlement
from compute.app.data_folder import written_state
from compute.cli.plugin_manifest import PACKAGE
from compute.cli.shell.session import Session
from compute.cli.target.project_paths import platform_of
from compute.decide.doctor.facts import K, Objects, ProjectFacts, ServerFacts, Unread, WorkloadFacts
from compute.decide.networking import network_use
from compute.views.reading import ProjectObjects, ProjectReader
from compute.views.versions import kubernetes_version
from kubekit.api.errors import ApiError, NotFound
from kubekit.api.kinds.authentication import SelfSubjectReview
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.http.transport import HttpTransport

T = TypeVar("T")


async def read_server(session: Session, start: str) -> ServerFacts:
    """What the server answers: its version, its time, and the user's name there."""
    world = session.target.world
    state = written_state(world) if world else None
    answer = await _or_error(_version(session))
    asked_at = session.now()
    user: SelfSubjectReview | ApiError | None = None
    if not isinstance(answer, ApiError) or answer.code < 500:  # noqa: PLR2004 -- errors of a server
        user = await _or_error(session.client.create(SelfSubjectReview()))
    review = user if isinstance(user, SelfSubjectReview) else None
    return ServerFacts(
        address=platform_of(session.target.server),
        version=answer if isinstance(answer, str) else "",
        error=answer if isinstance(answer, ApiError) else None,
        user=review.status.user_info.username if review else "",
        user_error=user if isinstance(user, ApiError) else None,
        time=review.metadata.creation_timestamp if review else None,
        asked_at=asked_at,
        answered_at=session.now(),
        own_version=version(PACKAGE),
        world_version=state.version if state else "",
        start=start,
    )


async def read_project(session: Session, only: str | None) -> tuple[ProjectFacts, ProjectObjects]:
    """What is read of a project; ``only`` is the Workload that is asked for."""
    workloads, deployments, instances, bindings, buckets, entitlements = await asyncio.gather(
        read(session, Workload),
        read(session, WorkloadDeployment),
        read(session, Instance),
        read(session, LocationBinding),
        read(session, AllowanceBucket, BUCKETS),
        read(session, ServiceEntitlement),
    )
    known = () if isinstance(workloads, Unread) else workloads
    checked = known if only is None else tuple(w for w in known if w.metadata.name == only)
    others = {"WorkloadDeployment": deployments, "Instance": instances}
    facts = ProjectFacts(
        project=session.project,
        namespace=session.namespace,
        workloads=workloads,
        checked=checked,
        bindings=bindings,
        networks=await _networks(session, checked),
        buckets=buckets,
        entitlements=entitlements,
        others={kind: each for kind, each in others.items() if isinstance(each, Unread)},
    )
    objects = ProjectObjects(checked, _known(deployments), _known(instances))
    return facts, objects


async def read_workload(session: Session, objects: ProjectObjects, at: datetime) -> WorkloadFacts:
    """What is read of one Workload besides its own objects, which are known."""
    name = objects.workloads[0].metadata.name
    found = await _or_error(session.client.get(ConfigMap, names.history(name), session.namespace))
    history: ConfigMap | Unread | None
    if isinstance(found, ApiError):
        history = None if isinstance(found, NotFound) else Unread(found)
    else:
        history = found
    return WorkloadFacts(snapshot=objects.snapshot(at), history=history)


async def read(session: Session, kind: type[K], namespace: str | None = None) -> Objects[K]:
    """All objects of a kind in a namespace; in that of the session if none is given."""
    reader = ProjectReader(session.client, session.namespace if namespace is None else namespace)
    found = await _or_error(reader.all(kind))
    return Unread(found) if isinstance(found, ApiError) else found


async def _networks(session: Session, workloads: Iterable[Workload]) -> Objects[Network]:
    """The networks of the namespaces that Workloads name."""
    named = {key[0] for workload in workloads for key in network_use.of_workload(workload)}
    found: list[Network] = []
    for namespace in sorted(named | {session.namespace}):
        networks = await read(session, Network, namespace)
        if isinstance(networks, Unread):
            return networks
        found += networks
    return tuple(found)


async def _version(session: Session) -> str:
    """The version of the Kubernetes API; empty if the server does not name it."""
    transport = session.client.raw
    if not isinstance(transport, HttpTransport):
        return ""
    return (await kubernetes_version(transport)).removeprefix("v")


async def _or_error(answer: Awaitable[T]) -> T | ApiError:
    try:
        return await answer
    except ApiError as error:
        return error


def _known(found: Objects[K]) -> tuple[K, ...]:
    return () if isinstance(found, Unread) else found
