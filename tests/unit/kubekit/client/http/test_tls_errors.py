"""TLS: trust, client certificates, and the messages of failures."""

import asyncio
import socket
import ssl
from contextlib import suppress
from datetime import timedelta

import pytest
import uvloop

from kubekit.api.errors import Unavailable
from kubekit.client.http import tls_errors
from kubekit.client.http.settings import HttpSettings
from kubekit.client.options import PLAIN_WRITE
from tests.unit.kubekit.client.http.certificates import Authority
from tests.unit.kubekit.client.http.scripted import (
    DOCUMENT,
    MAPS,
    ONE,
    Shown,
    listening,
    opened,
    run,
    serving,
)

OURS = Authority("ours")
THEIRS = Authority("theirs")


async def problem(rules: ssl.SSLContext | None, **connection) -> tuple[str, int]:
    """What is said of a create that fails, and how many connections the server got."""
    scheme = connection.pop("scheme", "https")
    async with serving(tls=rules) as server:
        url = f"{scheme}://127.0.0.1:{server.port}"
        settings = connection.pop("settings", HttpSettings())
        async with opened(url, settings, **connection) as transport:
            with pytest.raises(Unavailable) as caught:
                await transport.create(MAPS, DOCUMENT, PLAIN_WRITE)
        assert server.requests == []
        return caught.value.message, server.connections


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_a_server_of_our_authority_is_trusted(tmp_path, runner):
    """A server whose certificate the authority signed is asked, on either loop."""

    async def asked():
        rules = OURS.server(tmp_path)
        async with serving(tls=rules) as server, opened(server, authority=OURS.pem) as transport:
            documents = [await transport.get(ONE) for _ in range(3)]
            return documents, server.connections

    assert runner(asked()) == ([DOCUMENT] * 3, 1)


def test_a_server_of_another_authority_is_not(tmp_path):
    """The wrong CA is named as such, with the field to correct, and there is no retry."""
    message, connections = run(problem(OURS.server(tmp_path), authority=THEIRS.pem))
    assert "no authority that is trusted here has signed its certificate" in message
    assert "set certificate-authority or certificate-authority-data" in message
    assert "nothing was sent" in message
    assert connections <= 1


def test_a_certificate_for_another_name(tmp_path):
    """A certificate of other names leads to tls-server-name."""
    rules = OURS.server(tmp_path, host="kube.example.com")
    message, _ = run(problem(rules, authority=OURS.pem))
    assert "its certificate is for other names" in message
    assert "set tls-server-name" in message


def test_a_certificate_that_has_expired(tmp_path):
    """An expired certificate is called so."""
    rules = OURS.server(tmp_path, life=timedelta(days=1))
    message, _ = run(problem(rules, authority=OURS.pem))
    assert "its certificate has expired" in message


def test_the_name_to_expect_can_be_given(tmp_path):
    """With a server name the certificate must bear that name, wherever the server is."""

    async def asked():
        async with serving(tls=OURS.server(tmp_path, host="kube.example.com")) as server:
            name = "kube.example.com"
            async with opened(server, authority=OURS.pem, server_name=name) as transport:
                return await transport.get(ONE)

    assert run(asked()) == DOCUMENT


def test_trust_can_be_switched_off(tmp_path):
    """Who insists gets an answer of anybody."""

    async def asked():
        rules = OURS.server(tmp_path)
        async with serving(tls=rules) as server, opened(server, insecure=True) as transport:
            return await transport.get(ONE)

    assert run(asked()) == DOCUMENT


def test_a_failure_without_a_reason():
    """What OpenSSL says nothing about is still called a failure of TLS."""
    assert tls_errors.problem(ssl.SSLError()) == ("TLS failed (no reason given)", "")


@pytest.mark.parametrize("signer", [None, THEIRS], ids=["none", "another's"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_server_that_does_not_accept_the_client_certificate(tmp_path, version, signer):
    """A server that ends TLS over the certificate has done nothing; the user entry is to be corrected."""
    rules = OURS.asking(OURS.server(tmp_path))
    rules.maximum_version = version
    shown = Shown(client=signer and signer.sign("ann"))

    async def asked():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            refusing = asyncio.create_task(asyncio.to_thread(_refuse, listener, rules))
            url = f"https://127.0.0.1:{listener.getsockname()[1]}"
            async with opened(url, authority=OURS.pem, credentials=shown) as transport:
                with pytest.raises(Unavailable) as caught:
                    await transport.create(MAPS, DOCUMENT, PLAIN_WRITE)
            await refusing
            return caught.value.message

    message = run(asked())
    assert "nothing was sent: it does not" in message
    assert "check client-certificate and client-key" in message


def _refuse(listener: socket.socket, rules: ssl.SSLContext) -> None:
    """Shake hands once, to the end: a server of asyncio would not say why it stops."""
    taken, _ = listener.accept()
    with taken:
        taken.settimeout(10)
        ends = ssl.MemoryBIO(), ssl.MemoryBIO()
        inside = rules.wrap_bio(*ends, server_side=True)
        while True:
            try:
                inside.do_handshake()
            except ssl.SSLWantReadError:
                taken.sendall(ends[1].read())
                ends[0].write(taken.recv(65536))
            except ssl.SSLError:
                taken.sendall(ends[1].read())
                taken.shutdown(socket.SHUT_WR)
                while taken.recv(65536):
                    pass
                return


def test_a_client_certificate_is_shown_and_replaced(tmp_path):
    """The certificate of the moment is shown; a new one is shown over a new connection at once."""

    async def asked():
        seen: list[str] = []

        async def noting(writer):
            peer = writer.get_extra_info("peercert")
            seen.append(peer["subject"][0][0][1])
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

        shown = Shown(client=OURS.sign("old"))
        async with serving(tls=OURS.asking(OURS.server(tmp_path))) as server:
            server.then(*[noting] * 4)
            async with opened(server, authority=OURS.pem, credentials=shown) as transport:
                await transport.get(ONE)
                await transport.get(ONE)
                shown.client = OURS.sign("new")
                await transport.get(ONE)
                await transport.get(ONE)
            return seen, server.connections

    assert run(asked()) == (["old", "old", "new", "new"], 2)


def test_a_server_that_speaks_no_tls():
    """An address that is http and not https is reported."""

    async def asked():
        async def plain(reader, writer):
            await reader.read(10)
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            await reader.read()

        async with listening(plain) as port, opened(f"https://127.0.0.1:{port}") as transport:
            with pytest.raises(Unavailable, match="it does not speak TLS on this port; is the"):
                await transport.create(MAPS, DOCUMENT, PLAIN_WRITE)

    run(asked())


def test_a_server_that_does_not_shake_hands():
    """A server that takes the connection and says nothing is given up in time."""

    async def asked():
        async def mute(reader, _writer):
            await reader.read()
            await asyncio.Event().wait()

        settings = HttpSettings(connect_timeout=0.05, attempts=1)
        async with (
            listening(mute) as port,
            opened(f"https://127.0.0.1:{port}", settings) as transport,
        ):
            with pytest.raises(Unavailable, match=r"no TLS within 0\.05 s"):
                await transport.get(ONE)

    run(asked())


def test_a_server_that_breaks_off_the_handshake():
    """A connection that ends within the handshake may be tried again, and then is an error."""

    async def asked():
        count = 0

        async def rude(reader, _writer):
            nonlocal count
            count += 1
            await reader.read(10)

        settings = HttpSettings(attempts=2)
        async with (
            listening(rude) as port,
            opened(f"https://127.0.0.1:{port}", settings) as transport,
        ):
            with pytest.raises(Unavailable, match="TLS broke off"):
                await transport.create(MAPS, DOCUMENT, PLAIN_WRITE)
        return count

    assert run(asked()) == 2


def test_a_server_that_ends_tls_as_soon_as_it_has_begun(tmp_path):
    """The end comes with the last of the handshake: nothing was sent, and it is tried again."""
    rules = OURS.server(tmp_path)
    rules.maximum_version = ssl.TLSVersion.TLSv1_2  # where the server has the last word

    async def asked():
        count = 0

        async def curt(reader, writer):
            nonlocal count
            count += 1
            ends = ssl.MemoryBIO(), ssl.MemoryBIO()
            inside = rules.wrap_bio(*ends, server_side=True)
            while not _shaken(inside):
                writer.write(ends[1].read())
                ends[0].write(await reader.read(65536))
            with suppress(ssl.SSLWantReadError):
                inside.unwrap()
            writer.write(ends[1].read())

        settings = HttpSettings(attempts=2)
        async with (
            listening(curt) as port,
            opened(f"https://127.0.0.1:{port}", settings, authority=OURS.pem) as transport,
        ):
            with pytest.raises(Unavailable, match="nothing was sent: it closed TLS right after"):
                await transport.create(MAPS, DOCUMENT, PLAIN_WRITE)
        return count

    assert run(asked()) == 2


def _shaken(inside: ssl.SSLObject) -> bool:
    try:
        inside.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True
