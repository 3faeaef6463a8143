"""The client of a reconciler: it checks and records every write of a pass.

Before a write it checks that the pass may still write and that the object is not in a write conflict
loop. After the write it records what the caches must show before the next pass of the same request.
Outside of a pass it checks and records nothing.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

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

    ``client`` sends the requests. Its own methods are called, because it may implement them more
    directly than through documents.
    """

    def __init__(self, cluster: ClusterName, client: Client) -> None:
        self.raw: RecordingTransport
        super().__init__(RecordingTransport(cluster, client))
        self._client = client

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        existing = await self._client.get(kind, name, namespace)
        self.raw.record_read(
            ResourceLocation(kind.RESOURCE, namespace, name), existing.metadata.resource_version
        )
        return existing

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
        location = ResourceLocation(obj.RESOURCE, obj.metadata.namespace, obj.metadata.name)
        signed = pass_.context.sign(options)
        await self.raw.check_write(pass_, location, field_paths.CREATION, signed)
        written = await self._client.create(obj, signed)
        self.raw.record_create(pass_, location, _of_object(written))
        return written

    async def merge(
        self, kind: type[K], location: ResourceLocation, patch: Document, options: WriteOptions
    ) -> K:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._client.merge(kind, location, patch, options)
        signed = pass_.context.sign(options)
        fields = field_paths.of_patch(PatchType.MERGE, patch)
        await self.raw.check_write(pass_, location, fields, signed)
        written = await self._client.merge(kind, location, patch, signed)
        self.raw.record_write(pass_, location, fields, _of_object(written, patch))
        return written


class RecordingTransport:
    """The same checks and records for JSON documents, which have no class."""

    def __init__(self, cluster: ClusterName, client: Client) -> None:
        self._cluster = cluster
        self._client = client
        self._transport: Transport = client.raw

    async def get(self, location: ResourceLocation, resource_version: str = "") -> Document:
        existing = await self._transport.get(location, resource_version)
        self.record_read(location, existing["metadata"].get("resourceVersion", ""))
        return existing

    async def list(self, location: ResourceLocation, options: ListOptions) -> Document:
        return await self._transport.list(location, options)

    def watch(
        self, location: ResourceLocation, options: WatchOptions
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent]]:
        return self._transport.watch(location, options)

    async def create(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._transport.create(location, document, options)
        signed = pass_.context.sign(options)
        named = location if location.name else replace(location, name=_metadata(document).name)
        await self.check_write(pass_, named, field_paths.CREATION, signed)
        written = await self._transport.create(location, document, signed)
        self.record_create(pass_, location, _metadata(written))
        return written

    async def update(
        self, location: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._transport.update(location, document, options)
        signed = pass_.context.sign(options)
        fields = field_paths.of_whole(document)
        await self.check_write(pass_, location, fields, signed)
        written = await self._transport.update(location, document, signed)
        self.record_write(pass_, location, fields, _metadata(written, document))
        return written

    async def patch(
        self, location: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Document:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._transport.patch(location, kind, patch, options)
        signed = pass_.context.sign(options)
        fields = field_paths.of_patch(kind, patch)
        await self.check_write(pass_, location, fields, signed)
        written = await self._transport.patch(location, kind, patch, signed)
        self.record_write(pass_, location, fields, _metadata(written, patch))
        return written

    async def delete(self, location: ResourceLocation, options: DeleteOptions) -> Document:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._transport.delete(location, options)
        await self.check_write(
            pass_, location, field_paths.DELETION, pass_.context.sign(PLAIN_WRITE)
        )
        answer = await self._transport.delete(location, options)
        deleted = _metadata(answer)
        if answer.get("kind") == "Status":
            uid = options.uid or answer.get("details", {}).get("uid", "")
            deleted = Written(
                location.name, location.namespace, uid, gone=True, content=_content(uid, None)
            )
        elif "deletionTimestamp" not in answer["metadata"]:  # some kinds return what was deleted
            deleted = deleted._replace(gone=True)
        self.record_write(pass_, location, field_paths.DELETION, deleted)
        return answer

    async def delete_collection(
        self, location: ResourceLocation, which: ListOptions, options: DeleteOptions
    ) -> Document:
        pass_ = None if options.dry_run else current.get()
        if pass_ is None:
            return await self._transport.delete_collection(location, which, options)
        pass_.may_write()
        answer = await self._transport.delete_collection(location, which, options)
        for item in answer.get("items") or ():
            self._record_delete(pass_, location, _metadata(item))
        return answer

    # For `RecordingClient`, which reads and writes typed objects without this transport

    def record_read(self, location: ResourceLocation, version: str) -> None:
        """Record a live read: the requeue after the pass waits for a cache that is behind it."""
        pass_ = current.get()
        if pass_ is not None and version:
            pass_.reads[object_key(self._cluster, location)] = self, version

    async def check_write(
        self, pass_: Pass, location: ResourceLocation, fields: Fields, signed: WriteOptions
    ) -> None:
        """Raise if the write must not be sent."""
        target = object_key(self._cluster, location, location.name)
        write_conflicts = pass_.context.write_conflicts
        try:
            write_conflicts.check(target, _now(), fields)
        except WriteConflictLoop:
            existing = await self._existing_metadata(location)
            # The removal of a finalizer cannot repeat indefinitely.
            released = fields == field_paths.FINALIZERS and "deletionTimestamp" in existing
            if not released and not write_conflicts.spares(target, existing.get("uid", "")):
                raise
        if write_conflicts.suspects(target):
            write_conflicts.saw(
                target, await self._managed_fields(location), signed.field_manager, fields
            )
        pass_.may_write()

    def record_create(self, pass_: Pass, location: ResourceLocation, written: Written) -> None:
        """Record a new object. A response without a version is a review, not an object."""
        if written.version:
            self.record_write(pass_, location, field_paths.CREATION, written)

    def record_write(
        self, pass_: Pass, location: ResourceLocation, fields: Fields, written: Written
    ) -> None:
        """Record a write, and what the caches must show because of it."""
        target = self._count(pass_, location, fields, written)
        freshness = pass_.context.freshness
        if written.gone:
            freshness.removed(pass_.request, self, target, written.uid)
        else:
            freshness.wrote(pass_.request, self, target, written.version)

    def _record_delete(self, pass_: Pass, location: ResourceLocation, deleted: Written) -> None:
        """Record one object of a collection delete: a finalizer keeps it, or it is gone."""
        item = replace(location, namespace=deleted.namespace)
        self.record_write(
            pass_, item, field_paths.DELETION, deleted._replace(gone=not deleted.held)
        )

    def _count(
        self, pass_: Pass, location: ResourceLocation, fields: Fields, written: Written
    ) -> ObjectKey:
        pass_.writes += 1
        target = object_key(self._cluster, location, written.name)
        message = pass_.context.write_conflicts.wrote(
            target, fields, _now(), written.content, uid=written.uid
        )
        if message is not None:
            self._report(pass_.context, target, location, (message, written.uid))
        return target

    def _report(
        self,
        context: WriteContext,
        target: ObjectKey,
        location: ResourceLocation,
        why: tuple[str, str],
    ) -> None:
        message, uid = why
        context.counters.write_conflicts += 1
        extra = {"controller": context.writer, "cluster": target.cluster, "object": str(target)}
        _log.warning("write conflict loop", extra=extra | {"why": message})
        if context.recorder is not None:
            regarding = Object(
                api_version=location.resource.api_version,
                kind=location.resource.kind,
                metadata=ObjectMeta(name=target.name, namespace=target.namespace, uid=uid),
            )
            context.recorder.event(
                self._client, regarding, "Warning", "ReconcileFight", message, "Reconcile"
            )

    async def _managed_fields(self, location: ResourceLocation) -> Managed:
        """The managedFields just before our write; empty if they cannot be read."""
        managed: Managed = (await self._existing_metadata(location)).get("managedFields", [])
        return managed

    async def _existing_metadata(self, location: ResourceLocation) -> Document:
        """The metadata of the existing object; empty if it cannot be read."""
        try:
            existing = await self._transport.get(replace(location, subresource=""))
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
    return field_paths.content((uid, written_document))


def _is_gone(metadata: Document) -> bool:
    """Whether an object is deleted and nothing keeps it: no finalizer and no grace period."""
    kept = metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
    return "deletionTimestamp" in metadata and not kept


def _of_object(obj: Object, written_document: object = None) -> Written:
    metadata = obj.metadata
    deleting = metadata.deletion_timestamp is not None
    kept = metadata.finalizers or metadata.deletion_grace_period_seconds
    return Written(
        metadata.name,
        metadata.namespace,
        metadata.uid,
        metadata.resource_version,
        held=bool(metadata.finalizers),
        gone=deleting and not kept,
        content=_content(metadata.uid, written_document),
    )


def _now() -> float:
    return asyncio.get_running_loop().time()
