"""The field numbers of the built-in kinds, as Kubernetes publishes them in its .proto files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Type = Literal["text", "number", "flag", "base64", "raw", "time", "microtime", "message", "map"]
Message = Mapping[int, "Field"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field. ``optional`` ones are told apart from their zero: they can be absent."""

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
# Field 17, managedFields, is the server's own: what a client says of it is dropped anyway.
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
_DELETE_OPTIONS: Final[Message] = {
    1: _maybe("gracePeriodSeconds", "number"),
    2: _part("preconditions", _texts("uid", "resourceVersion")),
    3: _maybe("orphanDependents", "flag"),
    4: Field("propagationPolicy"),
    5: Field("dryRun", repeated=True),
}

KINDS: Final[Mapping[tuple[str, str], Message]] = {
    ("v1", "ConfigMap"): _CONFIG_MAP,
    ("v1", "Secret"): _SECRET,
    ("v1", "Namespace"): _NAMESPACE,
    ("v1", "ServiceAccount"): _SERVICE_ACCOUNT,
    ("v1", "Event"): _CORE_EVENT,
    ("events.k8s.io/v1", "Event"): _EVENT,
    ("coordination.k8s.io/v1", "Lease"): _LEASE,
    ("v1", "DeleteOptions"): _DELETE_OPTIONS,
    ("meta.k8s.io/v1", "DeleteOptions"): _DELETE_OPTIONS,
    ("events.k8s.io/v1", "DeleteOptions"): _DELETE_OPTIONS,
    ("coordination.k8s.io/v1", "DeleteOptions"): _DELETE_OPTIONS,
}
