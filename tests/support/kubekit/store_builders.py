"""Drafts and worlds for tests of the store."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.store.records import ChangeEvent, ChangeType, Draft, Record
from kubekit.plane.store.store import Store, StoreSettings

WIDGETS = "example.com/widgets"
HEAD = b'{"kind":"Widget","metadata":{'


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def advance(self, by: timedelta) -> None:
        self.moment += by


def environment(clock: Clock | None = None) -> ExecutionEnvironment:
    return ExecutionEnvironment((clock or Clock()).now, Random(1))


def created(key: str, body: str = "", resource: str = WIDGETS) -> Draft:
    return _draft(resource, key, 0, ChangeType.ADDED, body)


def changed(record: Record, body: str = "", resource: str = WIDGETS) -> Draft:
    return _draft(resource, record.key, record.revision, ChangeType.MODIFIED, body)


def deleted(record: Record, body: str = "", resource: str = WIDGETS) -> Draft:
    return _draft(resource, record.key, record.revision, ChangeType.DELETED, body)


def body_of(record: Record) -> str:
    """The body of the draft."""
    return body_in(record.data)


def body_in(data: bytes) -> str:
    return data.rpartition(b'"body":"')[2].removesuffix(b'"}').decode()


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that runs in an event loop of its own."""

    @functools.wraps(test)
    def run(*args: object, **fixtures: object) -> None:
        asyncio.run(test(*args, **fixtures))

    return run


@asynccontextmanager
async def opened(
    directory: Path,
    settings: StoreSettings = StoreSettings(),  # noqa: B008 - immutable
    *,
    clock: Clock | None = None,
    threaded: bool = True,
    vfs: str | None = None,
) -> AsyncIterator[Store]:
    """The store of a directory, closed at the end."""
    path = directory / "plane.db"
    store = await Store.open(path, environment(clock), settings, threaded=threaded, vfs=vfs)
    try:
        yield store
    finally:
        await store.close()


def revisions(events: list[ChangeEvent]) -> list[int]:
    return [event.record.revision for event in events]


def keys(records: list[Record]) -> list[str]:
    return [record.key for record in records]


def _draft(resource: str, key: str, previous: int, change: ChangeType, body: str) -> Draft:
    name = key.rpartition("/")[2]
    tail = f'"name":"{name}"}},"body":"{body}"}}'.encode()
    return Draft(resource, key, previous, change, HEAD, tail)
