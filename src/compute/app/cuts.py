"""Cutting cells off, by an annotation on the hub: so it can be done with any client, and lasts."""

from collections.abc import Mapping

from compute.api import annotations
from compute.api.karmada import MemberCluster
from compute.app.links import Link
from compute.app.planes import PlaneRef
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.sources import own


class CutReconciler:
    """Keeps the links as the hub's Clusters say."""

    def __init__(self, hub: Clusters, links: Mapping[PlaneRef, Link]) -> None:
        self._hub = hub
        self._links = links

    async def reconcile(self, request: Request) -> Result:
        link = self._links.get(PlaneRef("cell", request.name))
        cluster = self._hub.sole().informers.of(MemberCluster).cache.get("", request.name)
        if link is None or cluster is None:
            return DONE
        if is_cut(cluster) and not link.is_cut:
            link.cut()
        elif link.is_cut and not is_cut(cluster):
            link.heal()
        return DONE


def is_cut(cluster: MemberCluster) -> bool:
    """Whether somebody wants the cell to be cut off."""
    return cluster.metadata.annotations.get(annotations.CUT) == "true"


def controllers(
    hub: Clusters, links: Mapping[PlaneRef, Link], factory: ControllerFactory
) -> list[Controller]:
    return [factory.controller("cuts", CutReconciler(hub, links), hub, [own(MemberCluster, hub)])]
