"""One exchange with one webhook, and with servers that want to do harm."""

import asyncio
import base64
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from kubekit.plane.admission import address_guard, webhook_caller
from kubekit.plane.admission.webhook_addresses import WebhookAddress
from kubekit.plane.admission.webhook_caller import WebhookCaller
from kubekit.plane.admission.webhook_errors import CallFailed
from tests.support.kubekit.admission_builders import Server, pair, serving

SHORT = 0.2  # seconds


@asynccontextmanager
async def calling_(directory: Path) -> AsyncIterator[tuple[WebhookCaller, Server]]:
    caller = WebhookCaller()
    async with serving(directory) as server:
        try:
            yield caller, server
        finally:
            await caller.close()


def address(server: Server, path: str, seconds: float = 10) -> WebhookAddress:
    return WebhookAddress(f"{server.url}/{path}", server.ca_bundle, seconds)


async def fine(_request: web.Request) -> web.Response:
    return web.Response(body=b"fine")


async def failure(caller: WebhookCaller, where: WebhookAddress) -> str:
    with pytest.raises(CallFailed) as failed:
        await caller.call(where, b"{}")
    return str(failed.value)


def test_an_answer_is_its_body(tmp_path: Path):
    """What the server sends comes back, and the URL has the timeout as in Kubernetes."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            seen: list[str] = []

            async def note(request: web.Request) -> web.Response:
                seen.append(f"{request.method} {request.path_qs} {await request.text()}")
                return web.Response(body=b"fine", status=202)

            server.at("x", note)
            assert await caller.call(address(server, "x"), b"{}") == b"fine"
            assert seen == ["POST /x?timeout=10s {}"]

    asyncio.run(story())


def test_connections_are_used_again(tmp_path: Path):
    """Many calls, one after the other, make one handshake."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            peers = set()

            async def note(request: web.Request) -> web.Response:
                assert request.transport is not None
                peers.add(request.transport.get_extra_info("peername"))
                return web.Response(body=b"fine")

            server.at("x", note)
            for _ in range(5):
                await caller.call(address(server, "x"), b"{}")
            assert len(peers) == 1

    asyncio.run(story())


def test_a_connection_that_was_closed_meanwhile_is_made_anew(tmp_path: Path):
    """A server that closes what was kept open does not make the next change fail."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            calls = []

            async def hang_up(request: web.Request) -> web.Response:
                calls.append(1)
                if len(calls) == 2:
                    assert request.transport is not None
                    request.transport.abort()
                return web.Response(body=b"fine")

            server.at("x", hang_up)
            await caller.call(address(server, "x"), b"{}")
            assert await caller.call(address(server, "x"), b"{}") == b"fine"
            assert len(calls) == 3

    asyncio.run(story())


def test_w1_a_server_that_hangs_is_left_at_the_deadline(tmp_path: Path):
    """The failure says how long was waited, in the words that Kubernetes has for it."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            server.at("x", _never)
            message = await failure(caller, address(server, "x", SHORT))
            assert message == (
                f'failed to call webhook: Post "{server.url}/x?timeout=0.2s": '
                "context deadline exceeded"
            )

    asyncio.run(story())


def test_w1_a_server_that_trickles_is_left_at_the_same_deadline(tmp_path: Path):
    """The deadline is for the whole answer, not for each byte of it."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):

            async def trickle(request: web.Request) -> web.StreamResponse:
                response = web.StreamResponse()
                await response.prepare(request)
                while True:
                    await response.write(b" ")
                    await asyncio.sleep(0.02)

            server.at("x", trickle)
            async with asyncio.timeout(30):
                assert "deadline exceeded" in await failure(caller, address(server, "x", SHORT))

    asyncio.run(story())


def test_w1_a_server_that_never_finishes_the_handshake_is_left():
    """Also connecting is within the deadline."""

    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as mute:
            port = mute.getsockname()[1]
            caller = WebhookCaller()
            where = WebhookAddress(f"https://127.0.0.1:{port}/x", "", SHORT)
            assert "deadline exceeded" in await failure(caller, where)
            await caller.close()

    asyncio.run(story())


def test_w1_an_endless_answer_is_not_read(tmp_path: Path):
    """Reading stops at the limit; the server notices the closed connection."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            sent = 0
            ended = asyncio.get_running_loop().create_future()

            async def endless(request: web.Request) -> web.StreamResponse:
                nonlocal sent
                response = web.StreamResponse()
                await response.prepare(request)
                try:
                    while True:
                        await response.write(b" " * 100_000)
                        sent += 100_000
                        await asyncio.sleep(0)  # to a peer that left, writing does not wait
                finally:
                    ended.set_result(None)

            server.at("x", endless)
            message = await failure(caller, address(server, "x"))
            assert message == "failed to call webhook: the answer has more than 8388608 bytes"
            await ended
            assert sent < 4 * webhook_caller.LARGEST_ANSWER

    asyncio.run(story())


def test_w1_an_answer_that_claims_a_gigabyte_is_not_read_at_all(tmp_path: Path):
    """What a length promises is believed when it is too much."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):

            async def boast(request: web.Request) -> web.StreamResponse:
                response = web.StreamResponse(headers={"Content-Length": str(1 << 30)})
                await response.prepare(request)
                await response.write(b"{")
                await asyncio.Event().wait()
                return response

            server.at("x", boast)
            assert "more than 8388608 bytes" in await failure(caller, address(server, "x"))

    asyncio.run(story())


def test_w1_a_compressed_answer_is_refused(tmp_path: Path):
    """Nothing is unpacked: a small answer cannot become a large one."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):

            async def packed(_request: web.Request) -> web.Response:
                return web.Response(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})

            server.at("x", packed)
            assert "compressed" in await failure(caller, address(server, "x"))

    asyncio.run(story())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_w1_a_redirection_is_a_failure(tmp_path: Path, status: int):
    """No other address is called than that of the configuration."""

    async def story() -> None:
        reached: list[str] = []

        def watch(host: str) -> None:
            reached.append(host)

        async with serving(tmp_path) as server, serving(tmp_path) as other:
            called = []

            async def elsewhere(_request: web.Request) -> web.Response:
                called.append(1)
                return web.Response(body=b"fine")

            other.at("x", elsewhere)
            for target in (f"{other.url}/x", "https://169.254.169.254/latest", "/x"):

                async def redirect(_request: web.Request, target: str = target) -> web.Response:
                    return web.Response(status=status, headers={"Location": target})

                server.at("y", redirect)
                caller = WebhookCaller(watch)
                message = await failure(caller, address(server, "y"))
                assert f"the server answered {status}; redirects are not followed" in message
                await caller.close()
            assert called == []
            assert set(reached) == {"127.0.0.1"}

    asyncio.run(story())


@pytest.mark.parametrize("status", [199 + 10, 400, 404, 500, 503])
def test_another_code_is_a_failure_and_its_text_stays_unsaid(tmp_path: Path, status: int):
    """What another server says might be its secret."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):

            async def broken(_request: web.Request) -> web.Response:
                return web.Response(status=status, text="hidden")

            server.at("x", broken)
            message = await failure(caller, address(server, "x"))
            assert message == f"failed to call webhook: the server answered {status}"

    asyncio.run(story())


def test_w1_a_server_with_another_certificate_is_not_trusted(tmp_path: Path):
    """Only the given certificates count; that the system trusts others does not matter."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            server.at("x", fine)
            foreign, _ = pair()
            for bundle in (_bundle(foreign), ""):
                message = await failure(caller, WebhookAddress(f"{server.url}/x", bundle, 5))
                assert "tls: failed to verify certificate: x509: " in message

    asyncio.run(story())


def test_w1_a_certificate_for_another_name_is_not_trusted(tmp_path: Path):
    """The name in the URL, or the one of the Service, must be in it."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            server.at("x", fine)
            where = WebhookAddress(f"{server.url}/x", server.ca_bundle, 5, "hooks.room.svc")
            assert "failed to verify certificate" in await failure(caller, where)

    asyncio.run(story())


def test_invalid_certificates_are_reported():
    """With Kubernetes' message, before any call."""

    async def story() -> None:
        caller = WebhookCaller()
        assert await failure(caller, WebhookAddress("https://127.0.0.1:9/", "aGFsbG8=", 5)) == (
            "could not get REST client: unable to load root certificates: "
            "unable to parse bytes as PEM block"
        )

    asyncio.run(story())


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://127.0.0.1:9/x", "dial tcp 127.0.0.1:9: connect: connection refused"),
        ("https://nosuch.invalid/x", "dial tcp: lookup nosuch.invalid: no such host"),
        ("http://127.0.0.1:9/x", "webhooks are called by https only"),
    ],
)
def test_who_cannot_be_reached_is_told(url: str, words: str):
    """With the URL that was tried."""

    async def story() -> None:
        caller = WebhookCaller()
        message = await failure(
            caller, WebhookAddress(url, "", 60)
        )  # a name server may take its time
        assert message == f'failed to call webhook: Post "{url}?timeout=60s": {words}'
        await caller.close()

    asyncio.run(story())


@pytest.mark.parametrize(
    "url",
    [
        "https://169.254.169.254/latest/meta-data",
        "https://[fe80::1]/x",
        "https://[::ffff:169.254.169.254]/x",
        "https://0xa9fea9fe/x",
        "https://2852039166/x",
        "https://0.0.0.0/x",
    ],
)
def test_w1_metadata_is_not_connected_to(url: str):
    """However the address is spelled, no socket is opened for it."""

    async def story() -> None:
        opened = []

        def guard(host: str) -> None:
            address_guard.check(host)
            opened.append(host)

        caller = WebhookCaller(guard)
        assert url in await failure(caller, WebhookAddress(url, "", 2))
        await caller.close()
        assert opened == []

    asyncio.run(story())


def test_w1_a_forbidden_address_is_reported():
    """So that the user does not search for an error in the network."""

    async def story() -> None:
        caller = WebhookCaller()
        message = await failure(caller, WebhookAddress("https://169.254.169.254/x", "", 2))
        assert message == (
            'failed to call webhook: Post "https://169.254.169.254/x?timeout=2s": '
            "dial tcp 169.254.169.254:443: connect: 169.254.169.254 is an address of the "
            "machine's own metadata and is not called"
        )
        await caller.close()

    asyncio.run(story())


def test_w1_proxies_of_the_environment_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What the process was started with does not lead a review elsewhere."""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setitem(os.environ, name, "http://127.0.0.1:9")

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            server.at("x", fine)
            assert await caller.call(address(server, "x"), b"{}") == b"fine"

    asyncio.run(story())


def test_w1_cookies_are_not_kept(tmp_path: Path):
    """One review cannot be recognised by what another was answered with."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            seen = []

            async def bake(request: web.Request) -> web.Response:
                seen.append(request.headers.get("Cookie"))
                return web.Response(headers={"Set-Cookie": "a=b"}, body=b"fine")

            server.at("x", bake)
            for _ in range(2):
                await caller.call(address(server, "x"), b"{}")
            assert seen == [None, None]

    asyncio.run(story())


def test_unused_certificates_are_dropped(tmp_path: Path):
    """A bundle that no configuration has any more takes no memory, and works again when it has."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            server.at("x", fine)
            await caller.call(address(server, "x"), b"{}")
            caller.forget(set())
            assert await caller.call(address(server, "x"), b"{}") == b"fine"

    asyncio.run(story())


def test_w1_old_tls_is_refused(tmp_path: Path):
    """The least is TLS 1.2."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            server.at("x", fine)
            await caller.call(address(server, "x"), b"{}")
            made = caller._trust(server.ca_bundle)
            assert made.minimum_version is ssl.TLSVersion.TLSv1_2
            assert made.verify_mode is ssl.CERT_REQUIRED
            assert made.check_hostname

    asyncio.run(story())


async def _never(_request: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError("the event is never set")


def _bundle(certificate: bytes) -> str:
    return base64.b64encode(certificate).decode()


def test_no_webhook_is_called_after_the_close(tmp_path: Path):
    """A call in flight fails when the plane closes, and leaves no open connection."""

    async def story() -> None:
        async with calling_(tmp_path) as (caller, server):
            reached = asyncio.Event()

            async def hang(request: web.Request) -> web.StreamResponse:
                reached.set()
                return await _never(request)

            server.at("x", hang)
            call = asyncio.ensure_future(failure(caller, address(server, "x")))
            await reached.wait()
            await caller.close()
            for message in (await call, await failure(caller, address(server, "x"))):
                assert message == "failed to call webhook: the plane is closed"

    asyncio.run(story())
