"""The client of a reconciler: it checks and records every write of a pass.

Before a write it checks that the pass may still write and that the object is not in a write conflict
loop. After the write it records what the caches must show before the next pass of the same request.
Outside of a pass it checks and records nothing.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple

from kubekit.api.errors import ApiError
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client, K, Listing, TypedEvent
from kubekit.client.options import (
    EVERYTHING,
    PLAIN_WATCH,
    PLAIN_WRITE,
    DeleteOptions,
    ListOptions,
    PatchType,
    WatchOptions,
    WriteOptions,
)
from kubekit.client.transport import Document, ResourceLocation, Transport, WatchEvent
from kubekit.runtime.reconciling import field_paths
from kubekit.runtime.reconciling.field_paths import Fields
from kubekit.runtime.reconciling.object_keys import ObjectKey, object_key
from kubekit.runtime.reconciling.passes import Pass, WriteContext, current
from kubekit.runtime.reconciling.write_conflicts import WriteConflictLoop
from kubekit.runtime.requests import ClusterName

_log: Final = logging.getLogger(__name__)

Managed = list[dict[str, Any]]


class Written(NamedTuple):
    """The object after a write, and a hash of what was written.

    ``held``: finalizers keep it if it is deleted. ``gone``: it was deleted and nothing keeps it.
    """

    name: str
    namespace: str
    uid: str
    version: str = ""
    held: bool = False
    gone: bool = False
    content: int = 0


class RecordingClient(Client):
    """The typed client of a cluster, for reconcilers.

    ``client`` is the real one. It reads, and handles the calls that it implements more directly.
    """

    def __init__(self, cluster: ClusterName, client: Client) -> None:
        self.raw: RecordingTransport
        super().__init__(RecordingTransport(cluster, client))
        self._client = client

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        found = await self._client.get(kind, name, namespace)
        self.raw.saw(
            ResourceLocation(kind.RESOURCE, namespace, name), found.metadata.resource_version
        )
        return found

    async def list(
        self, kind: type[K], namespace: str = "", options: ListOptions = EVERYTHING
    ) -> Listing[K]:
        return await self._client.list(kind, namespace, options)

    @asynccontextmanager
    async def watch(
        self, kind: type[K], namespace: str = "", options: WatchOptions = PLAIN_WATCH
    ) -> AsyncIterator[AsyncIterator[TypedEvent[K]]]:
        async with self._client.watch(kind, namespace, options) as seen:
            yield seen

    async def create(self, obj: K, options: WriteOptions = PLAIN_WRITE) -> K:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._client.create(obj, options)
        place = ResourceLocation(obj.RESOURCE, obj.metadata.namespace, obj.metadata.name)
        signed = pass_.context.sign(options)
        await self.raw.before(pass_, place, field_paths.CREATION, signed)
        written = await self._client.create(obj, signed)
        self.raw.created(pass_, place, _of_object(written))
        return written

    async def merge(
        self, kind: type[K], place: ResourceLocation, patch: Document, options: WriteOptions
    ) -> K:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._client.merge(kind, place, patch, options)
        signed = pass_.context.sign(options)
        fields = field_paths.of_patch(PatchType.MERGE, patch)
        await self.raw.before(pass_, place, fields, signed)
        written = await self._client.merge(kind, place, patch, signed)
        self.raw.changed(pass_, place, fields, _of_object(written, patch))
        return written


class RecordingTransport:
    """The same for JSON documents."""

    def __init__(self, cluster: ClusterName, client: Client) -> None:
        self._cluster = cluster
        self._client = client
        self._transport: Transport = client.raw

    async def get(self, place: ResourceLocation, resource_version: str = "") -> Document:
        found = await self._transport.get(place, resource_version)
        self.saw(place, found["metadata"].get("resourceVersion", ""))
        return found

    async def list(self, place: ResourceLocation, options: ListOptions) -> Document:
        return await self._transport.list(place, options)

    def watch(
        self, place: ResourceLocation, options: WatchOptions
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        return self._transport.watch(place, options)

    async def create(
        self, place: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._transport.create(place, document, options)
        signed = pass_.context.sign(options)
        named = place if place.name else replace(place, name=_metadata(document).name)
        await self.before(pass_, named, field_paths.CREATION, signed)
        written = await self._transport.create(place, document, signed)
        self.created(pass_, place, _metadata(written))
        return written

    async def update(
        self, place: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._transport.update(place, document, options)
        signed = pass_.context.sign(options)
        fields = field_paths.of_whole(document)
        await self.before(pass_, place, fields, signed)
        written = await self._transport.update(place, document, signed)
        self.changed(pass_, place, fields, _metadata(written, document))
        return written

    async def patch(
        self, place: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._transport.patch(place, kind, patch, options)
        signed = pass_.context.sign(options)
        fields = field_paths.of_patch(kind, patch)
        await self.before(pass_, place, fields, signed)
        written = await self._transport.patch(place, kind, patch, signed)
        self.changed(pass_, place, fields, _metadata(written, patch))
        return written

    async def delete(self, place: ResourceLocation, options: DeleteOptions) -> Document:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._transport.delete(place, options)
        await self.before(pass_, place, field_paths.DELETION, pass_.context.sign(PLAIN_WRITE))
        answer = await self._transport.delete(place, options)
        deleted = _metadata(answer)
        if answer.get("kind") == "Status":
            uid = options.uid or answer.get("details", {}).get("uid", "")
            deleted = Written(place.name, place.namespace, uid, gone=True)
        elif "deletionTimestamp" not in answer["metadata"]:  # some kinds return what was deleted
            deleted = deleted._replace(gone=True)
        self.changed(pass_, place, field_paths.DELETION, deleted)
        return answer

    async def delete_collection(
        self, place: ResourceLocation, which: ListOptions, options: DeleteOptions
    ) -> Document:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._transport.delete_collection(place, which, options)
        pass_.may_write()
        answer = await self._transport.delete_collection(place, which, options)
        for item in answer.get("items") or ():
            self._deleted(pass_, place, _metadata(item))
        return answer

    # For `RecordingClient`, which reads and creates objects without this transport

    def saw(self, place: ResourceLocation, version: str) -> None:
        """Record a live read: the requeue after the pass waits for a cache that is behind it."""
        pass_ = current.get()
        if pass_ is not None and version:
            pass_.reads[object_key(self._cluster, place)] = self, version

    async def before(
        self, pass_: Pass, place: ResourceLocation, fields: Fields, signed: WriteOptions
    ) -> None:
        """Raise if the write must not be sent."""
        target = object_key(self._cluster, place, place.name)
        write_conflicts = pass_.context.write_conflicts
        try:
            write_conflicts.check(target, _now(), fields)
        except WriteConflictLoop:  # the removal of a finalizer cannot repeat indefinitely
            if fields != field_paths.FINALIZERS or not await self._is_leaving(place):
                raise
        if write_conflicts.suspects(target):
            write_conflicts.saw(target, await self._managed(place), signed.field_manager, fields)
        pass_.may_write()

    def created(self, pass_: Pass, place: ResourceLocation, written: Written) -> None:
        """Record a new object. A response without a version is a review, not an object."""
        if written.version:
            self.changed(pass_, place, field_paths.CREATION, written)

    def changed(
        self, pass_: Pass, place: ResourceLocation, fields: Fields, written: Written
    ) -> None:
        """Record a write, and what the caches must show because of it."""
        target = self._count(pass_, place, fields, written)
        freshness = pass_.context.freshness
        if written.gone:
            freshness.removed(pass_.request, self, target, written.uid)
        else:
            freshness.wrote(pass_.request, self, target, written.version)

    def _deleted(self, pass_: Pass, place: ResourceLocation, deleted: Written) -> None:
        """Record one object of a collection delete: a finalizer keeps it, or it is gone."""
        one = replace(place, namespace=deleted.namespace)
        self.changed(pass_, one, field_paths.DELETION, deleted._replace(gone=not deleted.held))

    def _count(
        self, pass_: Pass, place: ResourceLocation, fields: Fields, written: Written
    ) -> ObjectKey:
        pass_.writes += 1
        target = object_key(self._cluster, place, written.name)
        message = pass_.context.write_conflicts.wrote(target, fields, _now(), written.content)
        if message is not None:
            self._report(pass_.context, target, place, (message, written.uid))
        return target

    def _report(
        self,
        context: WriteContext,
        target: ObjectKey,
        place: ResourceLocation,
        why: tuple[str, str],
    ) -> None:
        message, uid = why
        context.counters.write_conflicts += 1
        extra = {"controller": context.writer, "cluster": target.cluster, "object": str(target)}
        _log.warning("write conflict loop", extra=extra | {"why": message})
        if context.recorder is not None:
            regarding = Object(
                api_version=place.resource.api_version,
                kind=place.resource.kind,
                metadata=ObjectMeta(name=target.name, namespace=target.namespace, uid=uid),
            )
            context.recorder.event(
                self._client, regarding, "Warning", "ReconcileFight", message, "Reconcile"
            )

    async def _managed(self, place: ResourceLocation) -> Managed:
        """The managedFields just before our write; empty if they cannot be read."""
        managed: Managed = (await self._existing_metadata(place)).get("managedFields", [])
        return managed

    async def _is_leaving(self, place: ResourceLocation) -> bool:
        return "deletionTimestamp" in await self._existing_metadata(place)

    async def _existing_metadata(self, place: ResourceLocation) -> Document:
        """The metadata of the existing object; empty if it cannot be read."""
        try:
            existing = await self._transport.get(replace(place, subresource=""))
        except (ApiError, OSError):
            return {}
        metadata: Document = existing["metadata"]
        return metadata


def _metadata(document: Document, written_document: object = None) -> Written:
    """The object and version of a document. The response to a review has neither."""
    metadata = document.get("metadata") or {}
    return Written(
        metadata.get("name") or "",
        metadata.get("namespace") or "",
        metadata.get("uid") or "",
        metadata.get("resourceVersion") or "",
        held=bool(metadata.get("finalizers")),
        gone=_is_gone(metadata),
        content=_content(metadata.get("uid") or "", written_document),
    )


def _content(uid: str, written_document: object) -> int:
    """A hash of what was written. Writes to objects with different uids are no repetition."""
    return 0 if written_document is None else field_paths.content((uid, written_document))


def _is_gone(metadata: Document) -> bool:
    """Whether an object is deleted and nothing keeps it: no finalizer and no grace period."""
    kept = metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
    return "deletionTimestamp" in metadata and not kept


def _of_object(obj: Object, written_document: object = None) -> Written:
    metadata = obj.metadata
    leaving = metadata.deletion_timestamp is not None
    kept = metadata.finalizers or metadata.deletion_grace_period_seconds
    return Written(
        metadata.name,
        metadata.namespace,
        metadata.uid,
        metadata.resource_version,
        held=bool(metadata.finalizers),
        gone=leaving and not kept,
        content=_content(metadata.uid, written_document),
    )


def _now() -> float:
    return asyncio.get_running_loop().time()
