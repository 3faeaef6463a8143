"""A provider that runs nothing, and behaves as if: it takes time, and fails when it is told to."""

from collections.abc import Iterable
from typing import Final

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

_WORKERS: Final = ControllerSettings(workers=8)


def controllers(cell: Clusters, factory: ControllerFactory) -> list[Controller]:
    """The provider of every cluster of a role, and whoever tells operators of bad settings."""
    desk, addresses = MachineSettingsCache(), Addresses()
    cell.join(addresses)
    provider = Provider(cell, factory.environment, desk, addresses)
    advice = MachineSettingsCheck(cell, desk, factory.recorder("simulated-settings"))
    return [
        factory.controller("simulated-provider", provider, cell, provider.sources(), _WORKERS),
        factory.controller("simulated-settings", advice, cell, [mapped(ConfigMap, cell, _ours)]),
    ]


class MachineSettingsCheck:
    """Tells the operators of a cell which of their settings cannot be used."""

    def __init__(
        self, cells: Clusters, desk: MachineSettingsCache, recorder: EventRecorder
    ) -> None:
        self._cells = cells
        self._desk = desk
        self._recorder = recorder

    async def reconcile(self, request: Request) -> Result:
        cell = self._cells.get(request.cluster)
        written = cell.informers.of(ConfigMap).cache.get(request.namespace, request.name)
        if written is None:
            return DONE
        for fault in self._desk.faults(cell):
            note = f"{fault.key}: {fault.why}; the settings before stay in force"
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
