"""The objects of the benchmark: Instances of 1.2 KB, as a deployment makes them."""

from typing import Any, Final

import msgspec

STAMP: Final = "bench/sent"  # the annotation that tells a watcher when the write was sent
NO_TIME: Final = b"0" * 20

_IN_NAMESPACE: Final = "/apis/compute.datumapis.com/v1alpha/namespaces/{}/instances"
_NAME: Final = b"name-of-twenty-bytes"
_CONDITIONS: Final = ("Programmed", "Available", "Ready", "QuotaGranted")


def collection(namespace: str) -> str:
    """The path of the Instances of one namespace."""
    return _IN_NAMESPACE.format(namespace)


def document(namespace: str, name: str) -> dict[str, Any]:
    """One Instance as it is created."""
    label = "compute.datumapis.com/"
    return {
        "apiVersion": "compute.datumapis.com/v1alpha",
        "kind": "Instance",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {STAMP: NO_TIME.decode()},
            "labels": {
                "app": "edge-cache",
                label + "instance-index": "1",
                label + "workload-uid": "9a2b8a0e-2f0a-4b4b-8a47-6a1de0f1f0aa",
                label + "workload-name": "edge-cache",
                label + "workload-deployment-uid": "5f0c1d0e-8b7a-4c57-9a53-0f3e2f0a7d21",
                label + "workload-deployment-name": "edge-cache-americas-dfw",
                label + "placement-name": "americas",
                label + "city-code": "DFW",
            },
        },
        "spec": {
            "controller": {"templateHash": "54af0b1e6e50dec3"},
            "networkInterfaces": [{"network": {"name": "default"}}],
            "runtime": {
                "resources": {"instanceType": "datumcloud/d1-standard-2"},
                "sandbox": {"containers": [_container()]},
            },
        },
    }


def status() -> dict[str, Any]:
    """The status that an update writes."""
    return {
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "lastTransitionTime": "2026-06-01T00:00:00Z",
                "reason": "Available",
                "message": "The Instance is running",
            }
            for kind in _CONDITIONS
        ],
        "controller": {"observedTemplateHash": "54af0b1e6e50dec3"},
    }


class Body:
    """The JSON of a new Instance. Only the name and the time of sending are written each time."""

    def __init__(self, namespace: str) -> None:
        whole = msgspec.json.encode(document(namespace, _NAME.decode()))
        # The name comes first, the stamp follows; what is between them stays as it is.
        self._head, rest = whole.split(_NAME)
        self._middle, self._tail = rest.split(NO_TIME)

    def named(self, name: bytes, sent: int = 0) -> bytes:
        return b"".join((self._head, name, self._middle, b"%020d" % sent, self._tail))


def _container() -> dict[str, Any]:
    return {
        "name": "cache",
        "image": "registry.example.test/edge/cache:2026.06",
        "env": [{"name": f"SETTING_{n}", "value": "x" * 20} for n in range(5)],
        "ports": [{"name": "http", "port": 80}, {"name": "metrics", "port": 9102}],
    }
