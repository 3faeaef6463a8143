"""The verb watch: where a watch starts.

sendInitialEvents   resourceVersion   starts with
not set             none or "0"       every existing object
not set             a version         the first change after it
true                any, reached      every existing object, then a bookmark that marks their end
false               none or "0"       the next change
false               a version         the first change after it
"""

import asyncio
from typing import Final

from kubekit.client.options import WatchOptions
from kubekit.plane.registry.context import RegistryContext, history_errors
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.registry.rules.request_options import check_watch
from kubekit.plane.registry.verbs import resource_versions
from kubekit.plane.registry.verbs.selection import Selection, matching, select
from kubekit.plane.registry.verbs.watches import Watch, WatchStart
from kubekit.plane.store.records import Record
from kubekit.plane.store.store import Compacted

_BOOKMARK_INTERVAL: Final = 60.0  # seconds


class WatchHandler:
    """The verb watch of one plane.

    Once a minute every watch that asked for bookmarks gets one, so that a quiet watch can be resumed
    without listing again. Without watches there is no timer.
    """

    def __init__(self, context: RegistryContext) -> None:
        self._context = context
        self._open: dict[Watch, asyncio.TimerHandle | None] = {}
        self._ticker: asyncio.TimerHandle | None = None
        self._ended = False

    def __len__(self) -> int:
        return len(self._open)

    def bookmark(self) -> None:
        """Send a bookmark to every watch that asked for bookmarks."""
        for watch in tuple(self._open):
            watch.bookmark()

    def end(self) -> None:
        """End every watch, including those that are about to start."""
        self._ended = True
        for watch in tuple(self._open):
            watch.end()

    def follow(self, kinds: Kinds) -> None:
        """Finish the watches of kinds that are no longer served, after their last events."""
        for watch in tuple(self._open):
            if not _serves(kinds, watch.kind):
                watch.finish()

    async def watch(self, kind: Kind, namespace: str, options: WatchOptions, name: str) -> Watch:
        """Start a watch. Raises `Expired` if its history is compacted."""
        with history_errors():
            watch = await self._started(kind, namespace, options, name)
        if self._ended:
            watch.end()
            return watch
        if not _serves(self._context.kinds, kind):
            watch.finish()
        seconds, loop = options.timeout_seconds, asyncio.get_running_loop()
        self._open[watch] = loop.call_later(seconds, watch.finish) if seconds else None
        watch.on_close = self._remove
        if self._ticker is None:
            self._ticker = loop.call_later(_BOOKMARK_INTERVAL, self._tick, loop)
        return watch

    def _remove(self, watch: Watch) -> None:
        timer = self._open.pop(watch, None)
        if timer is not None:
            timer.cancel()
        if not self._open and self._ticker is not None:
            self._ticker.cancel()
            self._ticker = None

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._ticker = loop.call_later(_BOOKMARK_INTERVAL, self._tick, loop)
        self.bookmark()

    async def _started(self, kind: Kind, namespace: str, options: WatchOptions, name: str) -> Watch:
        check_watch(options)
        store = self._context.store
        selection = select(kind, namespace, name, options.label_selector, options.field_selector)
        since = resource_versions.parse(options.resource_version)
        if since > store.revision:
            raise resource_versions.too_large(since, store.revision)
        from_objects = options.send_initial_events
        if from_objects is None:
            from_objects = not since
        if since and not from_objects:
            return await self._resumed(selection, since, bookmarks=options.allow_bookmarks)
        revision = store.revision
        present = await matching(selection, self._present(selection)) if from_objects else []
        marked = bool(options.send_initial_events) and options.allow_bookmarks
        try:
            return Watch(
                store,
                selection,
                WatchStart(revision, present, marked=marked),
                bookmarks=options.allow_bookmarks,
            )
        except Compacted as error:
            raise resource_versions.too_old(revision, store.compacted) from error

    async def _resumed(self, selection: Selection, since: int, *, bookmarks: bool) -> Watch:
        """A watch that resumes after a revision, from disk if the history is no longer in memory."""
        store = self._context.store
        try:
            return Watch(store, selection, WatchStart(since), bookmarks=bookmarks)
        except Compacted:
            pass
        try:
            changes, until = await store.history_chunk(selection.kind.storage, since)
        except Compacted as error:
            raise resource_versions.too_old(since, store.compacted) from error
        return Watch(store, selection, WatchStart(until, past=changes), bookmarks=bookmarks)

    def _present(self, selection: Selection) -> list[Record]:
        store = self._context.store
        if selection.key is None:
            return store.collection(selection.kind.storage).range(selection.prefix)
        record = store.find(selection.kind.storage, selection.key)
        return [] if record is None else [record]


def _serves(kinds: Kinds, kind: Kind) -> bool:
    resource = kind.resource
    return kinds.find(resource.group, resource.version, resource.plural) is not None
