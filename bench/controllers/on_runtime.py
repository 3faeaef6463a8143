"""The controller on our runtime.

    python bench/controllers/on_runtime.py KUBECONFIG COUNT CONTEXT...   one cluster for each context

It prints ``done`` once it has written COUNT statuses.

What it makes follows a live read of the parent, as every controller of ours does it.
"""

import asyncio
import logging
import signal
import sys
from pathlib import Path

import msgspec
import uvloop
from prometheus_client import CollectorRegistry

from bench.controllers.parents import CHILD_DATA, Parent, ParentStatus
from compute.app.process import tune_interpreter
from compute.app.system_environment import system
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller import Controller, ControllerSettings
from kubekit.runtime.manager import Manager, Runnables
from kubekit.runtime.providers.fixed import FixedCluster
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import DONE, Request, Result, cluster_name
from kubekit.runtime.sources import own, owned


class OneChild:
    """Keeps one child for each parent, and reports it in the parent's status."""

    def __init__(self, clusters: Clusters, count: int) -> None:
        self._clusters = clusters
        self._left = count

    async def reconcile(self, request: Request) -> Result:
        cluster = self._clusters.get(request.cluster)
        parent = cluster.informers.of(Parent).cache.get(request.namespace, request.name)
        if parent is None or parent.deleting:
            return DONE
        if cluster.informers.of(ConfigMap).cache.get(request.namespace, request.name) is None:
            parent = await cluster.client.find(Parent, request.name, request.namespace)
            if parent is None or parent.deleting:
                return DONE
            await cluster.client.create(_child(parent))
        wanted = ParentStatus(child=request.name)
        if parent.status == wanted:
            return DONE
        await cluster.client.patch_status(parent, msgspec.structs.replace(parent, status=wanted))
        self._left -= 1
        if self._left == 0:
            print("done", flush=True)
        return DONE


def _child(parent: Parent) -> ConfigMap:
    metadata = ObjectMeta(
        name=parent.metadata.name,
        namespace=parent.metadata.namespace,
        owner_references=(parent.reference(controller=True, block_owner_deletion=True),),
    )
    return ConfigMap(metadata=metadata, data=CHILD_DATA)


async def main(kubeconfig: Path, count: int, contexts: list[str]) -> None:
    environment = system()
    clusters = Clusters("bench", environment)
    sources = [own(Parent, clusters), owned(ConfigMap, clusters, Parent)]
    controller = Controller(
        "one-child",
        OneChild(clusters, count),
        clusters,
        sources,
        environment,
        Metrics(CollectorRegistry()),
        ControllerSettings(workers=128),  # kopf has one for each object
    )
    program = Runnables(clusters=[clusters], leading=[controller])
    for context in contexts:
        client = HttpClient(load(environment, [kubeconfig], context), environment)
        program.providers.append(FixedCluster(clusters, cluster_name(context), client))
    manager = Manager(program)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, manager.stop)
    tune_interpreter()
    print("started", flush=True)
    await manager.run()


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    uvloop.run(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
