"""Writes bodies that do not fit into one write, no faster than the peer reads.

A body is a sequence of slices. A slice is created only when the previous ones are sent. A watch is
an endless body: while the peer does not read, no event is taken from the watch, so a slow client
costs one full buffer and no more.
"""

import logging
from asyncio import Transport
from collections.abc import Callable, Iterator
from typing import Final

from kubekit.plane.http.messages import StreamBody

_log: Final = logging.getLogger(__name__)
_SLICES_PER_TURN: Final = 4  # then other connections get a turn of the loop
_LAST_CHUNK: Final = b"0\r\n\r\n"


class BodyWriter:
    """The writing half of one connection. ``done`` is called when a body is written whole."""

    __slots__ = ("_buffer", "_chunked", "_done", "_slice", "_slices", "_soon", "_stream",
                 "_transport", "_when", "paused", "paused_since")  # fmt: skip

    def __init__(
        self,
        transport: Transport,
        soon: Callable[[Callable[[], None]], None],
        slice_: int,
        done: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._when = soon
        self._slice = slice_
        self._done = done
        self._slices: Iterator[bytes] | None = None
        self._stream: StreamBody | None = None
        self._chunked = True
        self._buffer: list[bytes] = []  # what is left to write, in reverse order
        self._soon = False
        self.paused = False
        self.paused_since = 0.0

    @property
    def streaming(self) -> bool:
        return self._stream is not None

    @property
    def ending(self) -> bool:
        """Whether only the last bytes of a stream are left to write."""
        return self._stream is not None and self._stream.ended

    @property
    def busy(self) -> bool:
        return self._stream is not None or self._slices is not None

    def pour(self, slices: Iterator[bytes]) -> None:
        """Write a body of known length."""
        self._slices = slices
        self._go_on()

    def follow(self, stream: StreamBody, *, chunked: bool) -> None:
        """Write a stream for as long as it lasts."""
        self._stream = stream
        self._chunked = chunked
        stream.start(self.wake)
        self.wake()

    def pause(self, now: float) -> None:
        self.paused = True
        self.paused_since = now

    def resume(self) -> None:
        self.paused = False
        self.wake()

    def wake(self) -> None:
        """Continue writing soon. Many calls in one turn of the loop cost one write."""
        if not self._soon and not self.paused and self.busy:
            self._soon = True
            self._when(self._go_on)

    def stop(self) -> None:
        """Stop writing permanently, and release the connection, even if the stream is still referenced."""
        stream, self._stream, self._slices = self._stream, None, None
        self._buffer.clear()
        del self._transport, self._done
        if stream is not None:
            stream.close()

    def _go_on(self) -> None:
        self._soon = False
        if self.paused:
            return
        try:
            if self._stream is not None:
                self._draw(self._stream)
            elif self._slices is not None:
                self._pump(self._slices)
        except Exception:  # noqa: BLE001 - other connections write in the same callback
            _log.exception("a response was aborted")
            self._transport.abort()

    def _pump(self, slices: Iterator[bytes]) -> None:
        for _ in range(_SLICES_PER_TURN):
            if self.paused:
                return
            piece = next(slices, None)
            if piece is None:
                self._slices = None
                self._done()
                return
            self._transport.write(piece)
        self.wake()

    def _draw(self, stream: StreamBody) -> None:
        if not self._buffer:
            self._buffer.extend(reversed(stream.take()))
        if self._buffer:
            self._transport.write(self._frame())
            self.wake()
        elif stream.ended:
            self._end(stream)

    def _frame(self) -> bytes:
        """As many whole lines as fit into one slice, and at least one."""
        left = self._buffer
        lines = [left.pop()]
        size = len(lines[0])
        while left and size + len(left[-1]) <= self._slice:
            line = left.pop()
            lines.append(line)
            size += len(line)
        if not self._chunked:
            return b"".join(lines)
        return b"".join((b"%x\r\n" % size, *lines, b"\r\n"))

    def _end(self, stream: StreamBody) -> None:
        self._stream = None
        stream.close()
        if self._chunked:
            self._transport.write(_LAST_CHUNK)
        self._done()
