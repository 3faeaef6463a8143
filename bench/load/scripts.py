"""The work of one client: a generator of requests that receives each response."""

import itertools
import time
from collections.abc import Callable, Generator
from typing import Final

import msgspec

from bench.load import objects
from bench.load.connection import Requests, Target, body, with_length

Script = Generator[bytes, list[bytes], None]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What a process of clients shall do to a server.

    ``first`` is the number of its first client among ``all``, which may be spread over processes.
    ``names`` says how many objects are there already, or shall be. ``prefix`` begins the names of
    new ones. With a ``period`` each client writes once in so many seconds, else as fast as it gets
    answers; it ends after ``seconds``, or after so many ``turns`` of each client.
    """

    script: str
    target: Target
    namespace: str
    clients: int
    first: int = 0
    all: int = 0
    seconds: float = 3600
    turns: int = 0
    period: float = 0
    prefix: str = ""
    names: int = 0


def creates(task: Task, client: int) -> Script:
    """New objects. Each contains the time at which it was sent."""
    head = Requests(task.target).head("POST", objects.collection(task.namespace))
    new = objects.Body(task.namespace)
    for number in itertools.count():
        name = f"{task.prefix}-{client}-{number}".encode()
        yield head + with_length(new.named(name, time.monotonic_ns()))


def seeds(task: Task, client: int) -> Script:
    """The objects that the other scripts find: this client's share of them."""
    head = Requests(task.target).head("POST", objects.collection(task.namespace))
    new = objects.Body(task.namespace)
    for number in range(client, task.names, task.all):
        yield head + with_length(new.named(b"seed-%d" % number))


def gets(task: Task, client: int) -> Script:
    """Objects that are there, one after the other."""
    requests = [Requests(task.target).bare("GET", path) for path in _seeded(task, client)]
    while True:
        yield from requests


def updates(task: Task, client: int) -> Script:
    """Status updates as a controller does them: read the object, write it back with a new status.

    Each client keeps to objects of its own, so that none is refused.
    """
    requests = Requests(task.target)
    turns = [
        (requests.bare("GET", path), requests.head("PUT", path + "/status"))
        for path in _seeded(task, client)
    ]
    new = objects.status()
    for number in itertools.count():
        get, put = turns[number % len(turns)]
        answer = yield get
        document = msgspec.json.decode(body(answer))
        new["conditions"][0]["message"] = f"The Instance is running at {time.monotonic_ns()}"
        document["status"] = new
        yield put + with_length(msgspec.json.encode(document))


def lists(task: Task, _client: int) -> Script:
    """Everything in the namespace, in one answer."""
    request = Requests(task.target).bare("GET", objects.collection(task.namespace))
    while True:
        yield request


def packed_lists(task: Task, _client: int) -> Script:
    """The same, as clients that take gzip get it."""
    path = objects.collection(task.namespace)
    request = Requests(task.target).bare("GET", path, accept_encoding="gzip")
    while True:
        yield request


# name -> the script, and how many requests make one operation
SCRIPTS: Final[dict[str, tuple[Callable[[Task, int], Script], int]]] = {
    "seed": (seeds, 1),
    "create": (creates, 1),
    "get": (gets, 1),
    "status": (updates, 2),
    "list": (lists, 1),
    "list.gz": (packed_lists, 1),
}


def _seeded(task: Task, client: int) -> list[str]:
    """The paths of this client's share of the objects that `seeds` has made."""
    path = objects.collection(task.namespace)
    return [f"{path}/seed-{number}" for number in range(client, task.names, task.all)]
