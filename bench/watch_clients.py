"""A process of watches that are mostly idle.

    python bench/watch_clients.py     the task as JSON on stdin; what they received as JSON on stdout

It prints `ready` once every watch is open. A number on the next line is how many events each of them
has to receive; there is no timeout here.
"""

import select
import sys
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `bench.load`

from bench.load.connection import Connection, Refused, trusting
from bench.load.watchers import WatchDelays, Watcher, Watching


def main() -> None:
    """One task from stdin."""
    task = msgspec.json.decode(sys.stdin.readline(), type=Watching)
    context = trusting(task.target)
    watchers: dict[int, Watcher] = {}
    poll = select.epoll()
    for _ in range(task.watchers):
        watcher = Watcher(task, Connection(task.target, context))
        _begin(watcher)
        watchers[watcher.connection.fileno()] = watcher
        poll.register(watcher.connection.fileno(), select.EPOLLIN)
    print("ready", flush=True)
    poll.register(sys.stdin.fileno(), select.EPOLLIN)
    _listen(poll, watchers)
    cut_off = sum(watcher.cut_off for watcher in watchers.values())
    delays = [delay for watcher in watchers.values() for delay in watcher.delays]
    sys.stdout.buffer.write(msgspec.json.encode(WatchDelays(delays, cut_off)))


def _begin(watcher: Watcher) -> None:
    """Wait for the head of the answer."""
    poll = select.poll()
    poll.register(watcher.connection.fileno(), select.POLLIN)
    while not (data := watcher.connection.read()):
        poll.poll()
    if data[9:12] != b"200":
        raise Refused(data.decode(errors="replace"))


def _listen(poll: select.epoll, watchers: dict[int, Watcher]) -> None:
    expected = 1 << 62
    waiting = len(watchers)
    while waiting:
        for number, _ in poll.poll():
            if number in watchers:
                watchers[number].listen()
            else:
                expected = int(sys.stdin.readline())
                poll.unregister(number)
        waiting = sum(len(w.delays) < expected and not w.cut_off for w in watchers.values())


if __name__ == "__main__":
    main()
