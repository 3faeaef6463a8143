"""A process of clients: each sends its next request when it has the answer to the last.

    python -m bench.load.clients     the task as JSON on stdin; the outcome as JSON on stdout

It prints `ready` once every client is connected and starts at the next line on stdin, so that several
processes can start together.
"""

import gc
import select
import sys
import time
from collections.abc import Sequence
from typing import Final

import msgspec

from bench.load.connection import Connection, Refused, trusting
from bench.load.scripts import SCRIPTS, Task

_SECOND: Final = 1_000_000_000


class Outcome(msgspec.Struct):
    """How many operations were done in how many seconds, and how long each took, in nanoseconds."""

    seconds: float
    took: list[int]


class Client:
    """A connection and what is done over it."""

    def __init__(self, connection: Connection, task: Task, number: int) -> None:
        script, self._steps = SCRIPTS[task.script]
        self.connection = connection
        self.due = 0
        self._script = script(task, number)
        self._turns = task.turns or 1 << 62
        self._step = 0
        self._began = 0

    def start(self) -> bool:
        """Send the first request of an operation, unless all are done."""
        self._turns -= 1
        request = next(self._script, None) if self._turns >= 0 else None
        if request is None:
            return False
        self._began, self._step = time.monotonic_ns(), 0
        self.connection.send(request)
        return True

    def go_on(self) -> int:
        """Take what has come in. How long the operation took, if this was the end of it, else 0."""
        answer = self.connection.answer()
        if answer is None:
            return 0
        self._step += 1
        if self._step == self._steps:
            return time.monotonic_ns() - self._began
        self.connection.send(self._script.send(answer))
        return 0


def main() -> None:
    """One task from stdin."""
    task = msgspec.json.decode(sys.stdin.readline(), type=Task)
    context = trusting(task.target)
    clients = [
        Client(Connection(task.target, context), task, task.first + number)
        for number in range(task.clients)
    ]
    print("ready", flush=True)
    sys.stdin.readline()
    gc.disable()
    outcome = _paced(clients, task) if task.period else _flat_out(clients, task)
    sys.stdout.buffer.write(msgspec.json.encode(outcome))


def _flat_out(clients: Sequence[Client], task: Task) -> Outcome:
    """Every client at full speed, until the time is up or each has done its turns."""
    took: list[int] = []
    start = time.monotonic_ns()
    end = start + int(task.seconds * _SECOND)
    poll, by_number = _poll(clients)
    left = sum(client.start() for client in clients)
    while left:
        for number, _ in poll.poll():
            client = by_number[number]
            try:
                duration = client.go_on()
            except Refused:
                if not task.turns:
                    raise
                # A server that gives up on a list has not answered it, which shows in the rate.
                poll.unregister(number)
                left -= 1
                continue
            if duration:
                took.append(duration)
                left -= not (time.monotonic_ns() < end and client.start())
    return Outcome((time.monotonic_ns() - start) / _SECOND, took)


def _paced(clients: Sequence[Client], task: Task) -> Outcome:
    """Every client once in each period, evenly spread, whether or not the server keeps up.

    A client that has no answer when its turn comes takes it as soon as it has.
    """
    took: list[int] = []
    period = int(task.period * _SECOND)
    start = time.monotonic_ns()
    end = start + int(task.seconds * _SECOND)
    poll, by_number = _poll(clients)
    idle = list(clients)
    for number, client in enumerate(clients):
        client.due = start + period * number // len(clients)
    while (now := time.monotonic_ns()) < end or len(idle) < len(clients):
        for client in [c for c in idle if c.due <= now < end]:
            idle.remove(client)
            client.due += period
            client.start()
        wait = max(0, min((c.due for c in idle), default=now + period) - now)
        for number, _ in poll.poll(wait / _SECOND):
            if duration := by_number[number].go_on():
                took.append(duration)
                idle.append(by_number[number])
    return Outcome((time.monotonic_ns() - start) / _SECOND, took)


def _poll(clients: Sequence[Client]) -> tuple[select.epoll, dict[int, Client]]:
    poll = select.epoll()
    for client in clients:
        poll.register(client.connection.fileno(), select.EPOLLIN)
    return poll, {client.connection.fileno(): client for client in clients}


if __name__ == "__main__":
    main()
