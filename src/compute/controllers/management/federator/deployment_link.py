"""One deployment of a project, and the two planes that have it."""

from dataclasses import dataclass

from compute.api import names
from compute.api.names import ClusterName
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import Request


@dataclass(frozen=True, slots=True)
class DeploymentLink:
    """The deployment of one reconcile pass, with the clusters of its project and of the hub."""

    request: Request
    project: Cluster
    hub: Cluster

    @property
    def name(self) -> str:
        return self.request.name

    @property
    def namespace(self) -> str:
        """The project's namespace."""
        return self.request.namespace

    @property
    def project_name(self) -> ClusterName:
        """The name of the project, as `compute.decide` uses it."""
        return names.cluster(self.project.name)
