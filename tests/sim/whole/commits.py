"""A commit of a plane as laws see it: the new and the old object, the plane and the time."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import msgspec

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy
from compute.api.karmada_work import Work
from compute.api.networking import LocationBinding
from compute.api.quota import ResourceClaim, ResourceGrant
from compute.api.resource_manager import Project
from compute.app.planes import PlaneRef, Role
from kubekit.api import scheme
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import Object, OwnerReference
from kubekit.plane.store.records import ChangeType

K = TypeVar("K", bound=Object)
T = TypeVar("T")
Key = tuple[str, str]  # namespace and name
Place = tuple[Role, str]  # the role of a plane, and a kind
Laws = dict[Place, tuple[Callable[[Any], str], ...]]  # each says what is wrong with a commit
Notes = dict[Place, Callable[[Any], None]]  # who takes which commits in

# The kinds that laws read whole. Of all others they see the head alone.
KINDS: Final[dict[str, type[Object]]] = {
    kind.RESOURCE.kind: kind
    for kind in (
        MemberCluster,
        ConfigMap,
        Instance,
        LocationBinding,
        Namespace,
        Project,
        PropagationPolicy,
        ResourceClaim,
        ResourceGrant,
        Work,
        Workload,
        WorkloadDeployment,
    )
}


class HeadMeta(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The metadata that laws read."""

    uid: str
    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: str = ""
    labels: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()


class Head(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """An object of any kind, its spec unread."""

    kind: str
    metadata: HeadMeta
    api_version: str = ""
    spec: msgspec.Raw = msgspec.Raw(b"")

    @property
    def deleting(self) -> bool:
        return bool(self.metadata.deletion_timestamp)


_HEADS: Final = msgspec.json.Decoder(Head)


@dataclass(frozen=True, slots=True)
class Commit(Generic[K]):
    """One change. ``obj`` is the new object, or the deleted one; ``old`` is the previous version.

    Both are whole for the kinds that laws read, else heads only and never asked for more.
    """

    ref: PlaneRef
    change: ChangeType
    head: Head
    old_head: Head | None
    obj: K
    old: K | None
    at: float
    revision: int
    previous: int  # the revision that it replaces; 0 for none

    @property
    def uid(self) -> str:
        return self.head.metadata.uid

    @property
    def key(self) -> Key:
        return self.head.metadata.namespace, self.head.metadata.name

    @property
    def born(self) -> bool:
        return self.change is ChangeType.ADDED

    @property
    def gone(self) -> bool:
        return self.change is ChangeType.DELETED

    @property
    def leaves(self) -> bool:
        """Whether this commit marks the object for deletion, or deletes it at once."""
        before = self.old_head
        left = before is not None and before.deleting
        return (self.head.deleting or self.gone) and not left

    @property
    def where(self) -> str:
        place = "/".join(filter(None, self.key))
        return f"{self.ref.name}: {self.head.kind} {place}"


def head_of(data: bytes) -> Head:
    return _HEADS.decode(data)


def whole(head: Head, data: bytes) -> Object | Head:
    """The object, if laws read its kind; else its head."""
    kind = KINDS.get(head.kind)
    if kind is None or kind.RESOURCE.api_version != head.api_version:
        return head
    return scheme.decode_as(kind, data)


class Lately(Generic[T]):
    """The recent states of a value: a decision may be based on any of them."""

    __slots__ = ("_lag", "_states")

    def __init__(self, lag: float) -> None:
        self._lag = lag
        self._states: deque[tuple[float, T]] = deque()

    def note(self, at: float, value: T) -> None:
        if not self._states or self._states[-1][1] != value:
            self._states.append((at, value))
            self._drop(at)

    def seen(self, now: float) -> list[T]:
        """The states that held at some time within the lag, the newest last."""
        self._drop(now)
        return [value for _, value in self._states]

    @property
    def last(self) -> T | None:
        return self._states[-1][1] if self._states else None

    def _drop(self, now: float) -> None:
        # The state at the start of that time counts too.
        while len(self._states) > 1 and self._states[1][0] < now - self._lag:
            self._states.popleft()
