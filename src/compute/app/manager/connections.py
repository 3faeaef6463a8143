"""The connections of a manager to the planes, from its options and its configuration.

A credential that was named and cannot be read ends the start. One that was not named is never
replaced by that of the manager's own cluster: without a quota credential there is no quota.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from compute.app.manager.operator_config import DiscoverySettings
from compute.app.manager.options import ManagerOptions
from compute.app.project_clusters import project_connection
from kubekit.api.errors import NotFound
from kubekit.client.connection import Connection, Misconfigured
from kubekit.client.in_cluster import in_cluster, inside
from kubekit.client.kubeconfig import load
from kubekit.environment import ExecutionEnvironment

SINGLE: Final = "single"
"""The name of the only project where the discovery mode is single."""
_INTERNAL: Final = "https://milo-apiserver.project-{project}.svc.cluster.local:6443"


@dataclass(frozen=True, slots=True)
class ProjectPlanes:
    """How the planes of projects are reached. ``server`` is the one that serves all of them."""

    server: Connection
    mode: str
    internal: bool = False

    def connection(self, project: str) -> Connection:
        """The connection to the plane of a project. Raises `NotFound` if there can be none."""
        if self.mode == SINGLE:
            if project != SINGLE:
                raise NotFound(f"there is no project {project}: discovery.mode is single")
            return self.server
        if self.internal:
            return replace(self.server, server=_INTERNAL.format(project=project))
        return project_connection(self.server, project)


@dataclass(frozen=True, slots=True)
class Connections:
    """The planes of a manager process. ``own`` is the cluster that it runs in.

    ``core`` has the Project objects, in mode milo. ``quota`` leads to the projects' claims; None turns
    quota off.
    """

    own: Connection
    hub: Connection | None
    core: Connection | None
    projects: ProjectPlanes
    quota: ProjectPlanes | None


def connections(
    options: ManagerOptions,
    discovery: DiscoverySettings,
    environment: ExecutionEnvironment,
    variables: Mapping[str, str] = os.environ,
) -> Connections:
    """Read every kubeconfig that is named. Raises `Misconfigured` with the file and the field."""

    def read(path: str | Path | None, context: str = "") -> Connection | None:
        if not path:
            return None
        return load(environment, [Path(path)], context, variables)

    own = read(options.kubeconfig) or _own(environment, variables)
    core = (read(discovery.discovery_kubeconfig_path) or own) if discovery.mode != SINGLE else None
    projects = read(discovery.project_kubeconfig_path)
    internal = discovery.internal_service_discovery
    quota = read(discovery.quota_kubeconfig_path) or projects
    if quota is None and options.is_whole and "quota" in options.stand_ins:
        quota = own  # this process is the quota service itself
    return Connections(
        own=own,
        hub=read(options.federation_kubeconfig, options.federation_context),
        core=core,
        projects=ProjectPlanes(projects or core or own, discovery.mode, internal),
        quota=ProjectPlanes(quota, discovery.mode, internal) if quota else None,
    )


def _own(environment: ExecutionEnvironment, variables: Mapping[str, str]) -> Connection:
    """The cluster of the pod, or that of KUBECONFIG outside of one."""
    if variables.get("KUBECONFIG"):
        return load(environment, variables=variables)
    if inside(variables):
        return in_cluster(variables)
    raise Misconfigured(
        "this is not a pod with a service account, so name the manager's own cluster: give "
        "--kubeconfig, or set KUBECONFIG"
    )
