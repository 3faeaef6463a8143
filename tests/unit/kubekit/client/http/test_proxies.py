"""Proxies: tunnels to servers with TLS, whole addresses for those without, and their refusals."""

import asyncio
import base64
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import uvloop

from kubekit.api.errors import Unavailable
from kubekit.client.connection import Misconfigured
from kubekit.client.http.settings import HttpSettings
from kubekit.client.options import PLAIN_WRITE
from tests.unit.kubekit.client.http.certificates import Authority
from tests.unit.kubekit.client.http.scripted import (
    DOCUMENT,
    MAPS,
    ONE,
    listening,
    opened,
    run,
    serving,
)

OURS = Authority("ours")
NONE = HttpSettings(attempts=1)
OPEN = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass
class Proxy:
    """A proxy that says one thing to each CONNECT, and passes bytes on if it has agreed."""

    says: bytes = OPEN
    heads: list[bytes] = field(default_factory=list)
    url: str = ""
    _tasks: list["asyncio.Task[None]"] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.append(asyncio.current_task())  # type: ignore[arg-type]  # it is one
        try:
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(self.says[:9])
            await writer.drain()
            await asyncio.sleep(0.001)  # so that they come as two pieces
            writer.write(self.says[9:])
            if self.says == OPEN:
                await self._pass_on(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    async def _pass_on(self, reader, writer) -> None:
        host, _, port = self.heads[-1].split()[1].decode().rpartition(":")
        inner, outer = await asyncio.open_connection(host, int(port))
        try:
            await asyncio.gather(_pump(reader, outer), _pump(inner, writer))
        finally:
            outer.transport.abort()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def proxying(says: bytes = OPEN, tls: ssl.SSLContext | None = None) -> AsyncIterator[Proxy]:
    proxy = Proxy(says)
    made = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, ssl=tls)
    port = made.sockets[0].getsockname()[1]
    proxy.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield proxy
    finally:
        made.close()
        await proxy.stop()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(65536):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_a_server_with_tls_is_reached_through_a_tunnel(tmp_path, runner):
    """The proxy is asked once to connect, sees nothing of the requests, and the tunnel is kept."""

    async def asked():
        tls = OURS.server(tmp_path)
        async with serving(tls=tls) as server, proxying() as proxy:
            async with opened(server, authority=OURS.pem, proxy=proxy.url) as transport:
                documents = [await transport.get(ONE), await transport.get(ONE)]
            return documents, proxy.heads, server.port

    documents, heads, port = runner(asked())
    host = f"127.0.0.1:{port}"
    assert documents == [DOCUMENT, DOCUMENT]
    assert heads == [f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()]


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_a_proxy_may_speak_tls_itself(tmp_path, monkeypatch, runner):
    """To a proxy with https everything goes within TLS, and TLS to the server within that."""
    authority = tmp_path / "ca.pem"
    authority.write_bytes(OURS.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))  # the authorities of the system

    async def asked():
        tls = OURS.server(tmp_path)
        async with (
            serving(tls=tls) as server,
            proxying(tls=tls) as proxy,
            opened(server, authority=OURS.pem, proxy=proxy.url) as transport,
        ):
            return await transport.get(ONE)

    assert runner(asked()) == DOCUMENT


def test_a_proxy_that_connects_and_hangs_up(tmp_path, monkeypatch):
    """Its last bytes come with the end of its TLS; the client does not wait for the server behind it."""
    authority = tmp_path / "ca.pem"
    authority.write_bytes(OURS.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))

    async def asked():
        tls = OURS.server(tmp_path)
        async with (
            proxying(b"HTTP/1.1 200 Connected\r\n\r\n", tls=tls) as proxy,
            opened(
                "https://127.0.0.1:1",
                HttpSettings(attempts=1, connect_timeout=5),
                authority=OURS.pem,
                proxy=proxy.url,
            ) as transport,
        ):
            await transport.get(ONE)

    with pytest.raises(Unavailable, match=r"nothing was sent: the proxy .* closed the connection"):
        run(asked())


def test_a_proxy_that_is_not_trusted(tmp_path):
    """The certificate of a proxy is checked too."""

    async def asked():
        tls = OURS.server(tmp_path)
        async with serving(tls=tls) as server, proxying(tls=tls) as proxy:
            async with opened(server, authority=OURS.pem, proxy=proxy.url) as transport:
                with pytest.raises(Unavailable, match="no authority that is trusted here"):
                    await transport.get(ONE)
            return proxy.heads

    assert run(asked()) == []


def test_user_and_password_are_for_the_proxy_alone(tmp_path):
    """What the proxy's address names goes to the proxy, and neither to the server nor its errors."""

    async def asked():
        tls = OURS.server(tmp_path)
        async with serving(tls=tls) as server, proxying() as proxy:
            url = proxy.url.replace("//", "//ann:p%40ss@")
            async with opened(server, authority=OURS.pem, proxy=url) as transport:
                await transport.get(ONE)
            return proxy.heads[0], server.requests[0].headers

    head, headers = run(asked())
    expected = base64.b64encode(b"ann:p@ss")
    assert b"Proxy-Authorization: Basic " + expected in head
    assert "proxy-authorization" not in headers


def test_a_server_without_tls_is_asked_by_its_whole_address():
    """The proxy passes each request on by itself, and is shown the password with each."""

    async def asked():
        async with serving() as proxy:
            url = proxy.url.replace("//", "//ann:pw@")
            async with opened("http://kube.example.com:8001/base", proxy=url) as transport:
                await transport.get(ONE)
            return proxy.requests[0]

    request = run(asked())
    assert request.line == (
        "GET http://kube.example.com:8001/base/api/v1/namespaces/room/configmaps/one"
    )
    assert request.headers["host"] == "kube.example.com:8001"
    assert request.headers["proxy-authorization"] == "Basic YW5uOnB3"


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "put user and password"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "refused with 403 Forbidden; may the proxy reach"),
        (b"HTTP/1.0 502\r\nX: y\r\n\r\n", "refused with 502;"),
        (b"HTTP/1.1 502 \r\n\r\n", "refused with 502"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "did not answer in HTTP; is it really an HTTP proxy?"),
        (b"", "did not answer in HTTP"),
        (b"x" * 70_000, "did not answer in HTTP"),
    ],
    ids=["407", "403", "no space", "no words", "ssh", "closed", "endless"],
)
def test_proxies_that_do_not_connect(says, expected):
    """Each refusal of a proxy is reported, names the proxy without its password, and is harmless."""

    async def asked():
        async with serving() as server, proxying(says) as proxy:
            url = f"https://127.0.0.1:{server.port}"
            through = proxy.url.replace("//", "//ann:pw@")
            async with opened(url, NONE, proxy=through) as transport:
                with pytest.raises(Unavailable) as caught:
                    await transport.create(MAPS, DOCUMENT, PLAIN_WRITE)
            return caught.value.message, proxy.url, server.requests

    message, url, requests = run(asked())
    assert expected in message
    assert f"the proxy {url} " in message
    assert ("pw@" in message, requests) == (False, [])


def test_a_proxy_that_says_nothing():
    """A proxy that does not answer is given up in time, and the error says what to check."""

    async def asked():
        async def mute(reader, _writer):
            await reader.read()

        settings = HttpSettings(connect_timeout=0.05, attempts=1)
        async with listening(mute) as port:
            through = f"http://127.0.0.1:{port}"
            async with opened("https://kube.example.com", settings, proxy=through) as transport:
                await transport.get(ONE)

    with pytest.raises(Unavailable, match=r"did not connect within 0\.05 s; check proxy-url"):
        run(asked())


def test_a_proxy_that_is_not_there():
    """A proxy that does not run is named, not the server."""

    async def asked():
        async with proxying() as proxy:
            url = proxy.url
        async with opened("https://kube.example.com", NONE, proxy=url) as transport:
            with pytest.raises(Unavailable) as caught:
                await transport.get(ONE)
        return caught.value.message, url

    message, url = run(asked())
    assert re.search(f"no connection to {url}: connection refused", message)


@pytest.mark.parametrize("proxy", ["socks5://x:1", "http://x:pw@[", "nonsense"])
def test_a_proxy_address_that_is_none(proxy):
    """An address that names no proxy is refused at once, without showing what is in it."""

    async def asked():
        async with opened("https://kube.example.com", proxy=proxy):
            pass

    with pytest.raises(Misconfigured, match="proxy-url") as caught:
        run(asked())
    assert "pw" not in str(caught.value)
