"""Controllers over many clusters: caches, work queues, leader election, events and metrics.

    Clusters           the clusters of one role; they come and go while controllers run
    ControllerFactory  makes the controllers of one process: shared clock, metrics and events
    Controller         watches sources, queues requests and calls one reconciler
    ControllerSettings workers, backoff, time limit and the other numbers of one controller
    own, owned, mapped sources: which request a change of an object leads to
    Reconciler         the protocol of the code that brings one object to its desired state
    Request            the object to reconcile: cluster, namespace and name, never an event
    Result, DONE       the end of a reconcile pass, with or without ``requeue_after``
    TerminalError      an error that no retry can cure
    EventRecorder      reports to the user what happens to an object
    Manager            runs the `Runnables` of one process, and leads if it has an `Elector`
    Metrics            the numbers of one process, as Prometheus reads them

Start reading with `requests`, `sources` and `controller`: how a change becomes a request, and a request a
reconcile pass. `manager` runs the controllers of a process. In the folders: `watching` has informers
and caches, `queueing` the work queue and the workers, `reconciling` the pass and its writes,
`providers` the sources of clusters, and `reporting` events, metrics and health.

`docs/kubekit.md` shows a whole controller and its test, `docs/requeue.md` when a request is
reconciled again. A name is imported when it is first used, because a command that needs the types of
requests only should not load the metrics.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubekit.runtime.clusters import Clusters
    from kubekit.runtime.controller import Controller
    from kubekit.runtime.controller_factory import ControllerFactory
    from kubekit.runtime.election import Elector
    from kubekit.runtime.manager import Manager, Runnables
    from kubekit.runtime.reporting.events import EventRecorder
    from kubekit.runtime.reporting.metrics import Metrics
    from kubekit.runtime.requests import DONE, Reconciler, Request, Result, TerminalError
    from kubekit.runtime.settings import ControllerSettings
    from kubekit.runtime.sources import mapped, own, owned
else:
    _MODULES: Final = {
        "DONE": "requests",
        "Clusters": "clusters",
        "Controller": "controller",
        "ControllerFactory": "controller_factory",
        "ControllerSettings": "settings",
        "Elector": "election",
        "EventRecorder": "reporting.events",
        "Manager": "manager",
        "Metrics": "reporting.metrics",
        "Reconciler": "requests",
        "Request": "requests",
        "Result": "requests",
        "Runnables": "manager",
        "TerminalError": "requests",
        "mapped": "sources",
        "own": "sources",
        "owned": "sources",
    }

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


__all__ = [
    "DONE",
    "Clusters",
    "Controller",
    "ControllerFactory",
    "ControllerSettings",
    "Elector",
    "EventRecorder",
    "Manager",
    "Metrics",
    "Reconciler",
    "Request",
    "Result",
    "Runnables",
    "TerminalError",
    "mapped",
    "own",
    "owned",
]
