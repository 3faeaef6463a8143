"""One connection that speaks HTTP/1.1, one request at a time.

It knows what a caller must know to ask again safely: whether anything was sent, and whether any of
an answer came. An answer is either collected whole or handed out piece by piece; in the second case
nothing more is read from the socket while nobody takes what is there.
"""

import asyncio
import os
import select
import ssl
from typing import Final, cast

import httptools

from kubekit.client.http.decompression import Inflation
from kubekit.client.http.exchanges import HttpResponse, ResponseLimits
from kubekit.client.http.failures import AttemptFailure, Late, Lost, NotSent
from kubekit.client.http.tls_errors import refused_by_peer

REFUSALS: Final = 300  # the first code that is none of success
_FIRST_FINAL: Final = 200
_NO_CONTENT: Final = (204, 304)
_MOST_AROUND: Final = 256 * 1024  # bytes of headers, trailers and the like
_HIGH: Final = 1024 * 1024  # bytes of a stream that wait to be taken
_LOW: Final = 256 * 1024
_COMPRESSED: Final = (b"gzip", b"x-gzip", b"deflate")
_NO_LIMITS: Final = ResponseLimits(0.0, 0.0, 0)


class HttpConnection(asyncio.Protocol):
    """A connection. ``gone`` is done once it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._poll = select.poll()
        self._asked: asyncio.Future[HttpResponse] | None = None
        self._answer: HttpResponse | None = None
        self._limits = _NO_LIMITS
        self._timer: asyncio.TimerHandle | None = None
        self._inflation: Inflation | None = None
        self._around = 0  # bytes since the last that were of a body
        self._heard_at = 0.0
        self._has_head = False
        self._is_whole = True
        self._is_paused = False
        self._keeps = True
        self.gone: asyncio.Future[None] = self._loop.create_future()
        self.idle_since = 0.0

    # For those who ask

    @property
    def is_idle(self) -> bool:
        """Whether another request could be sent, as far as has been noticed."""
        if self._answer or self._is_paused or not self._keeps:
            return False
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_usable(self) -> bool:
        """Whether it is idle, and the server has not hung up unnoticed."""
        return self.is_idle and not self._poll.poll(0)

    def ask(
        self, data: bytes, limits: ResponseLimits, *, whole: bool
    ) -> "asyncio.Future[HttpResponse]":
        """The answer: complete if it is a refusal or ``whole`` is wanted, else once its head is there.

        It fails with a `AttemptFailure`. Whoever gives up before that must `abort`.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            raise NotSent("the connection was closed before it was used")
        if limits.until <= self._loop.time():
            raise NotSent(f"no time was left of {limits.seconds:g} s")
        self._answer, self._limits, self._is_whole = HttpResponse(self._taken), limits, whole
        self._begin_message(self._answer)
        self._heard_at = 0.0
        self._around = 0
        self._asked = self._loop.create_future()
        self._timer = self._loop.call_at(limits.until, self._expire)
        transport.write(data)
        return self._asked

    def close(self) -> None:
        """Close it properly; for one that is idle."""
        if self._transport:
            self._transport.close()

    def abort(self) -> None:
        """Close it at once, whatever is under way."""
        self._stop_timer()
        if self._transport:
            self._transport.abort()

    # Called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if self.gone.done():
            return  # it was lost before we heard that TLS had begun
        self._transport = cast("asyncio.Transport", transport)
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            self._keeps = False  # nobody asked; what it says belongs to nothing
            self.close()
            return
        self._heard_at = self._loop.time()
        self._around += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(Lost(f"it does not answer in HTTP ({error})", heard=True))
        except httptools.HttpParserUpgrade:
            self._fail(Lost("it does not answer in HTTP/1.1, but in what nobody asked", heard=True))
        if self._around > _MOST_AROUND:
            # The parser keeps a header until it is whole.
            self._fail(Lost(f"it sent more than {_MOST_AROUND} bytes that are no body", heard=True))

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self.gone.set_result(None)
        answer = self._answer
        if answer and error is None and self._runs_to_the_end(answer):
            self.on_message_complete()
        else:
            self._fail(self._loss(error))

    # Called by the parser

    def on_message_begin(self) -> None:
        if self._answer is None:
            self._keeps = False  # a second answer to one request

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._answer and not self._has_head:  # a trailer comes later
            self._answer.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        answer, status = self._answer, self._parser.get_status_code()
        if answer is None or status < _FIRST_FINAL:
            return  # it only says that it is listening; the answer follows
        answer.status = status
        self._has_head = True
        if answer.header(b"content-encoding").lower() in _COMPRESSED:
            self._inflation = Inflation(self._limits.largest)
        if self._is_whole or status >= REFUSALS:
            self._is_whole = True
            self._mind_silence()
        else:
            self._stop_timer()
            self._resolve(answer)

    def on_body(self, piece: bytes) -> None:
        answer = self._answer
        if answer is None:
            return
        self._around = 0
        try:
            piece = self._inflation.feed(piece) if self._inflation else piece
        except ValueError as error:
            self._fail(Lost(f"the answer cannot be read: {error}", heard=True))
            return
        if piece:
            answer.add(piece)
            self._bound(answer)

    def on_message_complete(self) -> None:
        answer = self._answer
        if answer is None:
            return
        if not self._has_head:
            self._begin_message(answer)
            return
        if self._inflation and not self._inflation.is_whole:
            self._fail(Lost("the compressed answer ended too early", heard=True))
            return
        self._keeps = self._is_clean()
        self._answer = None
        self._stop_timer()
        answer.end()
        self._resolve(answer)

    def _begin_message(self, answer: HttpResponse) -> None:
        answer.headers.clear()
        self._inflation = None
        self._has_head = False

    def _is_clean(self) -> bool:
        """Whether nothing is left of the exchange, on either side."""
        if self._transport is None or self._transport.get_write_buffer_size():
            return False  # it answered before it had the whole request, and may not read the rest
        return self._parser.should_keep_alive()

    def _bound(self, answer: HttpResponse) -> None:
        """Take no more than is allowed, and of a stream no more than is wanted."""
        if self._is_whole:
            if answer.size > self._limits.largest:
                why = f"the answer has more than {self._limits.largest} bytes"
                self._fail(Lost(why, heard=True))
        elif answer.size > _HIGH and not self._is_paused and self._transport:
            self._is_paused = True
            self._transport.pause_reading()

    def _taken(self) -> None:
        answer = self._answer
        if self._is_paused and self._transport and (answer is None or answer.size < _LOW):
            self._is_paused = False
            self._transport.resume_reading()

    def _runs_to_the_end(self, answer: HttpResponse) -> bool:
        """Whether the answer says nothing of its length, so that its end is that of the wire."""
        if not self._has_head or answer.status in _NO_CONTENT:
            return False
        return not (answer.header(b"content-length") or answer.header(b"transfer-encoding"))

    def _loss(self, error: Exception | None) -> AttemptFailure:
        is_new = not (self._heard_at or self.idle_since)
        if is_new and isinstance(error, ssl.SSLError) and (refusal := refused_by_peer(error)):
            return NotSent(*refusal, hopeless=True)
        when = "in the middle of its answer" if self._heard_at else "before it answered"
        return Lost(f"{_ending(error)} {when}", heard=bool(self._heard_at))

    def _mind_silence(self) -> None:
        """Look again when there may have been silence for too long, but by the end at the latest."""
        if self._limits.silence:
            self._stop_timer()
            until = min(self._limits.until, self._heard_at + self._limits.silence)
            self._timer = self._loop.call_at(until, self._expire)

    def _expire(self) -> None:
        now, limits = self._loop.time(), self._limits
        if now >= limits.until:
            what = "not all of it" if self._heard_at else "nothing"
            self._fail(Late(f"{what} came within {limits.seconds:g} s"))
        elif now >= self._heard_at + limits.silence:
            self._fail(Late(f"it was silent for {limits.silence:g} s in the middle of its answer"))
        else:
            self._mind_silence()

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _resolve(self, answer: HttpResponse) -> None:
        if self._asked and not self._asked.done():
            self._asked.set_result(answer)

    def _fail(self, failure: AttemptFailure) -> None:
        answer, self._answer = self._answer, None
        self._keeps = False
        if answer:
            answer.fail(failure)
            if self._asked and not self._asked.done():
                self._asked.set_exception(failure)
        self.abort()


def _ending(error: Exception | None) -> str:
    match error:
        case None:
            return "it closed the connection"
        case OSError(errno=int(number)) if not isinstance(error, ssl.SSLError):
            return f"the connection broke ({os.strerror(number).lower()})"
        case _:
            return f"the connection broke ({type(error).__name__})"
