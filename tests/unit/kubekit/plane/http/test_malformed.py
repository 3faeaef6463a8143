"""The corpus of malformed requests, each against one running server."""

import asyncio
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvloop

from kubekit.plane.http.server import Server
from tests.support.generated.http_corpus import Case, cases
from tests.support.kubekit.http_builders import (
    CONFIG_MAPS,
    Peer,
    Reply,
    connected,
    request as asked,
    serving,
    trusted,
)


class Bench:
    """A server that outlives a test, and a loop to talk to it on."""

    def __init__(
        self, runner: asyncio.Runner, server: Server, trusting: ssl.SSLContext | None
    ) -> None:
        self._runner = runner
        self._server = server
        self._trusting = trusting

    def ask(self, raw: bytes, *, to_the_end: bool) -> tuple[Reply, bytes]:
        return self._runner.run(self._ask(raw, to_the_end=to_the_end))

    async def _ask(self, raw: bytes, *, to_the_end: bool) -> tuple[Reply, bytes]:
        async with asyncio.timeout(5), connected(self._server.port, self._trusting) as peer:
            reply = await _sent_at_leisure(peer, raw)
            rest = await peer.rest() if to_the_end else b""
        return reply, rest


@pytest.fixture(scope="module", params=["asyncio", "uvloop with TLS"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    quick = request.param != "asyncio"
    loop = uvloop.new_event_loop if quick else asyncio.new_event_loop
    with asyncio.Runner(loop_factory=loop) as runner, tempfile.TemporaryDirectory() as directory:
        certificates, trusting = trusted(Path(directory)) if quick else (None, None)
        context = serving(Path(directory), tls=certificates)
        server = runner.run(context.__aenter__())
        yield Bench(runner, server, trusting)
        runner.run(context.__aexit__(None, None, None))


TOO_LARGE = (413, 414, 431)
LARGE = [case for case in cases() if case.code in TOO_LARGE]
MALFORMED = [case for case in cases() if case.code not in TOO_LARGE]


@pytest.mark.parametrize("case", LARGE, ids=lambda case: case.name)
def test_d1_what_is_too_large_is_refused_with_a_status(bench: Bench, case: Case):
    """A body, a body once it is unpacked, a header, an address: each has its limit and its code."""
    _refused(bench, case)


@pytest.mark.parametrize("case", MALFORMED, ids=lambda case: case.name)
def test_d8_a_malformed_request_is_refused_with_a_status(bench: Bench, case: Case):
    """Whatever comes, the answer is a Status with the right code, and nothing is stored."""
    _refused(bench, case)


def _refused(bench: Bench, case: Case) -> None:
    reply, rest = bench.ask(case.raw, to_the_end=case.closes)
    status = reply.document
    summary = (reply.code, status["kind"], status["status"], status["code"])
    assert summary == (case.code, "Status", "Failure", case.code)
    assert status["reason"] != ""
    assert status["message"] != ""
    assert rest == b""
    assert (reply.headers.get("connection") == "close") == case.closes
    after, _ = bench.ask(asked("GET", CONFIG_MAPS), to_the_end=False)
    assert (after.code, after.document["items"]) == (200, [])


def test_the_corpus_is_large_and_its_names_are_unique():
    """A case that hides another, or a corpus that shrinks, would go unnoticed."""
    names = [case.name for case in cases()]
    assert len(names) == len(set(names)) >= 250
    assert {case.code for case in LARGE} == set(TOO_LARGE)


async def _sent_at_leisure(peer: Peer, raw: bytes) -> Reply:
    """The reply to a request that is too large for the server to read to its end."""
    sending = asyncio.ensure_future(peer.send(raw))
    reply = await peer.reply()
    await asyncio.wait([sending])
    sending.exception()
    return reply
