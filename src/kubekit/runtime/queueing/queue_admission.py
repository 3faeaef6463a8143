"""The way into a controller's queue: only for clusters that are engaged, and whose caches are filled.

A pass that begins before the caches are filled finds things missing that are there.

What is asked of a cluster that is not engaged goes nowhere, but is remembered: an object of the hub
is told of once, and the project it asks for may be engaged only after that.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kubekit.runtime.clusters import Cluster
from kubekit.runtime.queueing.queue import WorkQueue
from kubekit.runtime.reporting.counters import ControllerCounters
from kubekit.runtime.requests import ClusterName, Request
from kubekit.runtime.watching.informer import Informer

_log: Final = logging.getLogger(__name__)

_EARLY: Final = 65_536  # requests that are kept for clusters which are not engaged


@dataclass(slots=True)
class _Gate:
    """One cluster. What is asked for before the gate opens is held, in order."""

    open: bool = False
    held: dict[Request, None] = field(default_factory=dict)


class QueueAdmission:
    """Lets requests in, holds them back, or turns them away."""

    def __init__(self, controller: str, queue: WorkQueue, counters: ControllerCounters) -> None:
        self._controller = controller
        self._queue = queue
        self._figures = counters
        self._gates: dict[ClusterName, _Gate] = {}
        self._early: dict[ClusterName, dict[Request, None]] = {}
        self._early_count = 0

    @property
    def open(self) -> bool:
        """Whether no request is held back."""
        return all(gate.open for gate in self._gates.values())

    def add(self, request: Request) -> None:
        """Have a request looked at. It keeps the cluster it names, or goes nowhere."""
        gate = self._gates.get(request.cluster)
        if gate is None:
            self._drop(request)
        elif gate.open:
            self._queue.add(request)
        else:
            gate.held[request] = None

    def add_after(self, request: Request, seconds: float) -> None:
        """Have a request looked at after this time at the latest."""
        gate = self._gates.get(request.cluster)
        if gate is not None and gate.open:
            self._queue.add_after(request, seconds)
        else:
            self.add(request)

    def engage(self, cluster: Cluster) -> None:
        """Hold the requests of a cluster from now on, until it is opened."""
        early = self._early.pop(cluster.name, {})
        self._early_count -= len(early)
        self._gates[cluster.name] = _Gate(held=early)

    def open_when_ready(self, cluster: Cluster, informers: Sequence[Informer[Any]]) -> None:
        """Let the requests of a cluster in once these have nothing to wait for.

        A kind that the cluster does not serve is nothing to wait for: one that never comes would
        keep the controller from ever working.
        """
        gate = self._gates[cluster.name]
        cluster.scope.spawn(self._opened(gate, informers), f"entrance of {self._controller}")

    def disengage(self, cluster: ClusterName) -> None:
        """Turn the requests of a cluster away from now on, and forget those that wait."""
        self._gates.pop(cluster, None)
        self._queue.drop(cluster)

    async def _opened(self, gate: _Gate, informers: Sequence[Informer[Any]]) -> None:
        for informer in informers:
            await informer.wait_ready()
        gate.open = True
        held, gate.held = gate.held, {}
        for request in held:
            self._queue.add(request)

    def _drop(self, request: Request) -> None:
        self._remember(request)
        self._figures.dropped += 1
        about = {"controller": self._controller, "request": str(request)}
        _log.debug("request dropped: its cluster is not engaged", extra=about)

    def _remember(self, request: Request) -> None:
        """Keep a request in case its cluster comes; of too many the longest kept is forgotten."""
        early = self._early.setdefault(request.cluster, {})
        self._early_count += request not in early
        early[request] = None
        if self._early_count > _EARLY:
            cluster, oldest = next(iter(self._early.items()))
            del oldest[next(iter(oldest))]
            self._early_count -= 1
            if not oldest:
                del self._early[cluster]
