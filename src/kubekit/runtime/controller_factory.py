"""Makes the controllers of one process."""

from collections.abc import Sequence
from typing import Any, Final

from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.manager import BackgroundTask
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.reporting.tracing import Tracing
from kubekit.runtime.requests import Reconciler
from kubekit.runtime.sources import Source

_PLAIN: Final = ControllerSettings()


class ControllerFactory:
    """Makes controllers that share the clock, the metrics and the event recorders of one process.

    ``identity`` names the process in the events it writes.
    """

    def __init__(
        self,
        environment: ExecutionEnvironment,
        metrics: Metrics,
        identity: str,
        tracing: Tracing | None = None,
    ) -> None:
        self.environment = environment
        self.metrics = metrics
        self._identity = identity
        self._tracing = tracing
        self._recorders: dict[str, EventRecorder] = {}

    def recorder(self, controller: str) -> EventRecorder:
        """The event recorder of a controller: one for each name."""
        if controller not in self._recorders:
            recorder = EventRecorder(controller, self._identity, self.environment)
            self._recorders[controller] = recorder
        return self._recorders[controller]

    def controller(
        self,
        name: str,
        reconciler: Reconciler,
        clusters: Clusters,
        sources: Sequence[Source[Any]],
        settings: ControllerSettings = _PLAIN,
    ) -> Controller:
        """A controller that reports its own events through the recorder of its name."""
        return Controller(
            name,
            reconciler,
            clusters,
            sources,
            self.environment,
            self.metrics,
            settings,
            self.recorder(name),
            self._tracing,
        )

    def background_tasks(self) -> list[BackgroundTask]:
        """The tasks that run beside the controllers: they write their events."""
        return [
            BackgroundTask(f"events of {name}", recorder.run, recorder.drain)
            for name, recorder in self._recorders.items()
        ]
