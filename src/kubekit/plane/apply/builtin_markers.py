"""List and map types of Kubernetes' own kinds, which are missing in the schemas of this program.

    map:name   a list of objects, identified by this field
    set        a list of values
    atomic     an object that is one value

``[]`` stands for the entries of a list. Lists that are not named here are atomic. A few objects and
strings of these kinds exist even if no client wrote them, so a write to them does not create them:
they are in the blank document of the kind.
"""

from collections.abc import Mapping
from typing import Any, Final

from kubekit.api.resource import Resource
from kubekit.api.structural.nodes import Document, Schema

_Types = Mapping[str, str]

_WEBHOOKS: Final = {
    "webhooks": "map:name",
    "webhooks[].matchConditions": "map:name",
    "webhooks[].namespaceSelector": "atomic",
    "webhooks[].objectSelector": "atomic",
}
_CONDITIONS: Final = {"status.conditions": "map:type"}
_ADMISSION: Final = "admissionregistration.k8s.io"
_RBAC: Final = "rbac.authorization.k8s.io"
_TYPES: Final[Mapping[tuple[str, str], _Types]] = {
    ("", "Namespace"): _CONDITIONS,
    ("", "ServiceAccount"): {"secrets": "map:name", "secrets[]": "atomic"},
    ("", "Event"): {"involvedObject": "atomic", "related": "atomic"},
    ("", "ResourceQuota"): {"spec.scopeSelector": "atomic"},
    ("events.k8s.io", "Event"): {"regarding": "atomic", "related": "atomic"},
    (_RBAC, "RoleBinding"): {"roleRef": "atomic"},
    (_RBAC, "ClusterRoleBinding"): {"roleRef": "atomic"},
    (_ADMISSION, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "ValidatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "ValidatingAdmissionPolicy"): {
        **_CONDITIONS,
        "spec.matchConditions": "map:name",
        "spec.matchConstraints": "atomic",
        "spec.paramKind": "atomic",
        "spec.variables": "map:name",
        "spec.variables[]": "atomic",
    },
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): {
        "spec.matchResources": "atomic",
        "spec.paramRef": "atomic",
        "spec.validationActions": "set",
    },
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _CONDITIONS,
    ("apiregistration.k8s.io", "APIService"): _CONDITIONS,
}
_BLANKS: Final[Mapping[tuple[str, str], Document]] = {
    ("", "Namespace"): {"spec": {}, "status": {}},
    ("", "Event"): {
        "involvedObject": {},
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": None,
        "reportingComponent": "",
        "reportingInstance": "",
    },
    ("", "ResourceQuota"): {"spec": {}, "status": {}},
    ("", "LimitRange"): {"spec": {"limits": None}},
    ("events.k8s.io", "Event"): {
        "regarding": {},
        "deprecatedSource": {},
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
        "eventTime": None,
    },
    ("coordination.k8s.io", "Lease"): {"spec": {}},
    ("apiextensions.k8s.io", "CustomResourceDefinition"): {
        "spec": {"names": {}},
        "status": {"acceptedNames": {}, "conditions": None, "storedVersions": None},
    },
    (_RBAC, "Role"): {"rules": None},
    (_RBAC, "ClusterRole"): {"rules": None},
    (_ADMISSION, "ValidatingAdmissionPolicy"): {"spec": {}, "status": {}},
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): {"spec": {}},
}
_NEWBORN: Final[Mapping[tuple[str, str], Document]] = {
    ("", "Namespace"): {"spec": {"finalizers": ["kubernetes"]}, "status": {}},
}
_NONE: Final[_Types] = {}


def annotated(resource: Resource, schema: Schema) -> Schema:
    """The schema of a built-in kind, with Kubernetes' types of its lists and maps."""
    types = _TYPES.get((resource.group, resource.kind), _NONE)
    return _annotated(schema, "", types) if types else schema


def blank(resource: Resource) -> Document:
    """The document of the kind before any field is written."""
    return _BLANKS.get((resource.group, resource.kind), {})


def newborn(resource: Resource) -> Document:
    """The blank document with the fields that the server sets on creation, which have no owner."""
    return _NEWBORN.get((resource.group, resource.kind), {})


def _annotated(schema: Schema, path: str, types: _Types) -> Schema:
    annotated_schema: dict[str, Any] = dict(schema)
    if properties := schema.get("properties"):
        inside = f"{path}." if path else ""
        annotated_schema["properties"] = {
            name: _annotated(inner, f"{inside}{name}", types) for name, inner in properties.items()
        }
    if items := schema.get("items"):
        annotated_schema["items"] = _annotated(items, f"{path}[]", types)
    kind, _, key = types.get(path, "").partition(":")
    if kind == "atomic":
        annotated_schema["x-kubernetes-map-type"] = kind
    elif kind:
        annotated_schema |= {
            "x-kubernetes-list-type": kind,
            "x-kubernetes-list-map-keys": [key] if key else [],
        }
    return annotated_schema
