"""How the lists and maps of Kubernetes' own kinds are owned; their schemas here do not say it.

    map:name   a list of objects, told apart by this field
    set        a list of values
    atomic     an object that is one value

``[]`` stands for the entries of a list. Lists that are not named here are one value. A few objects
and texts of these kinds exist even where nobody wrote them, so writing into them does not make
them: the blank document of a kind has them.
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
    """The schema of a built-in kind, with what Kubernetes says of its lists and maps."""
    types = _TYPES.get((resource.group, resource.kind), _NONE)
    return _annotated(schema, "", types) if types else schema


def blank(resource: Resource) -> Document:
    """A document of the kind before anybody wrote anything."""
    return _BLANKS.get((resource.group, resource.kind), {})


def newborn(resource: Resource) -> Document:
    """A document of the kind with what the server adds to a new one, which is then nobody's."""
    return _NEWBORN.get((resource.group, resource.kind), {})


def _annotated(schema: Schema, path: str, types: _Types) -> Schema:
    found: dict[str, Any] = dict(schema)
    if properties := schema.get("properties"):
        inside = f"{path}." if path else ""
        found["properties"] = {
            name: _annotated(inner, f"{inside}{name}", types) for name, inner in properties.items()
        }
    if items := schema.get("items"):
        found["items"] = _annotated(items, f"{path}[]", types)
    kind, _, key = types.get(path, "").partition(":")
    if kind == "atomic":
        found["x-kubernetes-map-type"] = kind
    elif kind:
        found |= {
            "x-kubernetes-list-type": kind,
            "x-kubernetes-list-map-keys": [key] if key else [],
        }
    return found
