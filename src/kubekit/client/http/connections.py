"""One connection that speaks HTTP/1.1, one request at a time.

It reports what a caller must know to retry safely: whether anything was sent, and whether a response
has started. A response is either collected whole or streamed. A stream stops reading from the socket
while its pieces are not consumed.
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

REFUSALS: Final = 300  # the first code that is not a success
_FIRST_FINAL: Final = 200
_NO_CONTENT: Final = (204, 304)
_MOST_OVERHEAD: Final = 256 * 1024  # bytes of headers, trailers and the like
_HIGH: Final = 1024 * 1024  # bytes of a stream that wait to be consumed
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
        self._pending: asyncio.Future[HttpResponse] | None = None
        self._response: HttpResponse | None = None
        self._limits = _NO_LIMITS
        self._timer: asyncio.TimerHandle | None = None
        self._inflation: Inflation | None = None
        self._overhead = 0  # bytes since the last piece of a body
        self._received_at = 0.0
        self._has_head = False
        self._is_whole = True
        self._is_paused = False
        self._reusable = True
        self.gone: asyncio.Future[None] = self._loop.create_future()
        self.idle_since = 0.0

    # For the caller

    @property
    def is_idle(self) -> bool:
        """Whether another request could be sent, as far as is known."""
        if self._response or self._is_paused or not self._reusable:
            return False
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_usable(self) -> bool:
        """Whether it is idle, and the server has not closed it in the meantime."""
        return self.is_idle and not self._poll.poll(0)

    def ask(
        self, data: bytes, limits: ResponseLimits, *, whole: bool
    ) -> "asyncio.Future[HttpResponse]":
        """The response: complete if it is an error or ``whole`` is wanted, else once its head is there.

        It fails with an `AttemptFailure`. A caller that gives up earlier must `abort`.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            raise NotSent("the connection was closed before it was used")
        if limits.until <= self._loop.time():
            raise NotSent(f"no time was left of {limits.seconds:g} s")
        self._response, self._limits, self._is_whole = HttpResponse(self._on_taken), limits, whole
        self._start_message(self._response)
        self._received_at = 0.0
        self._overhead = 0
        self._pending = self._loop.create_future()
        self._timer = self._loop.call_at(limits.until, self._expire)
        transport.write(data)
        return self._pending

    def close(self) -> None:
        """Close an idle connection gracefully."""
        if self._transport:
            self._transport.close()

    def abort(self) -> None:
        """Close it at once, also in the middle of a request."""
        self._stop_timer()
        if self._transport:
            self._transport.abort()

    # Called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if self.gone.done():
            return  # it was lost before the TLS handshake was reported
        self._transport = cast("asyncio.Transport", transport)
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        if self._response is None:
            self._reusable = False  # there is no request that this data answers
            self.close()
            return
        self._received_at = self._loop.time()
        self._overhead += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(Lost(f"it does not answer in HTTP ({error})", response_started=True))
        except httptools.HttpParserUpgrade:
            self._fail(
                Lost("it switched to a protocol that was not requested", response_started=True)
            )
        if self._overhead > _MOST_OVERHEAD:
            # The parser keeps a header until it is whole.
            self._fail(
                Lost(
                    f"it sent more than {_MOST_OVERHEAD} bytes outside of the body",
                    response_started=True,
                )
            )

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self.gone.set_result(None)
        response = self._response
        if response and error is None and self._ends_with_connection(response):
            self.on_message_complete()
        else:
            self._fail(self._loss(error))

    # Called by the parser

    def on_message_begin(self) -> None:
        if self._response is None:
            self._reusable = False  # a second answer to one request

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._response and not self._has_head:  # a trailer comes later
            self._response.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        response, status = self._response, self._parser.get_status_code()
        if response is None or status < _FIRST_FINAL:
            return  # an interim response; the final one follows
        response.status = status
        self._has_head = True
        if response.header(b"content-encoding").lower() in _COMPRESSED:
            self._inflation = Inflation(self._limits.largest)
        if self._is_whole or status >= REFUSALS:
            self._is_whole = True
            self._watch_silence()
        else:
            self._stop_timer()
            self._resolve(response)

    def on_body(self, piece: bytes) -> None:
        response = self._response
        if response is None:
            return
        self._overhead = 0
        try:
            piece = self._inflation.feed(piece) if self._inflation else piece
        except ValueError as error:
            self._fail(Lost(f"the answer cannot be read: {error}", response_started=True))
            return
        if piece:
            response.add(piece)
            self._enforce_size(response)

    def on_message_complete(self) -> None:
        response = self._response
        if response is None:
            return
        if not self._has_head:
            self._start_message(response)
            return
        if self._inflation and not self._inflation.is_whole:
            self._fail(Lost("the compressed answer ended too early", response_started=True))
            return
        self._reusable = self._is_clean()
        self._response = None
        self._stop_timer()
        response.end()
        self._resolve(response)

    def _start_message(self, response: HttpResponse) -> None:
        response.headers.clear()
        self._inflation = None
        self._has_head = False

    def _is_clean(self) -> bool:
        """Whether the exchange is complete on both sides."""
        if self._transport is None or self._transport.get_write_buffer_size():
            return False  # it answered before the whole request was sent, and may not read the rest
        return self._parser.should_keep_alive()

    def _enforce_size(self, response: HttpResponse) -> None:
        """Enforce the size limit of a response, and pause a stream that is not consumed."""
        if self._is_whole:
            if response.size > self._limits.largest:
                why = f"the answer has more than {self._limits.largest} bytes"
                self._fail(Lost(why, response_started=True))
        elif response.size > _HIGH and not self._is_paused and self._transport:
            self._is_paused = True
            self._transport.pause_reading()

    def _on_taken(self) -> None:
        response = self._response
        if self._is_paused and self._transport and (response is None or response.size < _LOW):
            self._is_paused = False
            self._transport.resume_reading()

    def _ends_with_connection(self, response: HttpResponse) -> bool:
        """Whether the response has no length, so that it ends when the connection does."""
        if not self._has_head or response.status in _NO_CONTENT:
            return False
        return not (response.header(b"content-length") or response.header(b"transfer-encoding"))

    def _loss(self, error: Exception | None) -> AttemptFailure:
        is_new = not (self._received_at or self.idle_since)
        if is_new and isinstance(error, ssl.SSLError) and (refusal := refused_by_peer(error)):
            return NotSent(*refusal, hopeless=True)
        when = "in the middle of its answer" if self._received_at else "before it answered"
        return Lost(f"{_ending(error)} {when}", response_started=bool(self._received_at))

    def _watch_silence(self) -> None:
        """Check again when the silence may have lasted too long, and at the deadline at the latest."""
        if self._limits.silence:
            self._stop_timer()
            until = min(self._limits.until, self._received_at + self._limits.silence)
            self._timer = self._loop.call_at(until, self._expire)

    def _expire(self) -> None:
        now, limits = self._loop.time(), self._limits
        if now >= limits.until:
            what = "not all of it" if self._received_at else "nothing"
            self._fail(Late(f"{what} came within {limits.seconds:g} s"))
        elif now >= self._received_at + limits.silence:
            self._fail(Late(f"it was silent for {limits.silence:g} s in the middle of its answer"))
        else:
            self._watch_silence()

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _resolve(self, response: HttpResponse) -> None:
        if self._pending and not self._pending.done():
            self._pending.set_result(response)

    def _fail(self, failure: AttemptFailure) -> None:
        response, self._response = self._response, None
        self._reusable = False
        if response:
            response.fail(failure)
            if self._pending and not self._pending.done():
                self._pending.set_exception(failure)
        self.abort()


def _ending(error: Exception | None) -> str:
    match error:
        case None:
            return "it closed the connection"
        case OSError(errno=int(number)) if not isinstance(error, ssl.SSLError):
            return f"the connection broke ({os.strerror(number).lower()})"
        case _:
            return f"the connection broke ({type(error).__name__})"
