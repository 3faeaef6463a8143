"""The reconciler of one Instance: its machine is started, observed, moved and stopped.

It follows the contract of providers, of which `decide/provider_reports.py` has the decisions. The
finalizer is added in the write that starts the machine, and removed once the machine has stopped.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from compute.api import finalizers
from compute.api.compute import (
    Instance,
    InterfaceAssignments,
    NetworkInterfaceStatus,
)
from compute.api.conditions import ConditionType
from compute.api.networking import Subnet
from compute.api.reasons import Reason
from compute.decide.conditions import is_true
from compute.decide.deployment.template import recorded_hash
from compute.decide.networking.addresses import address_of
from compute.decide.provider_reports import ConditionValue, ProviderReport, may_run, reported
from compute.decide.scheduling_gates import closed
from compute.providers import machines, settings
from compute.providers.addresses import Addresses, holders
from compute.providers.interfaces import NoNetwork, NotYet, prefixes
from compute.providers.machines import Machine, MachineState
from compute.providers.settings import MachineSettingsCache
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import with_metadata
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.reconciling import commit
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import Source, mapped, own

_UNPROGRAMMED: Final = "simulated: unprogrammed"
_FULL: Final = 30.0  # seconds until a network without a free address is tried again


class Provider:
    """Runs the Instances of a cell."""

    def __init__(
        self,
        cells: Clusters,
        environment: ExecutionEnvironment,
        settings_cache: MachineSettingsCache,
        addresses: Addresses,
    ) -> None:
        self._cells = cells
        self._environment = environment
        self._settings_cache = settings_cache
        self._addresses = addresses

    def sources(self) -> list[Source[Any]]:
        return [
            own(Instance, self._cells),
            mapped(Subnet, self._cells, self._of_subnet),
            mapped(ConfigMap, self._cells, self._of_settings),
        ]

    async def reconcile(self, request: Request) -> Result:
        cell = self._cells.get(request.cluster)
        instance = cell.informers.of(Instance).cache.get(request.namespace, request.name)
        if instance is None:
            return DONE
        now = self._environment.now()
        if instance.deleting:
            return await self._stop(cell, instance, now)
        if not may_run(instance):
            return DONE
        return await self._run(cell, instance, now)

    async def _run(self, cell: Cluster, instance: Instance, now: datetime) -> Result:
        """Start a machine if there is none, and report its state."""
        machine = machines.machine_of(instance) if _has_machine(instance) else None
        state = await self._state(cell, instance, machine, now) if machine else None
        if state is None or state.move:
            current = self._settings_cache.of(cell)
            new = machines.new_machine(instance, current, now)
            if new is not None:
                instance = await _started(cell, instance, new)
                state = machines.state_of(instance, new, current, now)
        if state is None:
            why = "Every node has failed; the instance is started once one is back"
            state = MachineState(
                ConditionValue("False", Reason.PROGRAMMING_IN_PROGRESS, why),
                ConditionValue("False", Reason.PROVISIONING, why),
            )
        return await self._report(cell, instance, state, now)

    async def _state(
        self, cell: Cluster, instance: Instance, machine: Machine, now: datetime
    ) -> MachineState:
        """The state of a machine now.

        A state that contradicts the reported one is computed again with live settings: another provider
        may have used newer ones, and two providers with different settings would overwrite each other
        indefinitely.
        """
        state = machines.state_of(instance, machine, self._settings_cache.of(cell), now)
        if not machines.contradicts(instance, state):
            return state
        return machines.state_of(instance, machine, await self._settings_cache.live(cell), now)

    async def _report(
        self, cell: Cluster, instance: Instance, state: MachineState, now: datetime
    ) -> Result:
        """Report the state of a machine. It is not programmed before it has its addresses."""
        interfaces = instance.status.network_interfaces
        if state.programmed.status == "True":
            result = await self._interfaces(cell, instance)
            if isinstance(result, MachineState):
                state = result
            else:
                interfaces = result
        report = ProviderReport(
            state.programmed, state.available, recorded_hash(instance), interfaces
        )
        status = reported(instance, report, now)
        await cell.client.patch_status(instance, msgspec.structs.replace(instance, status=status))
        return _requeue(state.requeue_after)

    async def _stop(self, cell: Cluster, instance: Instance, now: datetime) -> Result:
        """Stop the machine, and remove the finalizer once it has stopped."""
        if not _has_machine(instance):
            return DONE
        left = (machines.stops_at(instance, self._settings_cache.of(cell)) - now).total_seconds()
        if left <= 0:
            await commit.remove_finalizer(cell.client, instance, finalizers.SIMULATED)
            return DONE
        stopping = ConditionValue("False", Reason.STOPPING, "The machine is being stopped")
        report = ProviderReport(available=stopping, template_hash=recorded_hash(instance))
        status = reported(instance, report, now)
        await cell.client.patch_status(instance, msgspec.structs.replace(instance, status=status))
        return _requeue(left)

    async def _interfaces(
        self, cell: Cluster, instance: Instance
    ) -> tuple[NetworkInterfaceStatus, ...] | MachineState:
        """The interfaces with addresses, or the state of a machine that waits for an address."""
        reported = instance.status.network_interfaces
        interfaces = []
        for position in range(len(instance.spec.network_interfaces)):
            present = reported[position] if position < len(reported) else NetworkInterfaceStatus()
            if not self._has_own_address(cell, instance, position, present):
                address = await self._address(cell, instance, position)
                if isinstance(address, MachineState):
                    return address
                assigned = InterfaceAssignments(network_ip=address)
                present = msgspec.structs.replace(present, assignments=assigned)
            interfaces.append(present)
        return tuple(interfaces)

    async def _address(
        self, cell: Cluster, instance: Instance, position: int
    ) -> str | MachineState | None:
        """An address for an interface; None where there are no networks."""
        available = await prefixes(cell, instance, position)
        if isinstance(available, NoNetwork):
            return None
        if isinstance(available, NotYet):
            return _waiting(
                ConditionValue("False", Reason.PROGRAMMING_IN_PROGRESS, available.why), None
            )
        network = instance.spec.network_interfaces[position].network.name
        key = instance.metadata.namespace, instance.metadata.name
        for prefix in available:
            address = self._addresses.take(cell.name, key, (network, position), prefix)
            if address is not None:
                return address
        full = " and ".join(map(str, available))
        why = f"The network {network} has no address left here: {full} is full"
        return _waiting(ConditionValue("False", Reason.NETWORK_FAILED_TO_CREATE, why), _FULL)

    def _has_own_address(
        self, cell: Cluster, instance: Instance, position: int, present: NetworkInterfaceStatus
    ) -> bool:
        """Whether an interface has an address that no other machine has."""
        address = address_of(present.assignments.network_ip)
        if address is None:
            return False
        network = instance.spec.network_interfaces[position].network.name
        cache = cell.informers.of(Instance).cache
        others = holders(cache, instance.metadata.namespace, (network, int(address)))
        return all(other.metadata.name == instance.metadata.name for other in others)

    def _of_settings(self, cluster: ClusterName, written: ConfigMap) -> Iterable[Request]:
        if not settings.is_ours(written):
            return ()
        keys = self._cells.get(cluster).informers.of(Instance).cache.keys()
        return [Request(cluster, *key) for key in keys]

    def _of_subnet(self, cluster: ClusterName, subnet: Subnet) -> Iterable[Request]:
        """The Instances that may wait for an address of the Subnet."""
        cache = self._cells.get(cluster).informers.of(Instance).cache
        cache.add_index(_UNPROGRAMMED, _unprogrammed)
        waiting = cache.keys_by(_UNPROGRAMMED, subnet.metadata.namespace)
        return [Request(cluster, *key) for key in waiting]


async def _started(cell: Cluster, instance: Instance, machine: Machine) -> Instance:
    """The Instance with this machine, in one write."""
    meta = instance.metadata
    present = meta.finalizers
    if finalizers.SIMULATED not in present:
        present = (*present, finalizers.SIMULATED)
    annotations = commit.merge_maps(meta.annotations, machines.annotations_of(machine))
    started = with_metadata(instance, finalizers=present, annotations=annotations)
    return await cell.client.patch(instance, started)


def _waiting(programmed: ConditionValue, requeue_after: float | None) -> MachineState:
    available = ConditionValue("False", Reason.PROVISIONING, programmed.message)
    return MachineState(programmed, available, requeue_after)


def _requeue(seconds: float | None) -> Result:
    return DONE if seconds is None else Result(timedelta(seconds=seconds))


def _has_machine(instance: Instance) -> bool:
    return finalizers.SIMULATED in instance.metadata.finalizers


def _unprogrammed(instance: Instance) -> Iterable[str]:
    programmed = is_true(instance.status.conditions, ConditionType.PROGRAMMED)
    if not (programmed or closed(instance) or instance.deleting):
        yield instance.metadata.namespace
