"""The registry of kinds: from an apiVersion and a kind, or a plural, to the class that reads them.

Reading is lenient, as `wire` says; what remains an error names the object and the field, since
somebody has to find it in a file. Writing is `encode`.
"""

from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import cache
from typing import Any, Final, TypeVar

import msgspec

from compute.api.apiextensions import CustomResourceDefinition
from compute.api.authentication import TokenRequest, TokenReview
from compute.api.authorization import (
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    SubjectAccessReview,
)
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.coordination import Lease
from compute.api.core import ConfigMap, Namespace, Secret, ServiceAccount
from compute.api.events import CoreEvent, Event
from compute.api.excerpt import excerpt
from compute.api.karmada import Cluster, PropagationPolicy, ResourceInterpreterCustomization
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.meta import Object
from compute.api.networking import (
    Location,
    LocationBinding,
    Network,
    NetworkBinding,
    NetworkContext,
    Subnet,
    SubnetClaim,
)
from compute.api.pods import Pod, Service
from compute.api.quota import AllowanceBucket, ResourceClaim, ResourceGrant, ResourceRegistration
from compute.api.rbac import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from compute.api.resourcemanager import Organization, Project
from compute.api.services import ServiceEntitlement
from compute.api.status import Status
from compute.api.table import Table
from compute.api.wire import Wire

T = TypeVar("T", bound=Object | Status | Table)
W = TypeVar("W", bound=Wire)

COMPUTE_KINDS: Final[tuple[type[Object], ...]] = (Workload, WorkloadDeployment, Instance)
NEIGHBOUR_KINDS: Final[tuple[type[Object], ...]] = (
    Network,
    NetworkBinding,
    NetworkContext,
    SubnetClaim,
    Subnet,
    Location,
    LocationBinding,
    ResourceRegistration,
    ResourceGrant,
    ResourceClaim,
    AllowanceBucket,
    ServiceEntitlement,
    Project,
    Organization,
)
KARMADA_KINDS: Final[tuple[type[Object], ...]] = (
    Cluster,
    PropagationPolicy,
    ResourceInterpreterCustomization,
    ResourceBinding,
    Work,
)
KUBERNETES_KINDS: Final[tuple[type[Object], ...]] = (
    Namespace,
    ConfigMap,
    Secret,
    ServiceAccount,
    Pod,
    Service,
    CoreEvent,
    Event,
    Lease,
    Role,
    ClusterRole,
    RoleBinding,
    ClusterRoleBinding,
    SubjectAccessReview,
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    TokenReview,
    TokenRequest,
    CustomResourceDefinition,
)
KINDS: Final[tuple[type[Object], ...]] = (
    *COMPUTE_KINDS,
    *NEIGHBOUR_KINDS,
    *KARMADA_KINDS,
    *KUBERNETES_KINDS,
)

_BY_KIND: Final = {(kind.RESOURCE.api_version, kind.RESOURCE.kind): kind for kind in KINDS}
_BY_PLURAL: Final = {
    (kind.RESOURCE.group, kind.RESOURCE.version, kind.RESOURCE.plural): kind for kind in KINDS
}
_COMPARED: Final = 80  # characters; comparing takes the square of the length
_ENCODER: Final = msgspec.json.Encoder()


class UnknownKind(ValueError):
    """No class reads this apiVersion and kind."""

    def __init__(self, api_version: str, kind: str) -> None:
        nearest = _nearest(api_version, kind).RESOURCE
        super().__init__(
            f"there is no kind {excerpt(kind)} in apiVersion {excerpt(api_version)}; "
            f"the nearest is {nearest.kind} in {nearest.api_version}"
        )
        self.api_version = api_version
        self.kind = kind


class DecodeError(ValueError):
    """A document that its class cannot read. ``path`` is the field; empty for the whole."""

    def __init__(self, subject: str, path: str, why: str) -> None:
        super().__init__(": ".join(filter(None, (subject, path, why))))
        self.path = path
        self.why = why


class _Head(Wire, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""


def lookup(api_version: str, kind: str) -> type[Object] | None:
    """The class of a kind, such as ``v1`` and ``Secret``; None when nothing reads it."""
    return _BY_KIND.get((api_version, kind))


def by_plural(group: str, version: str, plural: str) -> type[Object] | None:
    """The class of a kind by its place in a URL; the core group is empty."""
    return _BY_PLURAL.get((group, version, plural))


def decode(document: bytes | Mapping[str, Any]) -> Object:
    """The object in a document of any known kind, as JSON or already parsed."""
    head = _decoded(_Head, document, "document")
    found = lookup(head.api_version, head.kind)
    if found is None:
        raise UnknownKind(head.api_version, head.kind)
    return decode_as(found, document)


def decode_as(kind: type[T], document: bytes | Mapping[str, Any]) -> T:
    """The object in a document that is known to be of this kind.

    The items of a list need it: built-in kinds leave apiVersion and kind out there.
    """
    return _decoded(kind, document, kind.RESOURCE.kind)


def encode(obj: Wire) -> bytes:
    """The object as JSON."""
    return _ENCODER.encode(obj)


@cache
def _decoder(shape: type[W]) -> msgspec.json.Decoder[W]:
    return msgspec.json.Decoder(shape)


def _decoded(shape: type[W], document: bytes | Mapping[str, Any], word: str) -> W:
    """The value in a document, read a second time without its nulls when the first time fails.

    Go writes null for an empty list or map and for a time that never was; it means absent.
    """
    try:
        return _read(shape, document)
    except msgspec.ValidationError:
        parsed = msgspec.json.decode(document) if isinstance(document, bytes) else document
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(word, "", f"it is not JSON that can be read: {error}") from error
    try:
        return _read(shape, _without_nulls(parsed))
    except msgspec.ValidationError as error:
        raise _explained(error, f"{word}{_name_in(parsed)}") from error


def _read(shape: type[W], document: bytes | Mapping[str, Any]) -> W:
    if isinstance(document, bytes):
        return _decoder(shape).decode(document)
    return msgspec.convert(document, shape)


def _without_nulls(value: Any) -> Any:
    match value:
        case Mapping():
            return {k: _without_nulls(v) for k, v in value.items() if v is not None}
        case list():
            return [_without_nulls(item) for item in value]
        case _:
            return value


def _name_in(document: Any) -> str:
    match document:
        case {"metadata": {"name": str(name)}}:
            return f" {excerpt(name)}"
        case _:
            return ""


def _explained(error: msgspec.ValidationError, subject: str) -> DecodeError:
    """The error with its path as users write paths: ``spec.x[0].y`` where msgspec says ``$...``."""
    why, _, where = str(error).partition(" - at `")
    path = where.rpartition("$")[2].rstrip("`").removeprefix(".")
    why = why.replace("`", "")
    field = why.removeprefix("Object missing required field ")
    if field != why:
        return DecodeError(subject, f"{path}.{field}".removeprefix("."), "it is required")
    return DecodeError(subject, path, f"{why[:1].lower()}{why[1:]}")


def _nearest(api_version: str, kind: str) -> type[Object]:
    """The known kind most like this one; where several have its name, by apiVersion."""

    def likeness(known: type[Object]) -> tuple[float, float]:
        resource = known.RESOURCE
        return _alike(kind, resource.kind), _alike(api_version, resource.api_version)

    return max(KINDS, key=likeness)


def _alike(asked: str, known: str) -> float:
    return SequenceMatcher(None, asked[:_COMPARED].lower(), known.lower()).ratio()
