"""The law of the client: whatever servers and callers do, each answer reaches the one who asked.

Requests, watches and cancellations run through each other over two connections, to a server that
cuts, delays, garbles and resets. The namespace of each request is its number, which its answer bears.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec
from hypothesis import HealthCheck, given, settings as examples, strategies as st

from kubekit.api.errors import ApiError
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.http.settings import HttpSettings
from kubekit.client.http.transport import HttpTransport
from kubekit.client.options import EVERYTHING, PLAIN_DELETE, PLAIN_WATCH, PLAIN_WRITE, PatchType
from kubekit.client.transport import Document, ResourceLocation
from tests.support.generated import depth
from tests.support.kubekit.http_builders import until
from tests.unit.kubekit.client.http.scripted import (
    ReceivedRequest,
    Scripted,
    Step,
    answer,
    opened,
    resetting,
    run,
    serving,
    status,
)

CONNECTIONS = 2
QUICK = HttpSettings(
    connections=CONNECTIONS,
    watches=CONNECTIONS,
    request_timeout=0.1,
    list_timeout=0.1,
    read_timeout=0.05,
    attempts=3,
)
ALIEN = answer(body=b'{"metadata":{"namespace":"alien"}}')
FAULTS = (
    *("none", "drip", "cut", "garbage", "alien", "late", "silent", "reset"),
    *("later", "goodbye", "unannounced", "interim"),
)
VERBS = ("get", "list", "create", "update", "patch", "delete", "watch")


@dataclass(frozen=True)
class Fault:
    """What becomes of one answer. ``at`` is the byte where it happens."""

    kind: str
    at: int


@dataclass(frozen=True)
class Call:
    """What one caller does, after how many turns of the loop, and when it gives up."""

    verb: str
    begins: int
    patience: int | None


@dataclass
class World:
    """The server, and what it has taken without refusing it."""

    server: Scripted
    taken: Counter[str] = field(default_factory=Counter)

    def step(self, fault: Fault) -> Step:
        async def step(writer: asyncio.StreamWriter) -> None:
            request = self.server.requests[-1]
            if fault.kind == "later":
                said = status(429, "TooManyRequests")
                writer.write(answer(429, said, headers=(("Retry-After", "0"),)))
                return
            if request.method != "GET":
                self.taken[_number(request)] += 1
            await _spoil(writer, _said(request), fault)

        return step


def _number(request: ReceivedRequest) -> str:
    return request.target.split("/namespaces/")[1].split("/")[0]


def _said(request: ReceivedRequest) -> bytes:
    document = {"metadata": {"namespace": _number(request), "resourceVersion": "1"}}
    if "watch=true" not in request.target:
        return answer(body=msgspec.json.encode(document))
    line = msgspec.json.encode({"type": "ADDED", "object": document}) + b"\n"
    chunk = b"%x\r\n%s\r\n" % (len(line), line)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 3 + b"0\r\n\r\n"


async def _spoil(writer: asyncio.StreamWriter, text: bytes, fault: Fault) -> None:
    at = fault.at % len(text)
    before = {
        "cut": text[:at],
        "reset": text[:at],
        "silent": text[:at],
        "late": text[:at],
        "drip": text[:at],
        "garbage": text[:at] + b"\0\xff?\r\n\r\n" + ALIEN,
        "alien": text + ALIEN[:at],
        "goodbye": text.replace(b"\r\n", b"\r\nConnection: close\r\n", 1),
        "interim": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + text,
    }
    writer.write(before.get(fault.kind, text))
    match fault.kind:
        case "drip":
            for byte in range(at, len(text), 10):
                await asyncio.sleep(0)
                writer.write(text[byte : byte + 10])
        case "late":
            await asyncio.sleep(0.01)
            writer.write(text[at:])
        case "silent":
            await asyncio.sleep(2 * QUICK.request_timeout)
        case "reset":
            await resetting(writer)
        case "cut" | "goodbye" | "unannounced":
            writer.close()
        case _:
            return


async def _ask(transport: HttpTransport, verb: str, number: str) -> list[Document]:
    place, one = (
        ResourceLocation(ConfigMap.RESOURCE, number),
        ResourceLocation(ConfigMap.RESOURCE, number, "one"),
    )
    asking: dict[str, Callable[[], Awaitable[Document]]] = {
        "get": lambda: transport.get(one),
        "list": lambda: transport.list(place, EVERYTHING),
        "create": lambda: transport.create(place, {}, PLAIN_WRITE),
        "update": lambda: transport.update(one, {}, PLAIN_WRITE),
        "patch": lambda: transport.patch(one, PatchType.MERGE, {}, PLAIN_WRITE),
        "delete": lambda: transport.delete(one, PLAIN_DELETE),
    }
    return [await asking[verb]()] if verb in asking else await _watched(transport, place)


async def _watched(transport: HttpTransport, place: ResourceLocation) -> list[Document]:
    """What came of a watch before it broke."""
    found: list[Document] = []
    with suppress(ApiError, TimeoutError):
        async with asyncio.timeout(0.1), transport.watch(place, PLAIN_WATCH) as stream:
            async for event in stream:
                found += [event.object]
    return found


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def _play(transport: HttpTransport, call: Call, number: str) -> list[str]:
    """Whose answers this caller got."""
    await _turns(call.begins)
    asking = asyncio.ensure_future(_ask(transport, call.verb, number))
    if call.patience is not None:
        await _turns(call.patience)
        asking.cancel()
    with suppress(ApiError, asyncio.CancelledError):
        return [document["metadata"]["namespace"] for document in await asking]
    return []


async def _has_all_places(transport: HttpTransport, server: Scripted) -> bool:
    """Whether as many can be under way together as ever. A slow machine gets some tries."""
    for _ in range(30):
        with suppress(ApiError, TimeoutError):
            async with asyncio.timeout(10 * QUICK.request_timeout):
                await _all_at_once(transport, server)
                return True
    return False


async def _all_at_once(transport: HttpTransport, server: Scripted) -> None:
    arrived, together = 0, asyncio.Event()

    async def step(writer: asyncio.StreamWriter) -> None:
        nonlocal arrived
        said = _said(server.requests[-1])
        arrived += 1
        if arrived == 2 * CONNECTIONS:
            together.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * QUICK.request_timeout):
                await together.wait()
        writer.write(said)

    server.script.clear()
    server.then(*[step] * 2 * CONNECTIONS)
    verbs = ["get"] * CONNECTIONS + ["watch"] * CONNECTIONS
    await asyncio.gather(*(_ask(transport, verb, "last") for verb in verbs))
    if not together.is_set():
        raise TimeoutError


async def _tell(calls: list[Call], faults: list[Fault]) -> None:
    async with serving() as server:
        world = World(server)
        server.then(*(world.step(fault) for fault in faults))
        server.then(*[world.step(Fault("none", 0))] * 200)
        async with opened(server, QUICK) as transport:
            numbers = [f"n{number}" for number in range(len(calls))]
            plays = (_play(transport, *each) for each in zip(calls, numbers, strict=True))
            for number, got in zip(numbers, await asyncio.gather(*plays), strict=True):
                assert set(got) <= {number}
            assert all(times == 1 for times in world.taken.values())
            assert await _has_all_places(transport, server)
        await until(lambda: server.open == 0)


faults = st.builds(Fault, st.sampled_from(FAULTS), st.integers(0, 400))
calls = st.builds(Call, st.sampled_from(VERBS), st.integers(0, 30), st.none() | st.integers(0, 60))


@examples(
    max_examples=depth.examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.lists(calls, min_size=1, max_size=8), st.lists(faults, max_size=10))
def test_each_answer_reaches_the_one_who_asked(calls, faults):
    """No answer is another's, no write is taken twice, no place is lost, no connection is left."""
    run(_tell(calls, faults))
