"""A kind without a class, and its manifests: kites, with a status and a scale."""

from typing import Any

import yaml

DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: kites.example.test
spec:
  group: example.test
  scope: Namespaced
  names: {kind: Kite, listKind: KiteList, plural: kites, singular: kite, shortNames: [kt]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.tails, statusReplicasPath: .status.tails}
    additionalPrinterColumns:
    - {name: Colour, type: string, jsonPath: .spec.colour}
    - {name: Tails, type: integer, jsonPath: .spec.tails}
    - {name: Maker, type: string, jsonPath: .spec.maker, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A kite on a string.
        required: [spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            description: How it is built.
            required: [colour]
            properties:
              colour:
                type: string
                description: The colour of its sail.
                enum: [red, green, blue]
              tails: {type: integer, minimum: 0, default: 1}
              maker: {type: string}
          status:
            type: object
            properties:
              tails: {type: integer}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status]
                  properties:
                    type: {type: string}
                    status: {type: string}
                    reason: {type: string}
                    message: {type: string}
                    lastTransitionTime: {type: string, format: date-time}
"""


def kite(name: str, **spec: Any) -> str:
    """The manifest of a red kite."""
    document = {
        "apiVersion": "example.test/v1",
        "kind": "Kite",
        "metadata": {"name": name, "labels": {"line": "long"}},
        "spec": {"colour": "red", "maker": "anna", **spec},
    }
    return yaml.safe_dump(document)


def namespace_manifest(name: str) -> str:
    return yaml.safe_dump({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def config_map(name: str, owner: tuple[str, str] | None = None, **data: str) -> str:
    """The manifest of a config map, owned by another one if its name and uid are given."""
    metadata: dict[str, Any] = {"name": name}
    if owner is not None:
        metadata["ownerReferences"] = [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": owner[0],
                "uid": owner[1],
                "blockOwnerDeletion": True,
            }
        ]
    return yaml.safe_dump(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    )


def event(kite: str, uid: str, namespace: str) -> str:
    """The manifest of an event about a kite."""
    document = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{kite}.1"},
        "involvedObject": {
            "apiVersion": "example.test/v1",
            "kind": "Kite",
            "name": kite,
            "namespace": namespace,
            "uid": uid,
        },
        "reason": "Flown",
        "message": "It went up.",
        "type": "Normal",
        "count": 1,
        "firstTimestamp": "2026-06-01T00:00:00Z",
        "lastTimestamp": "2026-06-01T00:00:00Z",
        "source": {"component": "wind"},
    }
    return yaml.safe_dump(document)
