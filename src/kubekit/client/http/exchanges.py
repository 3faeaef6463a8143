"""The response to one request while it arrives, and its limits."""

import asyncio
from collections import deque
from collections.abc import Callable

import msgspec

from kubekit.client.http.failures import AttemptFailure


class ResponseLimits(msgspec.Struct, frozen=True):
    """The limits of one response.

    ``until`` is the deadline by the loop's clock, ``seconds`` after the attempt started: for the whole
    response, or for the head of a stream. ``silence`` is the longest pause between two pieces; 0 means
    no limit. ``largest`` is the most bytes of a body.
    """

    until: float
    seconds: float
    largest: int
    silence: float = 0.0


class HttpResponse:
    """The response to one request. ``size`` is that of the pieces that are not consumed yet."""

    def __init__(self, on_taken: Callable[[], None]) -> None:
        self._on_taken = on_taken
        self._waiter: asyncio.Future[None] | None = None
        self._failure: AttemptFailure | None = None
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.pieces: deque[bytes] = deque()
        self.size = 0
        self.is_complete = False

    def header(self, name: bytes) -> bytes:
        return next((value for header_name, value in self.headers if header_name == name), b"")

    @property
    def body(self) -> bytes:
        """All pieces that have arrived."""
        return self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces)

    async def piece(self) -> bytes:
        """The next piece of a stream; empty at its end. A broken stream raises `AttemptFailure`."""
        while not self.pieces:
            if self.is_complete:
                return b""
            if self._failure:
                raise self._failure
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        piece = self.pieces.popleft()
        self.size -= len(piece)
        self._on_taken()
        return piece

    def add(self, piece: bytes) -> None:
        self.pieces.append(piece)
        self.size += len(piece)
        self._wake()

    def end(self) -> None:
        self.is_complete = True
        self._wake()

    def fail(self, failure: AttemptFailure) -> None:
        self._failure = failure
        self._wake()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)
