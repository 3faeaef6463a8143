"""Concurrent clients and watchers on one transport, and everything they received.

Each write carries a value that is never used again, so that every answer and every event can be
traced to the write it speaks of. Watchers leave and come back at random, and list again when they
get the error that what they missed is compacted.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from typing import Literal, NamedTuple

from kubekit.api.errors import AlreadyExists, Conflict, Expired, NotFound
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.options import EVERYTHING, PLAIN_WRITE, DeleteOptions, ListOptions, WatchOptions
from kubekit.client.transport import Document, ResourceLocation, Transport
from tests.support.generated.linearizability import Operation, Verb

KEYS = tuple(f"key-{number}" for number in range(12))
NAMESPACE = "default"
LABEL = "parity"
LAST = "last"
_LONG_ABSENCES = 0.3
COLLECTION = ResourceLocation(ConfigMap.RESOURCE, NAMESPACE)


class ObservedEvent(NamedTuple):
    """One item that a watcher received: an event, a bookmark, or an entry of a list."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "LISTED", "RELIST"]
    revision: int
    key: str = ""
    value: str = ""
    parity: str = ""


class Absence:
    """Where watchers stay that have left for long: until the server has forgotten something."""

    def __init__(self) -> None:
        self._over = False
        self._next = asyncio.Event()

    async def wait(self) -> None:
        if not self._over:
            await self._next.wait()

    def end(self, *, permanently: bool = False) -> None:
        """Let all of them come back."""
        self._over = permanently
        self._next.set()
        self._next = asyncio.Event()


@dataclass
class History:
    """The requests, responses and events of all clients."""

    operations: list[Operation] = field(default_factory=list)
    written: dict[int, tuple[str, str]] = field(default_factory=dict)  # revision: key, value
    watchers: list[tuple[str, list[ObservedEvent]]] = field(
        default_factory=list
    )  # parity, what was received
    reference: list[ObservedEvent] = field(default_factory=list)
    lists: list[tuple[int, int, dict[str, str]]] = field(default_factory=list)
    absence: Absence = field(default_factory=Absence)


class Client:
    """One client: it reads, and writes with the version it has read."""

    def __init__(self, number: int, transport: Transport, history: History, chance: Random) -> None:
        self._name = f"client-{number}"
        self._transport = transport
        self._history = history
        self._chance = chance
        self._count = 0
        self._known: dict[str, Document] = {}
        self._newest = 0

    async def step(self) -> None:
        """One request of a random kind on a random object."""
        key = self._chance.choice(KEYS)
        verbs: dict[Verb | Literal["list"], int] = {
            "get": 4, "create": 3, "update": 6, "delete": 2, "list": 1
        }  # fmt: skip
        (verb,) = self._chance.choices(list(verbs), weights=list(verbs.values()))
        if verb == "list":
            await self._list()
        elif verb == "get":
            await self._asked(key, "get", None, self._get)
        elif verb == "create":
            await self._asked(key, "create", None, self._create)
        elif key not in self._known:
            await self._asked(key, "get", None, self._get)
        else:
            expected = self._known[key]["data"]["value"]
            await self._asked(
                key, verb, expected, self._update if verb == "update" else self._delete
            )

    async def _asked(
        self,
        key: str,
        verb: Verb,
        expected: str | None,
        request: Callable[[str, str], Awaitable[str | None]],
    ) -> None:
        self._count += 1
        value: str | None = f"{self._name}.{self._count}"
        start = monotonic()
        answer: Literal["done", "absent", "exists", "moved"] = "done"
        try:
            value = await request(key, f"{value}")
        except NotFound:
            answer = "absent"
            self._known.pop(key, None)
        except AlreadyExists:
            answer = "exists"
        except Conflict:
            answer = "moved"
            self._known.pop(key, None)
        self._history.operations.append(
            Operation(
                key=key,
                verb=verb,
                answer=answer,
                value=value,
                expected=expected,
                start=start,
                end=monotonic(),
            )
        )

    async def _get(self, key: str, _value: str) -> str | None:
        document = await self._transport.get(_place(key))
        self._known[key] = document
        found: str = document["data"]["value"]
        return found

    async def _create(self, key: str, value: str) -> str:
        document = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": key, "labels": {LABEL: self._parity()}},
            "data": {"value": value},
        }
        self._wrote(key, await self._transport.create(COLLECTION, document, PLAIN_WRITE))
        return value

    async def _update(self, key: str, value: str) -> str:
        known = self._known[key]
        metadata = {**known["metadata"], "labels": {LABEL: self._parity()}}
        document = {**known, "metadata": metadata, "data": {"value": value}}
        self._wrote(key, await self._transport.update(_place(key), document, PLAIN_WRITE))
        return value

    async def _delete(self, key: str, _value: str) -> None:
        version = self._known[key]["metadata"]["resourceVersion"]
        await self._transport.delete(_place(key), DeleteOptions(resource_version=version))
        self._known.pop(key, None)

    async def _list(self) -> None:
        newest = self._newest
        found = await self._transport.list(COLLECTION, EVERYTHING)
        self._history.lists.append((newest, _revision(found), _values(found)))

    def _wrote(self, key: str, document: Document) -> None:
        self._known[key] = document
        self._newest = _revision(document)
        self._history.written[self._newest] = (key, document["data"]["value"])

    def _parity(self) -> str:
        return self._chance.choice(("odd", "even"))


async def finish(transport: Transport) -> None:
    """Write the object at which every follower stops."""
    document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": LAST, "labels": {LABEL: LAST}},
        "data": {"value": LAST},
    }
    await transport.create(COLLECTION, document, PLAIN_WRITE)


async def follow_from_now(
    transport: Transport, log: list[ObservedEvent]
) -> Coroutine[None, None, None]:
    """A follower that has listed already, and will miss nothing and never leave."""
    version = await _list_into(log, transport, "")
    return follow(transport, log, version=version)


async def come_and_go(
    transport: Transport, history: History, log: list[ObservedEvent], chance: Random, parity: str
) -> None:
    """Follow, leave, and resume; at times only after what was missed may be forgotten."""

    async def leave() -> None:
        if chance.random() < _LONG_ABSENCES:
            await history.absence.wait()

    await follow(transport, log, parity=parity, stays=lambda: chance.randrange(1, 60), left=leave)


async def _never_left() -> None:
    """The way of a watcher that does not leave."""


async def follow(
    transport: Transport,
    log: list[ObservedEvent],
    *,
    parity: str = "",
    version: int | None = None,
    stays: Callable[[], int] = lambda: -1,
    left: Callable[[], Awaitable[None]] = _never_left,
) -> None:
    """List and watch until the last object, leaving after as many events as ``stays`` says."""
    selector = f"{LABEL} in ({parity},{LAST})" if parity else ""
    while version is None or version > 0:
        try:
            if version is None:
                version = await _list_into(log, transport, selector)
            options = WatchOptions(
                label_selector=selector, resource_version=str(version), allow_bookmarks=True
            )
            version = await _watch_into(log, transport, stays(), options)
            await left()
        except Expired:
            version = None


async def _list_into(log: list[ObservedEvent], transport: Transport, selector: str) -> int:
    found = await transport.list(COLLECTION, ListOptions(label_selector=selector))
    version = _revision(found)
    log.append(ObservedEvent("RELIST", version))
    log.extend(ObservedEvent("LISTED", _revision(item), *_identity(item)) for item in _items(found))
    is_over = any(item["metadata"]["name"] == LAST for item in found["items"])
    return 0 if is_over else version


async def _watch_into(
    log: list[ObservedEvent], transport: Transport, left: int, options: WatchOptions
) -> int:
    """The revision to resume from; 0 when the last object has come."""
    version = int(options.resource_version)
    if not version:
        return 0
    async with transport.watch(COLLECTION, options) as events:
        async for event in events:
            version = _revision(event.object)
            name = event.object["metadata"].get("name")
            if event.type == "BOOKMARK":
                log.append(ObservedEvent("BOOKMARK", version))
            elif name == LAST:
                return 0
            elif name in KEYS:
                log.append(ObservedEvent(event.type, version, *_identity(event.object)))
            left -= 1
            if left == 0:
                break
    return version


def _place(key: str) -> ResourceLocation:
    return ResourceLocation(ConfigMap.RESOURCE, NAMESPACE, key)


def _revision(document: Document) -> int:
    return int(document["metadata"]["resourceVersion"])


def _identity(item: Document) -> tuple[str, str, str]:
    metadata = item["metadata"]
    return metadata["name"], item["data"]["value"], metadata["labels"][LABEL]


def _items(found: Document) -> list[Document]:
    """Only ours: a server may keep ConfigMaps of its own there."""
    return [item for item in found["items"] if item["metadata"]["name"] in KEYS]


def _values(found: Document) -> dict[str, str]:
    return {item["metadata"]["name"]: item["data"]["value"] for item in _items(found)}
