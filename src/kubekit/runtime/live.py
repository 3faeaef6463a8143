"""Live reads, and the writes that depend on them.

A cache shows the past: an object in it may be deleted, or replaced by another of the same name. So
before a reconciler creates, deletes or admits an object, it reads live (from the API server,
bypassing the cache) and compares the uid:

    deployment = await live.current(cluster.client, cached)
    if deployment is None:
        return DONE  # deleted or replaced: the watch event that says so requeues the request
    await cluster.client.create(instance_of(deployment))

Which function to use:

    cached, cached_or_live, find   by name: from the cache, from both, from the server
    certain                        by name, when absence is the reason to remove something
    same, current, confirm         by the uid of a cached object
    with_uid                       the object of a reference, by its uid
    create                         a create that a second controller may have done first
    delete, delete_as_read         a delete of this object and of no other with its name
    changed                        whether a condition is worth an event

A `Conflict` is never handled here. The controller requeues the request soon, and the next reconcile
pass reads again and decides again.
"""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from kubekit.api.errors import AlreadyExists, NotFound, Unavailable, conflict
from kubekit.api.meta import Condition, Object
from kubekit.client.client import Client
from kubekit.client.options import DeleteOptions
from kubekit.runtime.clusters import Cluster

K = TypeVar("K", bound=Object)


class Read(Protocol):
    """A function that reads one object: `cached`, `cached_or_live`, `find` or `certain`."""

    async def __call__(
        self, cluster: Cluster, kind: type[K], name: str, namespace: str = ""
    ) -> K | None: ...


async def cached(cluster: Cluster, kind: type[K], name: str, namespace: str = "") -> K | None:
    """The object in the cache; read live only until the cache is synced."""
    informer = cluster.informers.of(kind)
    if informer.synced:
        return informer.cache.get(namespace, name)
    return await cluster.client.find(kind, name, namespace)


async def cached_or_live(
    cluster: Cluster, kind: type[K], name: str, namespace: str = ""
) -> K | None:
    """The object in the cache; read live if the cache has none, since it may have just been made."""
    known = cluster.informers.of(kind).cache.get(namespace, name)
    return known or await cluster.client.find(kind, name, namespace)


async def find(cluster: Cluster, kind: type[K], name: str, namespace: str = "") -> K | None:
    """The object, read live."""
    return await cluster.client.find(kind, name, namespace)


async def certain(cluster: Cluster, kind: type[K], name: str, namespace: str = "") -> K | None:
    """The object, read live. None proves that it is absent, so something may be removed.

    A server that does not serve the kind answers "not found" as well, which proves nothing. That
    raises `Unavailable`.
    """
    existing = await cluster.client.find(kind, name, namespace)
    if existing is None and not cluster.informers.of(kind).synced:
        path = f"{cluster.name}: {kind.RESOURCE.kind} {namespace}/{name}"
        raise Unavailable(f"{path} is not found, which proves nothing before the first list")
    return existing


async def same(client: Client, seen: K) -> K | None:
    """The object with the uid of ``seen``, read live; None if it is gone or was replaced."""
    meta = seen.metadata
    return await with_uid(client, type(seen), meta.name, meta.namespace, meta.uid)


async def with_uid(client: Client, kind: type[K], name: str, namespace: str, uid: str) -> K | None:
    """The object that a reference names, read live; None if it is gone or was replaced."""
    existing = await client.find(kind, name, namespace)
    return existing if existing is not None and existing.metadata.uid == uid else None


async def current(client: Client, seen: K) -> K | None:
    """The object with the uid of ``seen``, read live; None if it is gone, replaced or deleting."""
    existing = await same(client, seen)
    return None if existing is None or existing.deleting else existing


async def confirm(client: Client, seen: K) -> None:
    """Raise `Conflict` unless the object exists and is deleting if and only if ``seen`` is."""
    existing = await same(client, seen)
    if existing is None or existing.deleting != seen.deleting:
        raise conflict(seen.RESOURCE, seen.metadata.name, "it is deleted or was replaced")


async def create(client: Client, fresh: K) -> K | None:
    """Create an object; None if its name is taken, perhaps by an earlier create of our own."""
    try:
        return await client.create(fresh)
    except AlreadyExists:
        return None


async def delete(client: Client, seen: Object) -> bool:
    """Delete the object with the uid of ``seen``, in any version. False if it is gone already.

    Another object of the name is a `Conflict`.
    """
    try:
        await client.delete(seen)
    except NotFound:
        return False
    return True


async def delete_as_read(client: Client, seen: Object) -> bool:
    """Delete the object only in the version that was read. False if it is gone already.

    A change since then is a `Conflict`: the object may be needed again.
    """
    options = DeleteOptions(resource_version=seen.metadata.resource_version)
    try:
        await client.delete(seen, options)
    except NotFound:
        return False
    return True


def changed(before: Iterable[Condition], after: Iterable[Condition], kind: str) -> Condition | None:
    """The condition of this type if its reason has changed, and so is worth an event."""
    old = next((condition for condition in before if condition.type == kind), None)
    new = next((condition for condition in after if condition.type == kind), None)
    return None if new is None or (old is not None and old.reason == new.reason) else new
