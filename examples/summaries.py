"""A small controller: beside each Workload it keeps a ConfigMap that lists the cities it asks for.

    .venv/bin/python examples/summaries.py KUBECONFIG [PORT]

It runs against any Kubernetes API that has our CRDs. Started twice, one copy works and the other
takes over when the first ends. /readyz, /healthz and /metrics are at PORT on the loopback.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec

from compute.api.compute import Workload
from compute.app import logs
from compute.app.system_environment import system
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.client.http.client import HttpClient
from kubekit.client.http.settings import HttpSettings
from kubekit.client.kubeconfig import load
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.election import ElectionSettings, Elector
from kubekit.runtime.manager import BackgroundTask, Manager, Runnables
from kubekit.runtime.providers.fixed import FixedCluster
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.reporting.probes import Probes, ProbeSettings
from kubekit.runtime.requests import DONE, Request, Result, cluster_name
from kubekit.runtime.sources import own, owned

NAME = "example.com/summaries"


class Summaries:
    """Keeps one summary for each Workload."""

    def __init__(self, clusters: Clusters, recorder: EventRecorder) -> None:
        self._clusters = clusters
        self._recorder = recorder

    async def reconcile(self, request: Request) -> Result:
        """Read the cache, decide, and write what differs. It is asked again at every change."""
        cluster = self._clusters.get(request.cluster)
        workload = cluster.informers.of(Workload).cache.get(request.namespace, request.name)
        if workload is None or workload.deleting:
            return DONE  # what it owns goes with it
        name = f"{request.name}-summary"
        summary = cluster.informers.of(ConfigMap).cache.get(request.namespace, name)
        if summary is not None:
            wanted = msgspec.structs.replace(summary, data=_cities(workload))
            await cluster.client.patch(summary, wanted)  # sends nothing where nothing differs
            return DONE
        # A cache may be behind: before something is made, its owner is read live.
        live = await cluster.client.find(Workload, request.name, request.namespace)
        if live is not None and not live.deleting:
            await cluster.client.create(_summary(live, name))
            note = f"the summary is in the ConfigMap {name}"
            self._recorder.event(cluster.client, live, "Normal", "Summarised", note, "Summarise")
        return DONE


def _cities(workload: Workload) -> dict[str, str]:
    return {
        placement.name: ",".join(placement.city_codes) for placement in workload.spec.placements
    }


def _summary(workload: Workload, name: str) -> ConfigMap:
    metadata = ObjectMeta(
        name=name,
        namespace=workload.metadata.namespace,
        owner_references=(workload.reference(controller=True),),
    )
    return ConfigMap(metadata=metadata, data=_cities(workload))


async def main(kubeconfig: Path, port: int) -> None:
    """Put the parts together, and run until a signal stops them."""
    environment, metrics = system(), Metrics()
    connection, settings = load(environment, [kubeconfig]), HttpSettings(observe=metrics.requested)
    identity = f"summaries-{os.getpid()}"
    clusters = Clusters("project", environment)
    recorder = EventRecorder(NAME, identity, environment)
    sources = [own(Workload, clusters), owned(ConfigMap, clusters, Workload)]
    controller = Controller(
        "summaries",
        Summaries(clusters, recorder),
        clusters,
        sources,
        environment,
        metrics,
        recorder=recorder,
    )
    program = Runnables(
        clusters=[clusters],
        providers=[
            FixedCluster(
                clusters, cluster_name("home"), HttpClient(connection, environment, settings)
            )
        ],
        leading=[controller],
        background_tasks=[BackgroundTask("events", recorder.run, recorder.drain)],
    )
    async with HttpClient(connection, environment, settings) as client:
        lease = ElectionSettings(name="summaries", namespace="default")
        manager = Manager(program, Elector(client, identity, environment, lease), metrics)
        probes = Probes(manager.health, metrics.text, ProbeSettings(port=port))
        host, bound = await probes.start()
        print(f"http://{host}:{bound}/readyz", flush=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, manager.stop)
        try:
            await manager.run()
        finally:
            await probes.close()


if __name__ == "__main__":
    with logs.shown("info"):
        asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))  # noqa: PLR2004
