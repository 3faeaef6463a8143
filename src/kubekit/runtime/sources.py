"""The sources of a controller: they turn changes of objects into requests.

A source watches the clusters of one role. A request names its cluster explicitly, whichever cluster
the change was seen in: a change on the hub can request an object of a project. There are no
predicates that filter changes, so no change, and above all no deletion, is lost.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from kubekit.api.meta import Object, OwnerReference
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import ClusterName, Request
from kubekit.runtime.watching.changes import CacheChange

_log: Final = logging.getLogger(__name__)

K = TypeVar("K", bound=Object)
To = Callable[[ClusterName, K], Iterable[Request]]


@dataclass(frozen=True, slots=True)
class Source(Generic[K]):
    """A kind that is watched in every cluster of a role, and the requests that a change leads to.

    Without ``to`` a change requests the object itself. With ``awaited=False`` no pass waits until
    the cache shows its own writes there. That suits objects that are read live wherever it matters,
    in planes whose watches may be interrupted for long.
    """

    kind: type[K]
    clusters: Clusters
    to: To[K] | None = None
    awaited: bool = True

    def requests(self, changed: CacheChange[K]) -> Iterable[Request]:
        """The requests for the object as it was, and as it is.

        A change of the owner requests both the old owner and the new one.
        """
        if self.to is None:
            return (Request(changed.cluster, changed.namespace, changed.name),)
        requests: dict[Request, None] = {}
        for obj in (changed.old, changed.new):
            if obj is not None:
                requests |= dict.fromkeys(self._mapped(changed.cluster, obj))
        return requests

    def _mapped(self, cluster: ClusterName, obj: K) -> list[Request]:
        """The requests for one object. A mapping that fails must not stop the others."""
        assert self.to is not None
        try:
            return list(self.to(cluster, obj))
        except Exception:  # noqa: BLE001 - whatever it is, it concerns this object alone
            name = f"{cluster}/{obj.metadata.namespace}/{obj.metadata.name}"
            about = {"kind": self.kind.RESOURCE.kind, "object": name}
            _log.exception("a change could not be mapped to requests", extra=about)
            return []


def own(kind: type[K], clusters: Clusters) -> Source[Any]:
    """Each object of the kind requests itself."""
    return Source(kind, clusters)


def owned(kind: type[K], clusters: Clusters, owner: type[Object]) -> Source[Any]:
    """Each object of the kind requests the ``owner`` that controls it, in the same cluster."""
    resource = owner.RESOURCE

    def to(cluster: ClusterName, obj: K) -> Iterable[Request]:
        namespace = obj.metadata.namespace if resource.namespaced else ""
        for reference in obj.metadata.owner_references:
            if reference.controller and _refers_to(reference, owner):
                yield Request(cluster, namespace, reference.name)

    return Source(kind, clusters, to)


def mapped(kind: type[K], clusters: Clusters, to: To[K], *, awaited: bool = True) -> Source[Any]:
    """Each object of the kind leads to the requests that ``to`` returns, in the clusters they name."""
    return Source(kind, clusters, to, awaited)


def _refers_to(reference: OwnerReference, owner: type[Object]) -> bool:
    """Whether a reference is to this kind, in any of its versions."""
    group, slash, _ = reference.api_version.partition("/")
    resource = owner.RESOURCE
    return reference.kind == resource.kind and (group if slash else "") == resource.group
