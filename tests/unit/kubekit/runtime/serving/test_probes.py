"""The probes over real sockets: what they answer, and what they do not put up with."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from kubekit.runtime.reporting.health import Health
from kubekit.runtime.serving.probes import PROBE_LIMITS, Probes
from kubekit.runtime.serving.request_parser import ServingLimits

Story = Callable[["ProbeWorld"], Awaitable[None]]


class ProbeWorld:
    """A raw connection to the probes for each request."""

    def __init__(self, health: Health, probes: Probes) -> None:
        self.health = health
        self.probes = probes
        self.address = probes.address

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self.address.host, self.address.port)

    async def send(self, data: bytes) -> bytes:
        """Everything that comes back until the connection is closed."""
        reader, writer = await self.open()
        writer.write(data)
        answer = await reader.read()
        writer.close()
        return answer

    async def ask(self, path: str, method: str = "GET") -> tuple[int, str]:
        answer = await self.send(f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body.decode()


def run_story(story: Story, limits: ServingLimits = PROBE_LIMITS) -> None:
    """Run a story at the door of probes of its own."""

    async def run() -> None:
        health = Health()
        probes = Probes(health, lambda: b"up 1\n", limits=limits)
        await probes.start()
        try:
            await story(ProbeWorld(health, probes))
        finally:
            await probes.close()

    asyncio.run(run())


def test_a_free_port_on_this_machine_is_taken_by_default():
    """By default only clients of this machine can connect."""

    async def story(world: ProbeWorld) -> None:
        assert world.address.host == "127.0.0.1"
        assert world.address.port > 0

    run_story(story)


def test_readiness_is_refused_with_the_list_of_what_is_missing():
    """A load balancer reads the code, a person the text."""

    async def story(world: ProbeWorld) -> None:
        missing = ["projects p1: instances are not synced"]
        world.health.ready("clusters", lambda: missing)
        assert await world.ask("/readyz") == (
            503,
            "[+]ping ok\n[-]clusters failed: projects p1: instances are not synced\n"
            "readyz check failed\n",
        )
        missing.clear()
        assert await world.ask("/readyz") == (200, "ok")

    run_story(story)


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/healthz", (200, "ok")),
        ("/livez", (200, "ok")),
        ("/readyz/ping", (200, "ok")),
        ("/healthz?verbose", (200, "[+]ping ok\nhealthz check passed\n")),
        ("/readyz?verbose&exclude=ping", (200, "[+]ping excluded: ok\nreadyz check passed\n")),
        ("/metrics", (200, "up 1\n")),
        ("/metrics/x", (404, "there is no such page\n")),
        ("/", (404, "there is no such page\n")),
        ("/readyz/unknown", (404, "there is no such page\n")),
        ("/%2e%2e/readyz", (404, "there is no such page\n")),
    ],
)
def test_pages(path, answer):
    """Each page, alone and in detail; everything else is not there."""

    async def story(world: ProbeWorld) -> None:
        assert await world.ask(path) == answer

    run_story(story)


def test_head_is_get_without_the_text():
    """Some probes ask so."""

    async def story(world: ProbeWorld) -> None:
        assert await world.ask("/readyz", "HEAD") == (200, "")

    run_story(story)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_done_here(method):
    """The probes are for reading."""

    async def story(world: ProbeWorld) -> None:
        assert (await world.ask("/readyz", method))[0] == 405

    run_story(story)


BAD = {
    "a long line": (414, b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"),
    "a long field": (431, b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 17000 + b"\r\n\r\n"),
    "many fields": (431, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 500 + b"\r\n"),
    "a body": (413, b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"),
    "no HTTP": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
}


@pytest.mark.parametrize(("code", "request_"), BAD.values(), ids=BAD)
def test_requests_out_of_bounds_are_refused(code: int, request_: bytes):
    """They get a short answer, and the next one is served."""

    async def story(world: ProbeWorld) -> None:
        answer = await world.send(request_)
        assert int(answer.split()[1]) == code
        assert await world.ask("/healthz") == (200, "ok")

    run_story(story)


@pytest.mark.parametrize(
    ("part", "code"),
    [(b"", b""), (b"GET /readyz HTTP/1.1\r\nHo", b"408")],
    ids=["nothing", "half a request"],
)
def test_a_connection_that_says_too_little_is_closed(part: bytes, code: bytes):
    """A slow client holds nothing for long."""

    async def story(world: ProbeWorld) -> None:
        assert await world.ask("/healthz") == (200, "ok")
        async with asyncio.timeout(30):
            assert (await quietly(world.send(part))).partition(b" ")[2][:3] == code

    run_story(story, replace(PROBE_LIMITS, head_time=0.3))


async def quietly(answer: Awaitable[bytes]) -> bytes:
    try:
        return await answer
    except ConnectionError:
        return b""


def test_connections_that_send_nothing_make_room_for_a_probe():
    """A crowd cannot use up the process' files, and keeps no kubelet out."""

    async def story(world: ProbeWorld) -> None:
        crowd = [await world.open() for _ in range(64)]
        assert await world.ask("/healthz") == (200, "ok")
        assert await quietly(crowd[0][0].read()) == b""
        for _, writer in crowd:
            writer.close()

    run_story(story)


def test_closing_ends_the_listening_and_idle_connections():
    """Nothing waits for a client that says nothing."""

    async def story(world: ProbeWorld) -> None:
        reader, writer = await world.open()
        assert await world.ask("/healthz") == (200, "ok")
        await world.probes.close()
        assert await quietly(reader.read()) == b""
        writer.close()
        with pytest.raises(OSError, match=r"refused|Connect"):
            await world.open()

    run_story(story)


def test_without_metrics_there_is_no_such_page():
    """The page is not there rather than empty."""

    async def run() -> None:
        probes = Probes(Health())
        await probes.close()
        await probes.start()
        world = ProbeWorld(Health(), probes)
        assert (await world.ask("/metrics"))[0] == 404
        await probes.close()

    asyncio.run(run())


def test_metrics_that_cannot_be_collected_are_an_error_of_the_server(caplog):
    """The scraper gets a response, and the log has the cause."""

    def broken() -> bytes:
        raise ValueError("no such collector")

    async def run() -> tuple[int, str]:
        probes = Probes(Health(), broken)
        await probes.start()
        world = ProbeWorld(Health(), probes)
        try:
            return await world.ask("/metrics")
        finally:
            await probes.close()

    code, text = asyncio.run(run())
    assert (code, text) == (500, "the metrics cannot be collected; the log has the cause\n")
    assert [record.msg for record in caplog.records if record.levelname == "ERROR"] == [
        "metrics not collected"
    ]


@pytest.mark.parametrize(("target", "code"), [("//[", 404), ("x", 400), ("*", 400)])
def test_a_target_that_is_no_page_is_refused(target: str, code: int):
    """An address in brackets that never ends is the client's error."""

    async def story(world: ProbeWorld) -> None:
        assert (await world.ask(target))[0] == code

    run_story(story)


def test_importing_the_duties_of_the_runtime_loads_no_server_and_no_tracing():
    """A command that only asks for help does not pay for them."""
    names = "election reporting.events reporting.health reporting.tracing serving.probes"
    program = (
        f"import sys, importlib\nfor name in {names!r}.split():\n"
        "    importlib.import_module('kubekit.runtime.' + name)\n"
        "print([m for m in ('aiohttp', 'opentelemetry', 'prometheus_client') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
