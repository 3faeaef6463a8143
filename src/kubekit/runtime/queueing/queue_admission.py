"""Admission to a controller's queue: only for clusters that are engaged and have synced caches.

A pass that starts before the caches are synced would miss objects that exist.

A request for a cluster that is not engaged is not queued, but remembered: a change on the hub is
observed once, and the project that it requests may be engaged only later.
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

_EARLY: Final = 65_536  # requests that are kept for clusters that are not engaged


@dataclass(slots=True)
class _Gate:
    """The state of one cluster. Requests that arrive before the gate opens are held, in order."""

    open: bool = False
    held: dict[Request, None] = field(default_factory=dict)


class QueueAdmission:
    """Queues requests, holds them back, or drops them."""

    def __init__(self, controller: str, queue: WorkQueue, counters: ControllerCounters) -> None:
        self._controller = controller
        self._queue = queue
        self._counters = counters
        self._gates: dict[ClusterName, _Gate] = {}
        self._early: dict[ClusterName, dict[Request, None]] = {}
        self._early_count = 0

    @property
    def open(self) -> bool:
        """Whether no gate holds requests back."""
        return all(gate.open for gate in self._gates.values())

    def add(self, request: Request) -> None:
        """Queue a request, if its cluster is engaged."""
        gate = self._gates.get(request.cluster)
        if gate is None:
            self._drop(request)
        elif gate.open:
            self._queue.add(request)
        else:
            gate.held[request] = None

    def add_after(self, request: Request, seconds: float) -> None:
        """Queue a request after this time at the latest."""
        gate = self._gates.get(request.cluster)
        if gate is not None and gate.open:
            self._queue.add_after(request, seconds)
        else:
            self.add(request)

    def engage(self, cluster: Cluster) -> None:
        """Hold the requests of a cluster until it is opened."""
        early = self._early.pop(cluster.name, {})
        self._early_count -= len(early)
        self._gates[cluster.name] = _Gate(held=early)

    def open_when_ready(self, cluster: Cluster, informers: Sequence[Informer[Any]]) -> None:
        """Queue the requests of a cluster once these informers are ready.

        The informer of a kind that the cluster does not serve is ready too: otherwise a kind that
        is never installed would block the controller.
        """
        gate = self._gates[cluster.name]
        cluster.scope.spawn(self._opened(gate, informers), f"admission of {self._controller}")

    def disengage(self, cluster: ClusterName) -> None:
        """Drop the requests of a cluster from now on, and those that wait."""
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
        self._counters.dropped += 1
        about = {"controller": self._controller, "request": str(request)}
        _log.debug("request dropped: its cluster is not engaged", extra=about)

    def _remember(self, request: Request) -> None:
        """Keep a request until its cluster is engaged. If there are too many, forget the oldest."""
        early = self._early.setdefault(request.cluster, {})
        self._early_count += request not in early
        early[request] = None
        if self._early_count > _EARLY:
            cluster, oldest = next(iter(self._early.items()))
            del oldest[next(iter(oldest))]
            self._early_count -= 1
            if not oldest:
                del self._early[cluster]
