"""Links to the planes of a world, which can be cut to test failures.

A user cuts a cell off by an annotation of its Cluster on the hub: any client can set it, and it
outlasts the process. `LinkReconciler` cuts and heals the link accordingly.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

from compute.api import annotations
from compute.api.karmada import MemberCluster
from compute.app.planes import PlaneRef
from kubekit.api.errors import Unreachable
from kubekit.client.client import Client
from kubekit.plane import LocalClient, Plane, Watch
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.sources import own

_log: Final = logging.getLogger(__name__)


class Link:
    """The connection to one plane, and for a cell also the connection out of it.

    A watch that is open when the link is cut ends, and none can be opened until it is healed.
    Both changes are logged once; requests that fail meanwhile are counted.
    """

    def __init__(self, end: str) -> None:
        self.end = end
        self.is_cut = False
        self._watches: list[Watch] = []
        self._since = 0.0
        self._refused = 0  # requests since it was cut

    def cut(self) -> None:
        if not self.is_cut:
            self._since, self._refused = asyncio.get_running_loop().time(), 0
            _log.warning(f"{self.end} is cut off")
        self.is_cut = True
        watches, self._watches = self._watches, []
        for watch in watches:
            watch.end()

    def heal(self) -> None:
        if self.is_cut:
            seconds = round(asyncio.get_running_loop().time() - self._since, 3)
            about = {"seconds": seconds, "refused": self._refused}
            _log.warning(f"{self.end} is back", extra=about)
        self.is_cut = False

    def check(self) -> None:
        if self.is_cut:
            self._refused += 1
            raise Unreachable(f"{self.end} is cut off")

    def track(self, watch: Watch) -> None:
        """End this watch when the link is cut."""
        self._watches = [other for other in self._watches if not other.ended]
        self._watches.append(watch)


class PlaneLinks(dict[PlaneRef, Link]):
    """The link of each plane. A plane that closes and opens again keeps its link."""

    def opened(self, ref: PlaneRef, plane: Plane) -> None:
        self.setdefault(ref, Link(f"{ref.role} {ref.name}"))

    def closing(self, ref: PlaneRef, plane: Plane) -> None:
        return


class LinkReconciler:
    """Cuts and heals the links of cells, following the annotation of their Clusters on the hub."""

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


def controllers(
    hub: Clusters, links: Mapping[PlaneRef, Link], factory: ControllerFactory
) -> list[Controller]:
    return [factory.controller("cuts", LinkReconciler(hub, links), hub, [own(MemberCluster, hub)])]


def is_cut(cluster: MemberCluster) -> bool:
    """Whether a user asks for the cell to be cut off."""
    return cluster.metadata.annotations.get(annotations.CUT) == "true"


def linked_client(plane: Plane, manager: str, *links: Link) -> Client:
    """A client of a plane that is behind all of these links."""
    return LocalClient(plane, manager=manager, gates=links)
