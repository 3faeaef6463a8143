"""An operator as people write them with kopf: it keeps a logbook for each boat.

    kopf run --standalone --namespace=<namespace> tests/support/kubekit/boat_operator.py

Each handler writes something to the API, so that a test can see that it was called.
"""

from typing import Any

import kopf
from kubernetes import client, config

GROUP, VERSION, PLURAL = "harbour.test", "v1", "boats"
DEFINITION: Any = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Boat", "plural": PLURAL, "singular": "boat"},
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["port"],
                                "properties": {"port": {"type": "string", "minLength": 1}},
                            },
                            "status": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                                "properties": {"at": {"type": "string"}},
                            },
                        },
                    }
                },
            }
        ],
    },
}


@kopf.on.startup()
def begin(settings: kopf.OperatorSettings, **_: Any) -> None:
    """Use the kubeconfig that the framework uses."""
    settings.persistence.finalizer = f"{GROUP}/logbook"
    config.load_kube_config()


@kopf.on.create(GROUP, VERSION, PLURAL)
def launch(body: kopf.Body, spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
    """Create a logbook that the boat owns, and report its position."""
    book = _config_map(f"{body.metadata.name}-logbook", spec["port"])
    kopf.adopt(book)
    client.CoreV1Api().create_namespaced_config_map(str(body.metadata.namespace), book)
    patch.status["at"] = spec["port"]
    kopf.info(body, reason="Launched", message=f"It lies in {spec['port']}.")


@kopf.on.update(GROUP, VERSION, PLURAL, field="spec.port")
def sail(old: Any, new: Any, patch: kopf.Patch, **_: Any) -> None:
    """Report the new position and the previous one."""
    patch.status["at"] = new
    patch.status["from"] = old


@kopf.on.delete(GROUP, VERSION, PLURAL)
def sink(name: str, namespace: str | None, spec: kopf.Spec, **_: Any) -> None:
    """Create a wreck before the boat is released."""
    wreck = _config_map(f"{name}-wreck", spec["port"])
    client.CoreV1Api().create_namespaced_config_map(str(namespace), wreck)


def _config_map(name: str, port: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data={"port": port})
