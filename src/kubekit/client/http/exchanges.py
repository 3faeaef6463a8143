"""One answer on its way: what it may take, and what has come of it."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from kubekit.client.http.failures import AttemptFailure


@dataclass(frozen=True, slots=True)
class ResponseLimits:
    """What one answer may take.

    All of it, or of a stream the head, must have come ``until`` then by the loop's clock, which is
    ``seconds`` after the attempt began. ``silence`` is the longest between two pieces; 0 means any.
    """

    until: float
    seconds: float
    largest: int
    silence: float = 0.0


class HttpResponse:
    """What a server says to one request. ``size`` is of the pieces that nobody has taken."""

    def __init__(self, taken: Callable[[], None]) -> None:
        self._taken = taken
        self._waiter: asyncio.Future[None] | None = None
        self._trouble: AttemptFailure | None = None
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.pieces: deque[bytes] = deque()
        self.size = 0
        self.is_complete = False

    def header(self, name: bytes) -> bytes:
        return next((value for known, value in self.headers if known == name), b"")

    @property
    def body(self) -> bytes:
        """All pieces that are there."""
        return self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces)

    async def piece(self) -> bytes:
        """The next piece of a stream; nothing once it has ended. A broken one raises `AttemptFailure`."""
        while not self.pieces:
            if self.is_complete:
                return b""
            if self._trouble:
                raise self._trouble
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        piece = self.pieces.popleft()
        self.size -= len(piece)
        self._taken()
        return piece

    def add(self, piece: bytes) -> None:
        self.pieces.append(piece)
        self.size += len(piece)
        self._wake()

    def end(self) -> None:
        self.is_complete = True
        self._wake()

    def fail(self, failure: AttemptFailure) -> None:
        self._trouble = failure
        self._wake()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)
