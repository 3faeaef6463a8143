"""The verb watch: where a watch begins.

sendInitialEvents   resourceVersion   begins with
not said            none or "0"       every object there is
not said            a version         the first change after it
true                any, reached      every object there is, then a bookmark that says so
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

    About once a minute every watcher that asked for it hears how far he has got, so that a quiet
    watch can be resumed without listing again. While nobody watches, no timer is set.
    """

    def __init__(self, context: RegistryContext) -> None:
        self._context = context
        self._open: dict[Watch, asyncio.TimerHandle | None] = {}
        self._ticker: asyncio.TimerHandle | None = None
        self._over = False

    def __len__(self) -> int:
        return len(self._open)

    def bookmark(self) -> None:
        """Let every watcher that wants to know hear how far he has got."""
        for watch in tuple(self._open):
            watch.bookmark()

    def end(self) -> None:
        """End every watch, those too that are only about to begin."""
        self._over = True
        for watch in tuple(self._open):
            watch.end()

    def follow(self, kinds: Kinds) -> None:
        """Finish the watches of kinds that are no longer served, once all is told."""
        for watch in tuple(self._open):
            if not _serves(kinds, watch.kind):
                watch.finish()

    async def watch(self, kind: Kind, namespace: str, options: WatchOptions, name: str) -> Watch:
        """The watch that was asked for. `Expired` if its past is forgotten."""
        with history_errors():
            watch = await self._begun(kind, namespace, options, name)
        if self._over:
            watch.end()
            return watch
        if not _serves(self._context.kinds, kind):
            watch.finish()
        seconds, loop = options.timeout_seconds, asyncio.get_running_loop()
        self._open[watch] = loop.call_later(seconds, watch.finish) if seconds else None
        watch.left = self._leave
        if self._ticker is None:
            self._ticker = loop.call_later(_BOOKMARK_INTERVAL, self._tick, loop)
        return watch

    def _leave(self, watch: Watch) -> None:
        timer = self._open.pop(watch, None)
        if timer is not None:
            timer.cancel()
        if not self._open and self._ticker is not None:
            self._ticker.cancel()
            self._ticker = None

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._ticker = loop.call_later(_BOOKMARK_INTERVAL, self._tick, loop)
        self.bookmark()

    async def _begun(self, kind: Kind, namespace: str, options: WatchOptions, name: str) -> Watch:
        check_watch(options)
        store = self._context.store
        chosen = select(kind, namespace, name, options.label_selector, options.field_selector)
        since = resource_versions.parse(options.resource_version)
        if since > store.revision:
            raise resource_versions.too_large(since, store.revision)
        from_objects = options.send_initial_events
        if from_objects is None:
            from_objects = not since
        if since and not from_objects:
            return await self._resumed(chosen, since, bookmarks=options.allow_bookmarks)
        begun = store.revision
        present = await matching(chosen, self._present(chosen)) if from_objects else []
        marked = bool(options.send_initial_events) and options.allow_bookmarks
        try:
            return Watch(
                store,
                chosen,
                WatchStart(begun, present, marked=marked),
                bookmarks=options.allow_bookmarks,
            )
        except Compacted as error:
            raise resource_versions.too_old(begun, store.compacted) from error

    async def _resumed(self, chosen: Selection, since: int, *, bookmarks: bool) -> Watch:
        """A watch that goes on where another ended, with the help of the disk where it must."""
        store = self._context.store
        try:
            return Watch(store, chosen, WatchStart(since), bookmarks=bookmarks)
        except Compacted:
            pass
        try:
            past, until = await store.history_chunk(chosen.kind.storage, since)
        except Compacted as error:
            raise resource_versions.too_old(since, store.compacted) from error
        return Watch(store, chosen, WatchStart(until, past=past), bookmarks=bookmarks)

    def _present(self, chosen: Selection) -> list[Record]:
        store = self._context.store
        if chosen.key is None:
            return store.collection(chosen.kind.storage).range(chosen.prefix)
        record = store.find(chosen.kind.storage, chosen.key)
        return [] if record is None else [record]


def _serves(kinds: Kinds, kind: Kind) -> bool:
    resource = kind.resource
    return kinds.find(resource.group, resource.version, resource.plural) is not None
