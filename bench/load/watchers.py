"""A process of watchers: measures the delay from sending a write to its event at each of them.

    python -m bench.load.watchers     the task as JSON on stdin; the delays as JSON on stdout

It prints `ready` once every watch is open. The next line on stdin is the number of writes. It ends when
each watcher has that many events, or was cut off by the server. The clock is the machine's, so that the
times of two processes can be compared.
"""

import re
import select
import sys
import time
from typing import Final

import msgspec

from bench.load import objects
from bench.load.connection import Connection, Refused, Requests, Target, trusting

_SENT: Final = re.compile(rb'"%b": ?"(\d{20})"' % objects.STAMP.encode())
_LONGEST: Final = len(objects.STAMP) + 32  # of what the pattern finds
_LAST_CHUNK: Final = b"\n0\r\n\r\n"
_PATIENCE: Final = 30


class Watching(msgspec.Struct, frozen=True):
    """The server and collection to watch, and the number of watchers."""

    target: Target
    namespace: str
    watchers: int
    since: str


class WatchDelays(msgspec.Struct):
    """How late, in nanoseconds, each write reached each watcher, and how many were cut off."""

    delays: list[int]
    cut_off: int


class Watcher:
    """One open watch."""

    def __init__(self, task: Watching, connection: Connection) -> None:
        path = objects.collection(task.namespace)
        query = f"?watch=true&resourceVersion={task.since}&allowWatchBookmarks=true"
        self.connection = connection
        self.delays: list[int] = []
        self.cut_off = False
        self._rest = b""
        connection.send(Requests(task.target).bare("GET", path + query))

    def listen(self) -> None:
        """Read the available data."""
        while data := self.connection.read():
            now = time.monotonic_ns()
            text, end = self._rest + data, 0
            for match in _SENT.finditer(text):
                self.delays.append(now - int(match[1]))
                end = match.end()
            # A possible start of another match is kept until the rest arrives.
            self._rest = text[max(end, len(text) - _LONGEST) :]
            self.cut_off = text.endswith(_LAST_CHUNK)


def main() -> None:
    """One task from stdin."""
    task = msgspec.json.decode(sys.stdin.readline(), type=Watching)
    context = trusting(task.target)
    watchers = [Watcher(task, Connection(task.target, context)) for _ in range(task.watchers)]
    poll = select.epoll()
    poll.register(sys.stdin.fileno(), select.EPOLLIN)
    by_number = {w.connection.fileno(): w for w in watchers}
    for watcher in watchers:
        _open(watcher)
        poll.register(watcher.connection.fileno(), select.EPOLLIN)
    print("ready", flush=True)
    _listen(poll, by_number)
    cut_off = sum(watcher.cut_off for watcher in watchers)
    delays = [delay for watcher in watchers for delay in watcher.delays]
    sys.stdout.buffer.write(msgspec.json.encode(WatchDelays(delays, cut_off)))


def _open(watcher: Watcher) -> None:
    """Wait for the head of the response."""
    while not (data := watcher.connection.read()):
        select.select((watcher.connection.fileno(),), (), ())
    if data[9:12] != b"200":
        raise Refused(data.decode(errors="replace"))


def _listen(poll: select.epoll, by_number: dict[int, Watcher]) -> None:
    waiting = set(by_number.values())
    expected = 1 << 62
    while waiting:
        ready = poll.poll(_PATIENCE)
        if not ready:
            raise Refused(f"{len(waiting)} watchers still lack events of {expected}")
        for number, _ in ready:
            if number in by_number:
                by_number[number].listen()
            else:
                expected = int(sys.stdin.readline())
                poll.unregister(number)
        waiting = {w for w in waiting if len(w.delays) < expected and not w.cut_off}


if __name__ == "__main__":
    main()
