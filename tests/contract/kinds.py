"""Kinds of the suite's own, as CRDs that any server can be given.

A widget has everything a custom kind can have, a gadget nothing of it: no namespace, no status or
scale of its own. `RED` is the smallest spec of a widget.
"""

from typing import Any, Final

from kubekit.api.kinds.core import ConfigMap, Namespace, Secret
from kubekit.api.resource import Resource, Scale

Document = dict[str, Any]

GROUP: Final = "contract.datumapis.com"
CONFIG_MAP: Final = ConfigMap.RESOURCE
NAMESPACE: Final = Namespace.RESOURCE
SECRET: Final = Secret.RESOURCE
WIDGET: Final = Resource(
    group=GROUP,
    version="v1",
    kind="Widget",
    plural="widgets",
    short_names=("wdg",),
    status=True,
    scale=Scale(),
    selectable_fields=(".spec.colour", ".status.phase"),
)
GADGET: Final = Resource(
    group=GROUP, version="v1", kind="Gadget", plural="gadgets", namespaced=False
)

RED: Final[Document] = {"colour": "red"}

_PART: Final[Document] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "size": {"type": "integer", "default": 1},
    },
}
_SPEC: Final[Document] = {
    "type": "object",
    "required": ["colour"],
    "properties": {
        "colour": {"type": "string", "enum": ["red", "green", "blue"]},
        "replicas": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 1000},
        "title": {"type": "string", "minLength": 2, "maxLength": 10, "pattern": "^[a-z]+$"},
        "weight": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        "big": {"type": "integer", "format": "int64"},
        "enabled": {"type": "boolean", "default": True},
        "note": {"type": "string", "nullable": True},
        "port": {"x-kubernetes-int-or-string": True},
        "tags": {
            "type": "array",
            "maxItems": 3,
            "x-kubernetes-list-type": "set",
            "items": {"type": "string"},
        },
        "parts": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": _PART,
        },
        "options": {
            "type": "object",
            "default": {},
            "properties": {
                "mode": {"type": "string", "default": "fast"},
                "depth": {"type": "integer"},
            },
        },
        "words": {"type": "object", "additionalProperties": {"type": "string"}},
        "anything": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
_STATUS: Final[Document] = {
    "type": "object",
    "properties": {
        "phase": {"type": "string"},
        "replicas": {"type": "integer", "minimum": 0},
        "selector": {"type": "string"},
        "seen": {"type": "integer", "default": 0},
    },
}


def widget_crd() -> Document:
    """The kind with everything."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "selectableFields": [{"jsonPath": ".spec.colour"}, {"jsonPath": ".status.phase"}],
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector",
            },
        },
        "additionalPrinterColumns": [
            {"name": "Colour", "type": "string", "jsonPath": ".spec.colour"}
        ],
        "schema": {"openAPIV3Schema": _object({"spec": _SPEC, "status": _STATUS}, ["spec"])},
    }
    return _crd(WIDGET, version)


def gadget_crd() -> Document:
    """The kind with nothing."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = _object({"spec": free, "status": free}, [])
    return _crd(
        GADGET,
        {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
        },
    )


def _object(properties: Document, required: list[str]) -> Document:
    words = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
    schema: Document = {
        "type": "object",
        "properties": words | {"metadata": {"type": "object"}} | properties,
    }
    return schema | ({"required": required} if required else {})


def _crd(resource: Resource, version: Document) -> Document:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": resource.crd_name},
        "spec": {
            "group": resource.group,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "names": {
                "kind": resource.kind,
                "listKind": resource.list_kind,
                "plural": resource.plural,
                "singular": resource.singular,
            }
            | ({"shortNames": list(resource.short_names)} if resource.short_names else {}),
            "versions": [version],
        },
    }
