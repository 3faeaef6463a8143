"""A provider of simulated machines: starting takes time, and failures can be configured."""

from collections.abc import Iterable
from typing import Final

from compute.api.compute import Instance
from compute.api.networking import NetworkBinding, Subnet
from compute.api.permissions import READ, WATCH, ObjectScope, allow, events
from compute.api.reasons import NeighbourReason
from compute.providers import settings
from compute.providers.addresses import Addresses
from compute.providers.provider import Provider
from compute.providers.settings import MachineSettingsCache
from kubekit.api.kinds.core import ConfigMap
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped
from kubekit.runtime.watching.informers import KindSelectors
from kubekit.runtime.watching.watched_part import only

CELL_SELECTORS: Final[KindSelectors] = {ConfigMap: only(settings.NAMESPACE, settings.NAME)}
_WORKERS: Final = ControllerSettings(workers=8)

PERMISSIONS: Final = (
    *allow("cell", (*READ, "patch"), Instance),
    *allow("cell", ("patch",), Instance, subresource="status"),
    *allow("cell", WATCH, NetworkBinding, Subnet),
    *allow("cell", READ, ConfigMap, scope=ObjectScope(settings.NAMESPACE, (settings.NAME,))),
    *events("cell"),
)


def controllers(cell: Clusters, factory: ControllerFactory) -> list[Controller]:
    """The controllers of the provider and of its settings."""
    cache, addresses = MachineSettingsCache(), Addresses()
    cell.join(addresses)
    provider = Provider(cell, factory.environment, cache, addresses)
    check = MachineSettingsCheck(cell, cache, factory.recorder("simulated-settings"))
    return [
        factory.controller("simulated-provider", provider, cell, provider.sources(), _WORKERS),
        factory.controller("simulated-settings", check, cell, [mapped(ConfigMap, cell, _ours)]),
    ]


class MachineSettingsCheck:
    """Reports invalid settings to the operators of a cell, as events."""

    def __init__(
        self, cells: Clusters, cache: MachineSettingsCache, recorder: EventRecorder
    ) -> None:
        self._cells = cells
        self._cache = cache
        self._recorder = recorder

    async def reconcile(self, request: Request) -> Result:
        cell = self._cells.get(request.cluster)
        written = cell.informers.of(ConfigMap).cache.get(request.namespace, request.name)
        if written is None:
            return DONE
        for fault in self._cache.faults(cell):
            note = f"{fault.key}: {fault.why}; the previous settings stay in force"
            self._recorder.event(
                cell.client,
                written,
                "Warning",
                NeighbourReason.SETTINGS_INVALID,
                note,
                "ReadSettings",
            )
        return DONE


def _ours(cluster: ClusterName, written: ConfigMap) -> Iterable[Request]:
    if settings.is_ours(written):
        yield Request(cluster, settings.NAMESPACE, settings.NAME)
