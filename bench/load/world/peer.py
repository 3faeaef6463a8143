"""The same with Kubernetes: a Parallel StatefulSet under kube-controller-manager, its Pods under kwok.

    etcd <-- kube-apiserver <-- kube-controller-manager    makes and removes Pods
                            <-- kwok                       says that they are Ready, and lets them go

Everything is real and runs on this machine, on loopback ports, out of the cache of `make peers`. No
limit of clients is in force, and etcd syncs to disk, as our planes do. Pods name their node, so no
scheduler is needed. Processes are ended by their own ids.
"""

import http.client
import json
import select
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from bench.load.servers import cpu
from bench.load.world.results import Pods
from tests.peers.children import program
from tests.peers.server import Server
from tools.peers import catalog

_NEEDED: Final = ("etcd", "kube-apiserver", "kube-controller-manager", "kwok")
_CONTROLLERS: Final = ("statefulset", "garbagecollector", "namespace", "serviceaccount")
_UNLIMITED: Final[dict[str, object]] = {"kube-api-qps": 100_000, "kube-api-burst": 100_000}
_NODE: Final = "node-0"
_SETS: Final = "/apis/apps/v1/namespaces/default/statefulsets"
_START: Final = 90.0  # seconds for the servers
_PATIENCE: Final = 600.0  # seconds for all Pods
_LOOK: Final = 0.05


class Late(Exception):
    """Something did not happen in time. Says what."""


class Cluster(Server):
    """The programs of a cluster whose nodes are kwok's."""

    def start(self) -> dict[str, str]:
        self.logs.mkdir()
        self._api.make_pki()
        self._spawn(self._etcd.program(durable=True))
        self._spawn(self._api.server()).until(self._api.ready, _START)
        self._spawn(self._api.controllers(_CONTROLLERS, _UNLIMITED))
        flags = {"kubeconfig": self._api.kubeconfig("admin"), "manage-all-nodes": "true"}
        self._spawn(program("kwok", self._binaries / "kwok", flags))
        return {}

    def busy(self) -> float:
        """Seconds of CPU that all of them have used."""
        return sum(cpu(child.pid) for child in self._children)

    @contextmanager
    def asking(self) -> Iterator["_Asking"]:
        """A connection to the API, as its administrator."""
        access = self._api.access("admin")
        assert access.certificate is not None
        trust = ssl.create_default_context(cafile=access.authority)
        trust.load_cert_chain(access.certificate, access.key)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self._api.port, context=trust, timeout=_START
        )
        try:
            yield _Asking(connection)
        finally:
            connection.close()


class _Asking:
    """Requests on one connection."""

    def __init__(self, connection: http.client.HTTPSConnection) -> None:
        self._connection = connection

    def get(self, path: str) -> dict[str, Any] | None:
        """The document; None where there is none."""
        return self._ask("GET", path, None)

    def post(self, path: str, document: dict[str, Any]) -> None:
        self._ask("POST", path, document)

    def delete(self, path: str) -> None:
        """Delete it with all that it owns: it goes last."""
        self._ask("DELETE", path, {"propagationPolicy": "Foreground"})

    def _ask(self, verb: str, path: str, document: dict[str, Any] | None) -> dict[str, Any] | None:
        body = None if document is None else json.dumps(document)
        self._connection.request(verb, path, body, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        said: dict[str, Any] = json.loads(answer.read())
        if answer.status == http.HTTPStatus.NOT_FOUND:
            return None
        if answer.status >= http.HTTPStatus.BAD_REQUEST:
            raise SystemExit(f"{verb} {path}: {said.get('message', said)}")
        return said


def absent() -> str:
    """Why there is no peer here; empty where there is one."""
    place = catalog.folder()
    lacking = [each.name for each in catalog.missing(catalog.chosen(_NEEDED), place)]
    return (
        f"{', '.join(lacking)} not built: make peers NAMES='{' '.join(lacking)}'" if lacking else ""
    )


def measured(folder: Path, count: int) -> Pods:
    """So many Pods come and go in a new cluster."""
    cluster = Cluster(catalog.folder() / "bin", folder)
    try:
        cluster.start()
        with cluster.asking() as ask:
            ask.post("/api/v1/nodes", {"metadata": {"name": _NODE}})
            _come_and_go(cluster, ask, 1)  # then all components have synced their caches
            return _come_and_go(cluster, ask, count)
    finally:
        cluster.stop()


def _come_and_go(cluster: Cluster, ask: _Asking, count: int) -> Pods:
    name = f"bench-{count}"
    busy = cluster.busy()
    ask.post(_SETS, stateful_set(name, count))
    grown = _until(cluster, lambda: _ready(ask, name) == count, f"{count} Pods to be Ready")
    grown_cpu = cluster.busy() - busy
    ask.delete(f"{_SETS}/{name}")
    gone = _until(cluster, lambda: ask.get(f"{_SETS}/{name}") is None, f"{count} Pods to go")
    return Pods(count, grown, grown_cpu, gone, cluster.busy() - busy - grown_cpu)


def stateful_set(name: str, count: int) -> dict[str, Any]:
    """A StatefulSet whose Pods come and go all at once."""
    labels = {"app": name}
    container = {"name": "app", "image": "registry.test/app:1"}
    pod = {"nodeName": _NODE, "containers": [container]}
    return {
        "metadata": {"name": name},
        "spec": {
            "replicas": count,
            "serviceName": name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def _ready(ask: _Asking, name: str) -> int:
    found = ask.get(f"{_SETS}/{name}") or {}
    count: int = found.get("status", {}).get("readyReplicas", 0)
    return count


def _until(cluster: Cluster, true: Callable[[], bool], goal: str) -> float:
    """Seconds until the condition holds. A program that ends meanwhile ends the wait."""
    started = time.monotonic()
    while not true():
        cluster.check()
        if time.monotonic() - started > _PATIENCE:
            raise Late(f"after {_PATIENCE:g} s still waiting for {goal}")
        select.select((), (), (), _LOOK)
    return time.monotonic() - started
