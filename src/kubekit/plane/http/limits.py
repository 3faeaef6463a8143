"""The limits on sizes, times and numbers of requests and connections.

They are checked before a body is parsed, since parsing is what they limit.
"""

from dataclasses import dataclass
from typing import Final

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    body: int = 3 * MIB
    bodies: int = 256 * MIB  # of all requests together that have not arrived whole
    header_bytes: int = 32 * 1024
    headers: int = 100
    url: int = 8 * 1024
    connections: int = 20_000
    pipelined: int = 32  # requests that wait behind one that is being answered

    header_time: float = 10.0
    body_time: float = 30.0
    body_rate: int = 64 * 1024  # bytes a second that a body must reach once its time is used up
    idle_time: float = 90.0
    request_time: float = 60.0
    drain_time: float = 10.0  # for the last bytes of a connection that is being closed
    stall_time: float = 30.0  # for a watcher that does not read
    tick: float = 1.0

    gzip_over: int = 128 * 1024
    slice: int = 240 * 1024
