"""Waits for states of planes: on virtual time for planes of this process, on the clock for servers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import ClassVar, TypeVar

import msgspec

from kubekit.api.meta import Object
from kubekit.client.client import Client, K

T = TypeVar("T")


class Waits:
    """What waits for a state, and says what was read last when it does not come."""

    PAUSE: ClassVar[float] = 0.01  # seconds between two reads
    TRANSIENT: ClassVar[tuple[type[Exception], ...]] = ()
    """Errors of a read that count as no answer yet."""

    def client(self, name: str) -> Client:
        """A client of a user of a plane."""
        raise NotImplementedError

    async def until(
        self, true: Callable[[], Awaitable[T | None]], seconds: float = 60.0, what: str = ""
    ) -> T:
        """What ``true`` returns, once that is neither None nor False nor empty."""
        ends = asyncio.get_running_loop().time() + seconds
        while not (answer := await self._attempt(true)):
            if asyncio.get_running_loop().time() > ends:
                raise AssertionError(f"after {seconds:g} s still not: {what or true}")
            await asyncio.sleep(self.PAUSE)
        return answer

    async def seen(
        self,
        plane: str,
        obj: K,
        true: Callable[[K], object] = lambda _: True,
        seconds: float = 60.0,
    ) -> K:
        """The object, read live, once it exists and ``true`` of it holds."""
        meta = obj.metadata
        return await self.named(plane, type(obj), meta.name, meta.namespace, true, seconds)

    async def named(  # noqa: PLR0917 - where, what, and what of it
        self,
        plane: str,
        kind: type[K],
        name: str,
        namespace: str = "default",
        true: Callable[[K], object] = lambda _: True,
        seconds: float = 60.0,
    ) -> K:
        """The object of this name, read live, once it exists and ``true`` of it holds."""
        last: list[Object | None] = [None]

        async def look() -> K | None:
            found = await self.client(plane).find(kind, name, namespace)
            last[0] = found
            return found if found is not None and true(found) else None

        try:
            return await self.until(look, seconds, f"{plane}: {kind.__name__} {namespace}/{name}")
        except AssertionError as failure:
            failure.add_note(f"last seen: {msgspec.json.encode(last[0]).decode()}")
            raise

    async def gone(
        self, plane: str, kind: type[Object], name: str, namespace: str = "", seconds: float = 60.0
    ) -> None:
        """Wait until no object has this name."""

        async def look() -> bool:
            return await self.client(plane).find(kind, name, namespace) is None

        await self.until(look, seconds, f"{plane}: {kind.__name__} {namespace}/{name} to be gone")

    async def _attempt(self, true: Callable[[], Awaitable[T | None]]) -> T | None:
        try:
            return await true()
        except self.TRANSIENT:
            return None
