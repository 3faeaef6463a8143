"""Networks as people read them: whether each can be used, and what uses it."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from compute.api.compute import Workload
from compute.api.networking import Network
from compute.decide.conditions import find
from compute.decide.networking import network_use
from compute.views.view import View
from kubekit.api.meta import ConditionStatus

READY = "Ready"


class NetworkView(View, frozen=True, kw_only=True):
    """A Network, the Workloads that name it, and why it cannot be used."""

    name: str
    namespace: str
    ready: ConditionStatus
    reason: str
    message: str
    ipam: str
    ranges: tuple[str, ...]  # empty where the operator of networks chooses them
    families: tuple[str, ...]
    mtu: int
    used_by: tuple[str, ...] | None  # None where Workloads cannot be read
    created_at: datetime | None

    @property
    def why(self) -> str:
        """Why it cannot be used, on one line; empty if it can."""
        if self.ready == "True":
            return ""
        return ": ".join(filter(None, (self.reason, " ".join(self.message.split()))))


def network_view(network: Network, workloads: Sequence[Workload] | None = None) -> NetworkView:
    """One Network."""
    meta, spec = network.metadata, network.spec
    ready = find(network.status.conditions, READY)
    return NetworkView(
        name=meta.name,
        namespace=meta.namespace,
        ready=ready.status if ready else "Unknown",
        reason=ready.reason if ready else "",
        message=ready.message if ready else "no operator of networks has reported on it yet",
        ipam=spec.ipam.mode,
        ranges=tuple(filter(None, (spec.ipam.ipv4_range, spec.ipam.ipv6_range))),
        families=spec.ip_families,
        mtu=spec.mtu,
        used_by=None if workloads is None else network_use.users(network, workloads),
        created_at=meta.creation_timestamp,
    )


def network_views(
    networks: Iterable[Network], workloads: Sequence[Workload] | None
) -> tuple[NetworkView, ...]:
    """The Networks, by name."""
    views = (network_view(network, workloads) for network in networks)
    return tuple(sorted(views, key=lambda view: view.name))
