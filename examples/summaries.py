"""A small controller: beside each Workload it keeps a ConfigMap that lists the requested cities.

    .venv/bin/python examples/summaries.py KUBECONFIG [PORT]

It runs against any Kubernetes API that has our CRDs. Of two processes one works, and the other takes
over when the first ends. /readyz, /healthz and /metrics are at PORT on the loopback.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from msgspec.structs import replace

from compute.api.compute import Workload
from compute.app import logs
from compute.app.system_environment import system
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.client import HttpClient, HttpSettings, load_kubeconfig
from kubekit.runtime import (
    DONE,
    Clusters,
    Controller,
    ControllerFactory,
    Elector,
    EventRecorder,
    Manager,
    Metrics,
    Request,
    Result,
    Runnables,
    own,
    owned,
)
from kubekit.runtime.election import ElectionSettings
from kubekit.runtime.providers.fixed import FixedCluster
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.serving.listen_address import ListenAddress
from kubekit.runtime.serving.probes import Probes


class SummaryReconciler:
    """Keeps one summary for each Workload."""

    def __init__(self, clusters: Clusters, recorder: EventRecorder) -> None:
        self._clusters = clusters
        self._recorder = recorder

    async def reconcile(self, request: Request) -> Result:
        """Read the cache, decide, and write the difference. Each change requests it again."""
        cluster = self._clusters.get(request.cluster)
        workload = cluster.informers.of(Workload).cache.get(request.namespace, request.name)
        if workload is None or workload.deleting:
            return DONE  # the garbage collector deletes the summary
        name = f"{request.name}-summary"
        summary = cluster.informers.of(ConfigMap).cache.get(request.namespace, name)
        if summary is not None:
            desired = replace(summary, data=cities_of(workload))
            await cluster.client.patch(summary, desired)  # sends nothing if nothing differs
            return DONE
        # A cache may be behind: read the owner live before a create.
        owner = await cluster.client.find(Workload, request.name, request.namespace)
        if owner is not None and not owner.deleting:
            reference = owner.reference(controller=True)
            metadata = ObjectMeta(
                name=name, namespace=request.namespace, owner_references=(reference,)
            )
            await cluster.client.create(ConfigMap(metadata=metadata, data=cities_of(owner)))
            note = f"Created the ConfigMap {name}"
            self._recorder.event(cluster.client, owner, "Normal", "Summarised", note, "Summarise")
        return DONE


def cities_of(workload: Workload) -> dict[str, str]:
    return {
        placement.name: ",".join(placement.city_codes) for placement in workload.spec.placements
    }


def controller(factory: ControllerFactory, clusters: Clusters) -> Controller:
    """The controller: a change of a Workload, or of a ConfigMap it owns, requests the Workload."""
    reconciler = SummaryReconciler(clusters, factory.recorder("summaries"))
    sources = [own(Workload, clusters), owned(ConfigMap, clusters, Workload)]
    return factory.controller("summaries", reconciler, clusters, sources)


async def main(kubeconfig: Path, port: int) -> None:
    """Run the controller until SIGINT or SIGTERM, whenever this process holds the lease."""
    environment, metrics, identity = system(), Metrics(), f"summaries-{os.getpid()}"
    connection = load_kubeconfig(environment, [kubeconfig])
    settings = HttpSettings(observe=metrics.requested)
    clusters = Clusters("project", environment)
    factory = ControllerFactory(environment, metrics, identity)
    summaries = controller(factory, clusters)
    client = HttpClient(connection, environment, settings)
    runnables = Runnables(
        clusters=[clusters],
        providers=[FixedCluster(clusters, cluster_name("project"), client)],
        leading=[summaries],
        background_tasks=factory.background_tasks(),
    )
    async with HttpClient(connection, environment, settings) as lease_client:
        lease = ElectionSettings(name="summaries", namespace="default")
        elector = Elector(lease_client, identity, environment, lease)
        manager = Manager(runnables, elector, metrics)
        probes = Probes(manager.health, metrics.text, ListenAddress("127.0.0.1", port))
        await probes.start()
        print(f"http://{probes.address}/readyz", flush=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, manager.stop)
        try:
            await manager.run()
        finally:
            await probes.close()


if __name__ == "__main__":
    with logs.log_to_stderr("info"):
        asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))  # noqa: PLR2004
