"""What the flags and files of a deploy refer to on the server: cities, networks, keys and quota.

Whatever a server does not serve, or the user may not read, is left out: the server decides then.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from compute.api.compute import Workload
from compute.api.networking import LocationBinding, Network
from compute.cli.exits import Exit, Failure
from compute.cli.shell.session import Session
from compute.decide import city_use
from compute.decide.networking import network_use
from compute.decide.workload.shortfall import remaining
from compute.decide.workload_edits.deploy_flags import EnvironmentSource
from compute.views.project.quota_reading import QuotaReader
from compute.views.reading import ProjectReader
from kubekit.api.errors import Forbidden, NotFound
from kubekit.api.kinds.core import ConfigMap, Secret

_KINDS: Final[dict[str, type[ConfigMap] | type[Secret]]] = {
    "ConfigMap": ConfigMap,
    "Secret": Secret,
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a deploy depends on. None where it cannot be read."""

    bindings: tuple[LocationBinding, ...] | None
    left: dict[str, int]

    @property
    def cities(self) -> frozenset[str] | None:
        """The codes of the cities that the project may use."""
        return None if self.bindings is None else city_use.offered(self.bindings)


async def surroundings(session: Session) -> Surroundings:
    """What the project may use."""
    reader = ProjectReader(session.client, session.namespace)
    quota = QuotaReader(session.client, session.namespace)
    bindings, buckets = await asyncio.gather(reader.if_served(LocationBinding), quota.buckets())
    return Surroundings(bindings, remaining(buckets))


async def with_keys(
    session: Session, sources: Iterable[EnvironmentSource]
) -> tuple[EnvironmentSource, ...]:
    """The sources, each with the keys that it has now."""
    return tuple([await _with_keys(session, source) for source in sources])


async def _with_keys(session: Session, source: EnvironmentSource) -> EnvironmentSource:
    if source.removed:
        return source
    kind = _KINDS[source.kind]
    found: ConfigMap | Secret
    try:
        if kind is ConfigMap:
            found = await session.client.get(ConfigMap, source.name, session.namespace)
        else:
            found = await session.client.get(Secret, source.name, session.namespace)
    except NotFound as error:
        plural = kind.RESOURCE.plural
        raise Failure(
            f"there is no {source.kind} {source.name} in namespace {session.namespace}",
            Exit.NOT_FOUND,
            next_step=f"compute {plural} set {source.name} KEY=VALUE",
            reason=error.reason,
        ) from error
    return replace(source, keys=tuple(sorted(found.data)))


async def missing_networks(
    session: Session, workloads: Iterable[Workload], known: Iterable[Network]
) -> tuple[tuple[str, str], ...]:
    """The networks, by namespace and name, that Workloads name and that do not exist."""
    named = {key: None for workload in workloads for key in network_use.of_workload(workload)}
    made = {(network.metadata.namespace, network.metadata.name) for network in known}
    return tuple([key for key in named if key not in made and await _is_missing(session, *key)])


async def _is_missing(session: Session, namespace: str, name: str) -> bool:
    try:
        await session.client.get(Network, name, namespace)
    except NotFound as error:
        # Without a name in it, the error says that the server does not serve the kind.
        return bool(error.details and error.details.name)
    except Forbidden:
        return False
    return False
