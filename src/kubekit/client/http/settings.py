"""The settings of an HTTP transport: numbers of connections, timeouts, retries and limits."""

from collections.abc import Callable
from typing import Final

import msgspec

AttemptObserver = Callable[[str, int, str], None]
WarningHandler = Callable[[str], None]

_MIB: Final = 1024 * 1024


class HttpSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits. Times are in seconds, sizes in bytes.

    ``connections`` are for requests, ``watches`` have connections of their own. An idle connection is
    closed after ``idle_timeout``, earlier than servers close theirs, so that few requests meet a
    connection that was just closed.

    ``connect_timeout`` is for opening a connection. ``request_timeout`` is for one attempt, from waiting
    for a connection to the last byte. A list has ``list_timeout`` instead, with no pause longer than
    ``read_timeout``. A watch has no deadline. TCP detects a dead peer: it sends keep-alives after
    ``keepalive_idle`` of silence, and gives up after ``keepalive_timeout``.

    A call has at most ``attempts``, and no attempt starts later than ``retry_window`` after the first.

    ``observe`` is called for each attempt with the method, the status code (0 without a response) and
    the host. ``warn`` is called with the warnings of a server; by default each text is logged once.
    """

    connections: int = 64
    watches: int = 4096
    idle_timeout: float = 30.0

    connect_timeout: float = 10.0
    request_timeout: float = 30.0
    list_timeout: float = 300.0
    read_timeout: float = 30.0
    keepalive_idle: int = 15
    keepalive_timeout: int = 35

    attempts: int = 5
    retry_window: float = 60.0

    largest_answer: int = 1024 * _MIB
    longest_line: int = 64 * _MIB

    user_agent: str = "datum-compute"
    observe: AttemptObserver | None = None
    warn: WarningHandler | None = None
