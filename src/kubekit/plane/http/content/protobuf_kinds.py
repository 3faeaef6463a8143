"""The field numbers of the built-in kinds, as Kubernetes publishes them in its .proto files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Type = Literal[
    "text", "texts", "number", "flag", "base64", "raw", "time", "microtime", "message", "map"
]
Message = Mapping[int, "Field"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field. An ``optional`` field distinguishes zero from absent."""

    name: str
    type: Type = "text"
    message: Message = field(default_factory=dict)
    repeated: bool = False
    optional: bool = False
    entries: Type = "text"


def _texts(*names: str) -> dict[int, Field]:
    """Fields of text, numbered from 1."""
    return {number: Field(name) for number, name in enumerate(names, 1)}


def _part(name: str, message: Message) -> Field:
    return Field(name, "message", message)


def _parts(name: str, message: Message) -> Field:
    return Field(name, "message", message, repeated=True)


def _optional(name: str, message: Message) -> Field:
    """A message field that has a meaning even when it is empty."""
    return Field(name, "message", message, optional=True)


def _maybe(name: str, kind: Type) -> Field:
    return Field(name, kind, optional=True)


ENVELOPE: Final[Message] = {
    1: _part("typeMeta", _texts("apiVersion", "kind")),
    2: Field("raw", "raw"),
    3: Field("contentEncoding"),
    4: Field("contentType"),
}

_OWNER: Final[Message] = {
    1: Field("kind"),
    3: Field("name"),
    4: Field("uid"),
    5: Field("apiVersion"),
    6: _maybe("controller", "flag"),
    7: _maybe("blockOwnerDeletion", "flag"),
}
# Field 17, managedFields, is set by the server: a client's value is dropped anyway.
_METADATA: Final = _part(
    "metadata",
    {
        1: Field("name"),
        2: Field("generateName"),
        3: Field("namespace"),
        5: Field("uid"),
        6: Field("resourceVersion"),
        7: Field("generation", "number"),
        8: Field("creationTimestamp", "time"),
        9: Field("deletionTimestamp", "time"),
        10: _maybe("deletionGracePeriodSeconds", "number"),
        11: Field("labels", "map"),
        12: Field("annotations", "map"),
        13: _parts("ownerReferences", _OWNER),
        14: Field("finalizers", repeated=True),
    },
)
_REFERENCE: Final = _texts(
    "kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"
)
_SOURCE: Final = _texts("component", "host")
_SERIES: Final[Message] = {1: Field("count", "number"), 2: Field("lastObservedTime", "microtime")}

_CONFIG_MAP: Final[Message] = {
    1: _METADATA,
    2: Field("data", "map"),
    3: Field("binaryData", "map", entries="base64"),
    4: _maybe("immutable", "flag"),
}
_SECRET: Final[Message] = {
    1: _METADATA,
    2: Field("data", "map", entries="base64"),
    3: Field("type"),
    4: Field("stringData", "map"),
    5: _maybe("immutable", "flag"),
}
_NAMESPACE_CONDITION: Final[Message] = {
    1: Field("type"),
    2: Field("status"),
    4: Field("lastTransitionTime", "time"),
    5: Field("reason"),
    6: Field("message"),
}
_NAMESPACE: Final[Message] = {
    1: _METADATA,
    2: _part("spec", {1: Field("finalizers", repeated=True)}),
    3: _part("status", {1: Field("phase"), 2: _parts("conditions", _NAMESPACE_CONDITION)}),
}
_SERVICE_ACCOUNT: Final[Message] = {
    1: _METADATA,
    2: _parts("secrets", _REFERENCE),
    3: _parts("imagePullSecrets", _texts("name")),
    4: _maybe("automountServiceAccountToken", "flag"),
}
_CORE_EVENT: Final[Message] = {
    1: _METADATA,
    2: _part("involvedObject", _REFERENCE),
    3: Field("reason"),
    4: Field("message"),
    5: _part("source", _SOURCE),
    6: Field("firstTimestamp", "time"),
    7: Field("lastTimestamp", "time"),
    8: Field("count", "number"),
    9: Field("type"),
    10: Field("eventTime", "microtime"),
    11: _part("series", _SERIES),
    12: Field("action"),
    13: _part("related", _REFERENCE),
    14: Field("reportingComponent"),
    15: Field("reportingInstance"),
}
_EVENT: Final[Message] = {
    1: _METADATA,
    2: Field("eventTime", "microtime"),
    3: _part("series", _SERIES),
    4: Field("reportingController"),
    5: Field("reportingInstance"),
    6: Field("action"),
    7: Field("reason"),
    8: _part("regarding", _REFERENCE),
    9: _part("related", _REFERENCE),
    10: Field("note"),
    11: Field("type"),
    12: _part("deprecatedSource", _SOURCE),
    13: Field("deprecatedFirstTimestamp", "time"),
    14: Field("deprecatedLastTimestamp", "time"),
    15: Field("deprecatedCount", "number"),
}
_LEASE: Final[Message] = {
    1: _METADATA,
    2: _part(
        "spec",
        {
            1: _maybe("holderIdentity", "text"),
            2: _maybe("leaseDurationSeconds", "number"),
            3: Field("acquireTime", "microtime"),
            4: Field("renewTime", "microtime"),
            5: _maybe("leaseTransitions", "number"),
            6: Field("strategy"),
            7: Field("preferredHolder"),
        },
    ),
}
_SELECTOR_REQUIREMENT: Final[Message] = {
    1: Field("key"),
    2: Field("operator"),
    3: Field("values", repeated=True),
}
_LABEL_SELECTOR: Final[Message] = {
    1: Field("matchLabels", "map"),
    2: _parts("matchExpressions", _SELECTOR_REQUIREMENT),
}
_RULES: Final = _parts(
    "rules",
    {
        number: Field(name, repeated=True)
        for number, name in enumerate(
            ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"), 1
        )
    },
)
_ROLE: Final[Message] = {
    1: _METADATA,
    2: _RULES,
    3: _optional("aggregationRule", {1: _parts("clusterRoleSelectors", _LABEL_SELECTOR)}),
}
_BINDING: Final[Message] = {
    1: _METADATA,
    2: _parts("subjects", _texts("kind", "apiGroup", "name", "namespace")),
    3: _part("roleRef", _texts("apiGroup", "kind", "name")),
}
_SELECTOR: Final[Message] = {
    1: Field("rawSelector"),
    2: _parts("requirements", _SELECTOR_REQUIREMENT),
}
_ASKED: Final[Message] = {
    1: _optional(
        "resourceAttributes",
        {
            **_texts("namespace", "verb", "group", "version", "resource", "subresource", "name"),
            8: _optional("fieldSelector", _SELECTOR),
            9: _optional("labelSelector", _SELECTOR),
        },
    ),
    2: _optional("nonResourceAttributes", _texts("path", "verb")),
}
_ACCESS_REVIEW: Final[Message] = {
    1: _METADATA,
    2: _part(
        "spec",
        {
            **_ASKED,
            3: Field("user"),
            4: Field("groups", repeated=True),
            5: Field("extra", "map", entries="texts"),
            6: Field("uid"),
        },
    ),
}
_OWN_ACCESS_REVIEW: Final[Message] = {1: _METADATA, 2: _part("spec", _ASKED)}
_RULES_REVIEW: Final[Message] = {1: _METADATA, 2: _part("spec", _texts("namespace"))}
_OWN_REVIEW: Final[Message] = {1: _METADATA}
_TOKEN_REVIEW: Final[Message] = {
    1: _METADATA,
    2: _part("spec", {1: Field("token"), 2: Field("audiences", repeated=True)}),
}
_TOKEN_REQUEST: Final[Message] = {
    1: _METADATA,
    2: _part(
        "spec",
        {
            1: Field("audiences", repeated=True),
            3: _part("boundObjectRef", _texts("kind", "apiVersion", "name", "uid")),
            4: _maybe("expirationSeconds", "number"),
        },
    ),
}
_DELETE_OPTIONS: Final[Message] = {
    1: _maybe("gracePeriodSeconds", "number"),
    2: _part("preconditions", _texts("uid", "resourceVersion")),
    3: _maybe("orphanDependents", "flag"),
    4: Field("propagationPolicy"),
    5: Field("dryRun", repeated=True),
}

_RBAC: Final = "rbac.authorization.k8s.io/v1"
_REVIEWS: Final = "authorization.k8s.io/v1"
_AUTHENTICATION: Final = "authentication.k8s.io/v1"
KINDS: Final[Mapping[tuple[str, str], Message]] = {
    ("v1", "ConfigMap"): _CONFIG_MAP,
    ("v1", "Secret"): _SECRET,
    ("v1", "Namespace"): _NAMESPACE,
    ("v1", "ServiceAccount"): _SERVICE_ACCOUNT,
    ("v1", "Event"): _CORE_EVENT,
    ("events.k8s.io/v1", "Event"): _EVENT,
    ("coordination.k8s.io/v1", "Lease"): _LEASE,
    (_RBAC, "Role"): _ROLE,
    (_RBAC, "ClusterRole"): _ROLE,
    (_RBAC, "RoleBinding"): _BINDING,
    (_RBAC, "ClusterRoleBinding"): _BINDING,
    (_REVIEWS, "SubjectAccessReview"): _ACCESS_REVIEW,
    (_REVIEWS, "LocalSubjectAccessReview"): _ACCESS_REVIEW,
    (_REVIEWS, "SelfSubjectAccessReview"): _OWN_ACCESS_REVIEW,
    (_REVIEWS, "SelfSubjectRulesReview"): _RULES_REVIEW,
    (_AUTHENTICATION, "SelfSubjectReview"): _OWN_REVIEW,
    (_AUTHENTICATION, "TokenReview"): _TOKEN_REVIEW,
    (_AUTHENTICATION, "TokenRequest"): _TOKEN_REQUEST,
    ("v1", "DeleteOptions"): _DELETE_OPTIONS,
    ("meta.k8s.io/v1", "DeleteOptions"): _DELETE_OPTIONS,
    ("events.k8s.io/v1", "DeleteOptions"): _DELETE_OPTIONS,
    ("coordination.k8s.io/v1", "DeleteOptions"): _DELETE_OPTIONS,
    (_RBAC, "DeleteOptions"): _DELETE_OPTIONS,
}
