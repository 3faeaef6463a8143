"""Simulated failures: networks that cannot be set up in a cell, to show users what happens then.

They are set in the ConfigMap ``network-faults`` of the cell's namespace compute-system:

    failNetworks   patterns of the names of networks, separated by commas
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from compute.api.reasons import NeighbourReason
from kubekit.api.kinds.core import ConfigMap
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import Source, mapped

NAMESPACE: Final = "compute-system"
NAME: Final = "network-faults"
_FAIL_NETWORKS: Final = "failNetworks"
KEYS: Final = (_FAIL_NETWORKS,)


@dataclass(frozen=True, slots=True)
class Faults:
    """``networks`` are patterns of the names of networks that fail."""

    networks: tuple[str, ...] = ()

    def fail(self, network: str) -> bool:
        return any(fnmatchcase(network, pattern) for pattern in self.networks)


def faults(cell: Cluster) -> Faults:
    """The networks that are set to fail in a cell."""
    settings = cell.informers.of(ConfigMap).cache.get(NAMESPACE, NAME)
    patterns = settings.data.get(_FAIL_NETWORKS, "").split(",") if settings else ()
    return Faults(tuple(pattern.strip() for pattern in patterns if pattern.strip()))


def is_ours(settings: ConfigMap) -> bool:
    return (settings.metadata.namespace, settings.metadata.name) == (NAMESPACE, NAME)


class FaultKeysCheck:
    """Reports unknown keys in an event: a misspelt key would have no effect and no message."""

    def __init__(self, cells: Clusters, recorder: EventRecorder) -> None:
        self._cells = cells
        self._recorder = recorder

    def sources(self) -> list[Source[Any]]:
        return [mapped(ConfigMap, self._cells, _itself)]

    async def reconcile(self, request: Request) -> Result:
        cell = self._cells.get(request.cluster)
        settings = cell.informers.of(ConfigMap).cache.get(NAMESPACE, NAME)
        if settings is None:
            return DONE
        for key in sorted(key for key in settings.data if key not in KEYS):
            note = f"{key}: no such key; there is {', '.join(KEYS)}"
            reason = NeighbourReason.SETTINGS_INVALID
            self._recorder.event(cell.client, settings, "Warning", reason, note, "ReadSettings")
        return DONE


def _itself(cluster: ClusterName, settings: ConfigMap) -> Iterable[Request]:
    if is_ours(settings):
        yield Request(cluster, NAMESPACE, NAME)
