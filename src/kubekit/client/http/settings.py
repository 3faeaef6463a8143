"""How a transport behaves: how many connections, how long it waits, how often it asks again."""

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
    is ``kept`` for less than servers keep theirs, so few requests meet one that was just closed.

    ``request`` is for one attempt, from waiting for a connection to the last byte; a list has
    ``listing``, within which no silence may be longer than ``silence``. A watch has no end; a peer
    that is gone is found by TCP, which asks after ``probe`` of silence and gives up after ``dead``.

    At most ``attempts`` are made of one call, and none begins ``patience`` after the first.

    ``told`` hears of each attempt: the method, the status code (0 if no answer came) and the host.
    ``warn`` hears what a server warns of; without it, each text is logged once.
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
    told: AttemptObserver | None = None
    warn: WarningHandler | None = None
