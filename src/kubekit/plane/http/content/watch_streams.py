"""A watch as the body of a response: lines of JSON, until either side ends it."""

from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable, Sequence
from typing import Final

from kubekit.plane.registry.verbs.watches import EncodedWatchEvent, Watch

_TAKEN_AT_ONCE: Final = 100
Write = Callable[[EncodedWatchEvent], bytes]


class WatchStream:
    """A watch that ends after its timeout, or when its plane is unmounted.

    ``write`` renders a line from an event; without it the lines are those that all watches share.
    """

    __slots__ = ("_finishing", "_on_close", "_timer", "_watch", "_write", "ended")

    def __init__(
        self,
        watch: Watch,
        write: Write | None,
        on_close: Callable[["WatchStream"], None],
    ) -> None:
        self._watch = watch
        self._write = write
        self._on_close = on_close
        self._timer: TimerHandle | None = None
        self._finishing = False
        self.ended = False

    def limit(self, loop: AbstractEventLoop, seconds: float) -> None:
        """End after this many seconds."""
        self._timer = loop.call_later(seconds, self.finish)

    def start(self, ready: Callable[[], None]) -> None:
        self._watch.ready = ready

    def take(self) -> Sequence[bytes]:
        if self.ended:
            return ()
        events = self._watch.take(_TAKEN_AT_ONCE)
        self.ended = self._watch.ended
        write = self._write
        if write is None:
            return [event.line for event in events]
        return [write(event) for event in events]

    def finish(self) -> None:
        """End the watch, with a last bookmark if the client requested bookmarks."""
        if not self._finishing:
            self._finishing = True
            self._watch.finish()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._watch.close()
        self._on_close(self)


class Watches:
    """The open watches of a plane. After `finish`, each new one ends at once."""

    __slots__ = ("_finished", "_open")

    def __init__(self) -> None:
        self._open: set[WatchStream] = set()
        self._finished = False

    def __len__(self) -> int:
        return len(self._open)

    def add(self, stream: WatchStream) -> None:
        self._open.add(stream)
        if self._finished:
            stream.finish()

    def discard(self, stream: WatchStream) -> None:
        self._open.discard(stream)

    def finish(self) -> None:
        """End all watches, and each later one at once."""
        self._finished = True
        for stream in list(self._open):
            stream.finish()
