"""One connection: requests in, responses out, in order.

A complete request is passed to the handler in the callback that delivered its last byte. If the
handler answers at once, the response is written in that callback too. Pipelined requests wait until
the previous one is answered; when many wait, nothing more is read.

An error here ends the connection: after invalid bytes the start of the next request is unknown.
"""

import asyncio
import logging
from typing import Final

from kubekit.api import errors
from kubekit.plane.http import http_errors
from kubekit.plane.http.connection import response_heads
from kubekit.plane.http.connection.body_writer import BodyWriter
from kubekit.plane.http.connection.peers import Peers
from kubekit.plane.http.connection.request_reader import PipelinedRequest, ReadStage, RequestReader
from kubekit.plane.http.connection.slices import compressed, slices, takes_gzip
from kubekit.plane.http.limits import Limits
from kubekit.plane.http.messages import Caller, Handler, Response, SegmentedBody, refusal

_log: Final = logging.getLogger(__name__)
_NOT_MODIFIED: Final = 304
_LENGTH: Final = b"content-length: %d\r\n"
_CHUNKED: Final = b"transfer-encoding: chunked\r\n"
_GZIPPED: Final = b"content-encoding: gzip\r\nvary: accept-encoding\r\n" + _CHUNKED
_UNREAD_AFTER_REFUSAL: Final = 8 << 20


class HttpServerProtocol(asyncio.BufferedProtocol):
    """The server's end of one connection.

    It reads into a buffer that all connections share. Otherwise uvloop would map and unmap 256 KB of
    memory at each read of a TLS connection.
    """

    _transport: asyncio.Transport
    _writer: BodyWriter

    def __init__(self, handler: Handler, limits: Limits, peers: Peers) -> None:
        self._handler = handler
        self._limits = limits
        self._peers = peers
        self._reader = RequestReader(limits, peers, self._touch, self._arrived, self._invite)
        self._current: PipelinedRequest | None = None
        self._waiting: list[PipelinedRequest] = []
        self._pending: asyncio.Future[Response] | None = None
        self._refusal: Response | None = None
        self._since = peers.now
        self._reading_stopped = False
        self._held_back = False
        self._invitation_due = False
        self._discarded = 0

    # Called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not all transports of uvloop inherit from asyncio.Transport.
        self._transport = transport  # type: ignore[assignment]
        limits = self._limits
        self._transport.set_write_buffer_limits(high=limits.slice)
        self._reader.caller = _caller(self._transport)
        self._writer = BodyWriter(self._transport, self._peers.soon, limits.slice, self._answered)
        if not self._peers.join(self):
            self._refuse(http_errors.too_many_connections(limits.connections))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._peers.buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._reading_stopped:
            self._discard(nbytes)
            return
        try:
            self._reader.feed(self._peers.buffer[:nbytes])
        except errors.ApiError as error:
            self._refuse(error)

    def eof_received(self) -> bool:
        """Whether to keep the write side open: yes, if a response is pending."""
        answering = self._current is not None and not self._writer.streaming
        self._reading_stopped = True
        self._waiting.clear()
        return answering and self._transport.can_write_eof()

    def connection_lost(self, exc: Exception | None) -> None:
        self._reading_stopped = True
        self._current = self._pending = None
        self._waiting.clear()
        self._writer.stop()
        self._reader.drop()
        self._peers.leave(self)
        # These refer back to the protocol. A reference cycle holds 30 KB until a rare collection.
        del self._transport, self._writer, self._reader

    def pause_writing(self) -> None:
        self._writer.pause(self._peers.now)

    def resume_writing(self) -> None:
        self._writer.resume()
        if self._current is not None and self._pending is None and not self._writer.busy:
            self._answered()

    # Called by the sweep

    def sweep(self, now: float) -> None:
        waited = now - self._since
        if self._current is not None:
            self._sweep_answer(now, waited)
        elif self._reading_stopped:
            self._sweep_unread(waited)
        elif self._reader.stage is ReadStage.NOTHING:
            self._sweep_idle(waited)
        elif self._reader.too_slow(waited):
            self._refuse(http_errors.TooSlow("the request did not arrive in time"))

    def retire(self) -> None:
        """Finish the requests in flight, then close."""
        self._waiting.clear()
        if self._current is None:
            self._transport.close()
        else:
            self._current.persistent = False

    def abort(self) -> None:
        self._transport.abort()

    # Answering

    def _touch(self) -> None:
        self._since = self._peers.now

    def _arrived(self, pipelined: PipelinedRequest) -> None:
        self._invitation_due = False
        if self._current is None and not self._waiting:
            self._start(pipelined)
            return
        self._waiting.append(pipelined)
        full = len(self._waiting) >= self._limits.pipelined or _has_body(pipelined)
        if full and not self._held_back:
            self._held_back = True
            self._transport.pause_reading()

    def _start(self, pipelined: PipelinedRequest) -> None:
        self._current = pipelined
        self._since = self._peers.now
        try:
            answer = (
                self._handler(pipelined.request) if pipelined.request is not None else self._refusal
            )
        except (Exception, asyncio.CancelledError):  # noqa: BLE001 - else the peer would wait
            _log.exception("a request was not answered")
            self.abort()
            return
        if isinstance(answer, Response):
            self._send(answer, pipelined)
            return
        assert answer is not None
        self._pending = asyncio.ensure_future(answer)
        self._pending.add_done_callback(self._resolved)

    def _resolved(self, pending: asyncio.Future[Response]) -> None:
        """The response is ready. After a timeout nothing waits for it."""
        awaited = pending is self._pending
        if pending.cancelled() or pending.exception() is not None:
            if awaited:
                self.abort()
            return
        response = pending.result()
        if awaited and self._current is not None:
            self._pending = None
            self._send(response, self._current)
        elif not isinstance(response.body, bytes | SegmentedBody):
            response.body.close()

    def _send(self, response: Response, pipelined: PipelinedRequest) -> None:
        half_closed = self._reading_stopped and self._refusal is None
        if response.close or half_closed:
            pipelined.persistent = False
        body = response.body
        if isinstance(body, bytes) and not self._compresses(body, pipelined):
            framing = b"" if response.status == _NOT_MODIFIED else _LENGTH % len(body)
            head = self._head(response, framing, pipelined)
            self._transport.write(head if _is_head(pipelined) else head + body)
            self._answered()
        elif isinstance(body, bytes | SegmentedBody):
            self._send_large(response, body, pipelined)
        elif half_closed:  # no event would report that the peer stopped reading
            body.close()
            self.abort()
        else:
            self._transport.write(self._head(response, _CHUNKED, pipelined))
            self._writer.follow(body, chunked=pipelined.modern)

    def _send_large(
        self, response: Response, body: bytes | SegmentedBody, pipelined: PipelinedRequest
    ) -> None:
        parts = slices(body, self._limits.slice)
        if self._compresses(body, pipelined):
            self._transport.write(self._head(response, _GZIPPED, pipelined))
            self._writer.pour(compressed(parts))
        else:
            framing = _LENGTH % len(body)
            self._transport.write(self._head(response, framing, pipelined))
            self._writer.pour(parts)

    def _compresses(self, body: bytes | SegmentedBody, pipelined: PipelinedRequest) -> bool:
        if not pipelined.modern or pipelined.request is None or len(body) <= self._limits.gzip_over:
            return False
        return takes_gzip(pipelined.request.headers.get("accept-encoding", ""))

    def _head(self, response: Response, framing: bytes, pipelined: PipelinedRequest) -> bytes:
        if not pipelined.modern and framing is _CHUNKED:
            framing = b""  # for HTTP/1.0 a stream ends with the connection
            pipelined.persistent = False
        parts = [response_heads.opening(response.status, response.content_type), framing]
        parts.append(
            response_heads.lines(response.headers) if response.headers else response_heads.UNCACHED
        )
        if not pipelined.persistent:
            parts.append(b"connection: close\r\n")
        elif not pipelined.modern:
            parts.append(b"connection: keep-alive\r\n")
        parts.append(self._peers.date)
        return b"".join(parts)

    def _answered(self) -> None:
        """A response is written: continue with the next request, once the peer has read enough."""
        pipelined = self._current
        if pipelined is None or self._writer.paused:
            return
        self._current = None
        self._since = self._peers.now
        if not pipelined.persistent:
            self._hang_up()
        elif self._waiting:
            self._peers.loop.call_soon(self._next)
        elif self._invitation_due:
            self._invite()

    def _next(self) -> None:
        if self._current is not None or not self._waiting:
            return
        pipelined = self._waiting.pop(0)
        if self._held_back and not self._waiting:
            self._held_back = False
            self._transport.resume_reading()
        self._start(pipelined)

    def _invite(self) -> None:
        """Send 100 Continue to a client that waits for it, once its request is the next one."""
        self._invitation_due = self._current is not None or bool(self._waiting)
        if not self._invitation_due:
            self._transport.write(response_heads.CONTINUE)

    # Ending

    def _refuse(self, error: errors.ApiError) -> None:
        """Answer with an error, after earlier responses, and stop reading. The handler sees an
        unauthenticated request too.
        """
        self._reading_stopped = True
        self._refusal = refusal(error)
        self._arrived(PipelinedRequest(self._reader.unauthenticated, persistent=False, modern=True))

    def _hang_up(self) -> None:
        """Close. With unread bytes a close is a reset, which would discard the last response."""
        if self._refusal is None:
            self._transport.close()
        elif self._transport.can_write_eof():
            self._transport.write_eof()

    def _discard(self, size: int) -> None:
        self._discarded += size
        if self._discarded > _UNREAD_AFTER_REFUSAL:
            self.abort()

    def _sweep_unread(self, waited: float) -> None:
        """Close after a refusal, once the peer had time to react to it."""
        if waited > self._limits.drain_time:
            self.abort()
        elif waited >= self._limits.tick:
            self._transport.close()

    def _sweep_idle(self, waited: float) -> None:
        """Close an idle connection; abort it if the peer does not read the last response."""
        limits = self._limits
        if waited > limits.idle_time + limits.drain_time:
            self.abort()
        elif waited > limits.idle_time:
            self._transport.close()

    def _sweep_answer(self, now: float, waited: float) -> None:
        writer, limits = self._writer, self._limits
        if writer.streaming:
            timeout = limits.drain_time if writer.ending else limits.stall_time
            stalled = writer.paused and now - writer.paused_since > timeout
            if stalled or self._held_back:  # while nothing is read, a disconnect is not noticed
                self.abort()
        elif waited > limits.request_time:
            self._give_up()

    def _give_up(self) -> None:
        """Respond to a timed out request with a Timeout, if the response has not started."""
        pipelined = self._current
        if self._pending is None or pipelined is None:
            self.abort()
            return
        self._pending = None
        pipelined.persistent = False
        message = f"no response within {self._limits.request_time:g} s; it may still have succeeded"
        self._send(refusal(errors.Timeout(message)), pipelined)


def _caller(transport: asyncio.BaseTransport) -> Caller:
    """The client, as the handshake identified it. It is the same for the whole connection."""
    peer = transport.get_extra_info("peername")
    tls = transport.get_extra_info("ssl_object")
    certificate = None if tls is None else tls.getpeercert(binary_form=True)
    return Caller(peer[0] if peer else "", certificate or b"")


def _is_head(pipelined: PipelinedRequest) -> bool:
    return pipelined.request is not None and pipelined.request.method == "HEAD"


def _has_body(pipelined: PipelinedRequest) -> bool:
    """Bodies may be large: only one waits at a time."""
    return pipelined.request is not None and bool(pipelined.request.body)
