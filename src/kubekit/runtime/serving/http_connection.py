"""One connection of the server: the handshake, then requests and responses one after the other.

Each wait for the peer has a deadline of its own, counted from its start, so that a peer that sends a
byte now and then gains nothing. The next request is read only after the response was taken: a peer
that does not read costs one response.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from kubekit.runtime.serving.messages import (
    Handler,
    HttpRefusal,
    IncomingRequest,
    OutgoingResponse,
    text_response,
)
from kubekit.runtime.serving.request_parser import (
    ArrivalStage,
    BodyAllowance,
    RequestParser,
    ServingLimits,
)

T = TypeVar("T")

_CHUNK: Final = 64 * 1024
_MOST_DISCARDED: Final = 8 << 20
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class ServedConnection:
    """A connection as its server sees it. ``transport`` has the socket once it is there."""

    accepted: socket.socket
    transport: asyncio.Transport | None = None
    task: "asyncio.Task[None] | None" = None
    opened: bool = False
    """Whether the event loop owns the socket."""
    retiring: bool = False
    """Whether the connection ends after the response that is being made."""

    def abort(self) -> None:
        """Close it now, and drop what is not sent yet."""
        if self.task is not None:
            self.task.cancel()
        if self.transport is not None:
            self.transport.abort()
        elif not self.opened:
            self.accepted.close()


@dataclass(frozen=True, slots=True)
class ConnectionContext:
    """What all connections of a server share.

    ``waiting`` is called with True when a connection waits for a request, and with False when it has
    one.
    """

    handler: Handler
    limits: ServingLimits
    allowance: BodyAllowance
    waiting: Callable[[ServedConnection, bool], None]


async def serve(
    connection: ServedConnection, context: ConnectionContext, tls: ssl.SSLContext | None
) -> None:
    """Serve one connection until it ends. It raises what ended it before its time, such as `ssl.SSLError`."""
    reader = asyncio.StreamReader(_CHUNK)
    protocol = asyncio.StreamReaderProtocol(reader)
    loop, limits = asyncio.get_running_loop(), context.limits
    connection.opened = True
    transport, _ = await loop.connect_accepted_socket(
        lambda: protocol,
        connection.accepted,
        ssl=tls,
        ssl_handshake_timeout=None if tls is None else limits.handshake_time,
        ssl_shutdown_timeout=None if tls is None else limits.linger_time,
    )
    connection.transport = transport
    try:
        # So `drain` waits until the peer takes the response. With 0, TLS would never resume.
        transport.set_write_buffer_limits(high=1, low=0)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        await _Exchanges(connection, context, reader, writer).run()
    finally:
        transport.abort()


class _Exchanges:
    """The requests and responses of one connection."""

    def __init__(
        self,
        connection: ServedConnection,
        context: ConnectionContext,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._connection = connection
        self._context = context
        self._limits = context.limits
        self._reader = reader
        self._writer = writer
        self._parser = RequestParser(context.limits, context.allowance)

    async def run(self) -> None:
        refused: HttpRefusal | None = None
        try:
            await self._answer_all()
        except HttpRefusal as refusal:
            refused = refusal
        finally:
            self._parser.close()
        if refused is not None:
            await self._refuse(refused)

    async def _answer_all(self) -> None:
        patience = self._limits.head_time
        while (request := await self._next(patience)) is not None:
            response = await self._answer(request)
            close = response.close or self._connection.retiring or not request.keep_alive
            await self._write(response.encoded(close=close, with_body=request.method != "HEAD"))
            self._parser.release(len(request.body))
            if close:
                await self._close()
                return
            patience = self._limits.idle_time

    async def _next(self, patience: float) -> IncomingRequest | None:
        """The next request, or None at the end of the connection."""
        self._context.waiting(self._connection, True)  # noqa: FBT003 - see ConnectionContext
        try:
            return await self._arrived(patience)
        finally:
            self._context.waiting(self._connection, False)  # noqa: FBT003

    async def _arrived(self, patience: float) -> IncomingRequest | None:
        parser = self._parser
        stage = parser.stage  # a part may have arrived together with the last request
        deadline = self._deadline(patience if stage is ArrivalStage.IDLE else self._time_for(stage))
        while not parser.requests:
            try:
                data = await _by(deadline, self._reader.read(_CHUNK))
            except TimeoutError:
                if stage is ArrivalStage.IDLE:
                    return None
                raise HttpRefusal(408, "the request did not arrive in time") from None
            if not data:
                return None
            parser.feed(data)
            if parser.expects_continue:
                parser.expects_continue = False
                self._writer.write(_CONTINUE)
            if parser.stage is not stage:
                stage = parser.stage
                deadline = self._deadline(self._time_for(stage))
        return parser.requests.popleft()

    def _time_for(self, stage: ArrivalStage) -> float:
        return self._limits.body_time if stage is ArrivalStage.BODY else self._limits.head_time

    async def _answer(self, request: IncomingRequest) -> OutgoingResponse:
        try:
            return await self._context.handler(request)
        except Exception:  # noqa: BLE001 - whatever it is, the client gets a response
            _log.exception("a request was not answered", extra={"path": request.path})
            return text_response(500, "an internal error; the log has the cause\n")

    async def _write(self, data: bytes) -> None:
        """Send the bytes, and wait until the peer has taken them."""
        self._writer.write(data)
        await _by(self._deadline(self._limits.write_time), self._writer.drain())

    async def _refuse(self, refusal: HttpRefusal) -> None:
        """Answer with an error, and close.

        A close with unread bytes is a reset, which would discard the response on its way: so what
        the peer still sends is read for a moment.
        """
        await self._write(text_response(refusal.status, f"{refusal}\n").encoded(close=True))
        if self._writer.can_write_eof():
            self._writer.write_eof()
        deadline, discarded = self._deadline(self._limits.linger_time), 0
        try:
            while discarded < _MOST_DISCARDED:
                data = await _by(deadline, self._reader.read(_CHUNK))
                if not data:
                    break
                discarded += len(data)
        except TimeoutError:
            return
        await self._close()

    async def _close(self) -> None:
        self._writer.close()
        await _by(self._deadline(self._limits.linger_time), self._writer.wait_closed())

    @staticmethod
    def _deadline(seconds: float) -> float:
        return asyncio.get_running_loop().time() + seconds


async def _by(deadline: float, work: Awaitable[T]) -> T:
    async with asyncio.timeout_at(deadline):
        return await work
