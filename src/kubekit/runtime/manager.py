r"""One process of controllers: it engages clusters, runs controllers, and competes for the lease.

    providers --> Clusters --> informers, in every process
                          \-> controllers' queues, in every process
    election  --> controllers' workers, in the leading process

Engaging clusters never waits for leadership: an admission review may reach any replica, and a
replica that does not lead must know the projects too.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Protocol

from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.election import Elector, Term
from kubekit.runtime.reporting.counters import InformerCounters
from kubekit.runtime.reporting.health import Health
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.scope import Scope

_log: Final = logging.getLogger(__name__)


class ClusterProvider(Protocol):
    """A source of the clusters of one role. It runs in every process until it is cancelled."""

    async def run(self) -> None: ...

    def problems(self) -> list[str]:
        """The clusters that are known and not engaged yet."""
        ...


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """Work of the process beside its controllers, such as writing events.

    At shutdown ``drain`` waits until it is complete, for at most so many seconds.
    """

    name: str
    run: Callable[[], Coroutine[Any, Any, None]]
    drain: Callable[[float], Coroutine[Any, Any, None]] | None = None


@dataclass(slots=True)
class Runnables:
    """Everything that one process runs. The controllers in ``always`` run on every replica.

    The process is ready without the clusters in ``remote``, which may be unreachable for long.
    """

    clusters: list[Clusters] = field(default_factory=list)
    remote: list[Clusters] = field(default_factory=list)
    providers: list[ClusterProvider] = field(default_factory=list)
    always: list[Controller] = field(default_factory=list)
    leading: list[Controller] = field(default_factory=list)
    background_tasks: list[BackgroundTask] = field(default_factory=list)

    @property
    def engaged(self) -> list[Clusters]:
        """The clusters of every role."""
        return [*self.clusters, *self.remote]


class Manager:
    """Runs the runnables until `stop`, and then shuts them down in order.

    The running passes have ``grace`` seconds to finish.
    """

    def __init__(
        self,
        runnables: Runnables,
        elector: Elector | None = None,
        metrics: Metrics | None = None,
        grace: float = 30.0,
    ) -> None:
        _check(runnables)
        self.health = Health()
        self.metrics = metrics or Metrics()
        self._runnables = runnables
        self._elector = elector
        self._grace = grace
        self._stopping = asyncio.Event()
        self._failure: BaseException | None = None
        self._scope = Scope("manager", self._failed)
        self._leading: asyncio.Task[None] | None = None
        self.health.ready("clusters", self._cluster_problems)
        self.health.ready("providers", self._provider_problems)
        self.metrics.informers(self._informers)
        if elector is not None:
            self.health.live("election", elector.problems)
            self.metrics.leading(elector.name, holds=False)

    def stop(self) -> None:
        """Finish the running passes, release the lease, and end."""
        self._stopping.set()

    async def run(self) -> None:
        """Run until `stop`. A task that fails ends the process, which cannot work without it."""
        try:
            self._start()
            await self._stopping.wait()
            await self._drain(self._runnables.always)
            await self._wait_for_release()
            await self._drain_background_tasks()
        finally:
            await self._end()
        if self._failure is not None:
            raise self._failure

    def _start(self) -> None:
        for controller in (*self._runnables.always, *self._runnables.leading):
            controller.join()
        for task in self._runnables.background_tasks:
            self._scope.spawn(task.run(), task.name)
        for number, provider in enumerate(self._runnables.providers):
            self._scope.spawn(provider.run(), f"provider {number}")
        for controller in self._runnables.always:
            self._scope.spawn(controller.run(None), controller.name)
        elector = self._elector
        lead = self._work(None) if elector is None else self._compete(elector)
        self._leading = self._scope.spawn(lead, "lead")

    async def _compete(self, elector: Elector) -> None:
        """Compete for the lease. A process that loses it while it stops does not compete again."""
        await elector.lead(partial(self._lead, elector), lambda: not self._stopping.is_set())

    async def _lead(self, elector: Elector, term: Term) -> None:
        """Work while the lease is held; a lost lease cancels this."""
        self.metrics.leading(elector.name, holds=True)
        try:
            await self._work(term)
        finally:
            self.metrics.leading(elector.name, holds=False)

    async def _work(self, term: Term | None) -> None:
        scope = Scope("leading", self._failed)
        try:
            for controller in self._runnables.leading:
                scope.spawn(controller.run(term), controller.name)
            await self._stopping.wait()
            await self._drain(self._runnables.leading)
        finally:
            await scope.close()

    async def _drain(self, controllers: Sequence[Controller]) -> None:
        deadline = asyncio.get_running_loop().time() + self._grace
        # Close all queues first: no controller may start a pass while another is drained.
        for controller in controllers:
            controller.queue.close()
        for controller in controllers:
            remaining = deadline - asyncio.get_running_loop().time()
            await controller.drain(max(remaining, 0.0))

    async def _wait_for_release(self) -> None:
        """Wait until the leader has ended its work and released the lease. A candidate does not wait."""
        leads = self._elector is None or self._elector.term is not None
        if leads and self._leading is not None:
            await asyncio.wait([self._leading])

    async def _drain_background_tasks(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._grace
        for task in self._runnables.background_tasks:
            if task.drain is not None:
                await task.drain(max(deadline - loop.time(), 0.0))

    async def _end(self) -> None:
        await self._scope.close()
        for clusters in reversed(self._runnables.engaged):
            await clusters.close()

    def _failed(self, task: str, why: BaseException) -> None:
        _log.error("task failed, the process ends", exc_info=why, extra={"task": task})
        self._failure = self._failure or why
        self._stopping.set()

    def _informers(self) -> list[InformerCounters]:
        return [
            replace(informer.counters(), role=clusters.role)
            for clusters in self._runnables.engaged
            for cluster in clusters
            for informer in cluster.informers
        ]

    def _cluster_problems(self) -> list[str]:
        return [problem for clusters in self._runnables.clusters for problem in clusters.problems()]

    def _provider_problems(self) -> list[str]:
        return [
            problem for provider in self._runnables.providers for problem in provider.problems()
        ]


def _check(runnables: Runnables) -> None:
    """Refuse a controller of a role that is not run: it would wait indefinitely and appear healthy."""
    for controller in (*runnables.always, *runnables.leading):
        roles = (controller.clusters, *(source.clusters for source in controller.sources))
        for clusters in roles:
            if clusters not in runnables.engaged:
                raise ValueError(
                    f"the controller {controller.name} works on the role {clusters.role}, "
                    "which is not in Runnables.clusters"
                )
