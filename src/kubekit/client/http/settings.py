"""The settings of an HTTP transport: numbers of connections, timeouts, retries and limits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

AttemptObserver = Callable[[str, int, str], None]
WarningHandler = Callable[[str], None]

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Limits. Times are in seconds, sizes in bytes.

    ``connections`` are for requests, ``watches`` have connections of their own. An idle connection
    is ``kept`` for less time than servers keep theirs, so few requests meet one that was just closed.

    ``request`` is the time for one attempt, from waiting for a connection to the last byte; for a list
    it is ``listing``, with no pause longer than ``silence``. A watch has no deadline; TCP detects a
    dead peer: it sends keep-alives after ``probe`` of silence and gives up after ``dead``.

    A call has at most ``attempts``, and none starts later than ``patience`` after the first.

    ``observe`` is called for each attempt with the method, the status code (0 without a response) and
    the host. ``warn`` is called with the warnings of a server; by default each text is logged once.
    """

    connections: int = 64
    watches: int = 4096
    kept: float = 30.0

    connect: float = 10.0
    request: float = 30.0
    listing: float = 300.0
    silence: float = 30.0
    probe: int = 15
    dead: int = 35

    attempts: int = 5
    patience: float = 60.0

    largest_answer: int = 1024 * _MIB
    longest_line: int = 64 * _MIB

    user_agent: str = "datum-compute"
    observe: AttemptObserver | None = None
    warn: WarningHandler | None = None
