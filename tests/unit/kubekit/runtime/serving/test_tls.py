"""The certificates of servers: from files, from a Secret, and made by the process."""

import asyncio
import base64
import ssl
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from kubekit.api.errors import Forbidden, Unavailable
from kubekit.api.kinds.core import Secret
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client, K
from kubekit.runtime.scope import Scope
from kubekit.runtime.serving.messages import IncomingRequest, OutgoingResponse, text_response
from kubekit.runtime.serving.self_signed import LIFE, SelfSignedTls
from kubekit.runtime.serving.tls import PemFiles, ServerTls, TlsRefused, load_certificate
from kubekit.runtime.serving.tls_files import TlsFiles, TlsPaths
from kubekit.runtime.serving.tls_secret import SecretLocation, TlsSecret
from tests.support.kubekit.http_builders import Peer
from tests.support.kubekit.serving_builders import (
    LOOPS,
    NOW,
    TestAuthority,
    anyone,
    http_server,
    key_pem,
    mounted,
    peer_of,
    run_on,
)
from tests.support.kubekit.stage import Stage, staged

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
WHERE = SecretLocation(namespace="system", name="certificate")


async def fine(request: IncomingRequest) -> OutgoingResponse:
    return text_response(200, request.path)


@pytest.fixture(scope="module")
def authority() -> TestAuthority:
    return TestAuthority.new()


def seen(peer: Peer) -> bytes:
    """The certificate of the server, as DER."""
    found = peer.transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
    assert isinstance(found, bytes)
    return found


def with_unknown_key(pem: bytes) -> bytes:
    """The certificate with a key of a kind that does not exist."""
    known, unknown = (bytes.fromhex(f"06072a8648ce3d02{last}") for last in ("01", "7f"))
    assert known in der(pem)
    return ssl.DER_cert_to_PEM_cert(der(pem).replace(known, unknown)).encode()


def der(pem: bytes) -> bytes:
    return ssl.PEM_cert_to_DER_cert(pem.decode())


@pytest.mark.parametrize("loop", LOOPS)
def test_files_are_loaded_again_while_connections_stay(tmp_path, authority, loop):
    """As a mounted Secret changes. New connections see the new certificate, old ones go on."""
    first, second = authority.issue("first"), authority.issue("second")
    mounted(tmp_path, "1", first)

    async def story() -> None:
        tls = TlsFiles(TlsPaths.within(tmp_path), check_interval=0)
        async with (
            http_server(fine, tls=tls) as server,
            peer_of(server, authority.trusting()) as old,
        ):
            assert seen(old) == der(first[0])
            mounted(tmp_path, "2", second)
            async with peer_of(server, authority.trusting()) as new:
                assert seen(new) == der(second[0])
                assert [(await each.ask(GET)).code for each in (old, new)] == [200, 200]

    run_on(loop, story())


BROKEN: dict[str, tuple[str, Callable[[TestAuthority], bytes | None]]] = {
    "a key of another certificate": ("tls.key", lambda authority: authority.issue("other")[1]),
    "half a key": ("tls.key", lambda authority: authority.issue("other")[1][:100]),
    "half a certificate": ("tls.crt", lambda authority: authority.issue("other")[0][:100]),
    "an empty certificate": ("tls.crt", lambda _: b""),
    "no key": ("tls.key", lambda _: None),
}


@pytest.mark.parametrize(("file", "content"), BROKEN.values(), ids=BROKEN)
def test_a_pair_that_is_not_complete_keeps_the_last_one(tmp_path, authority, caplog, file, content):
    """It is logged once, however often it is seen, and the next good pair is loaded."""
    first, second = authority.issue("first"), authority.issue("second")
    write(tmp_path, first)

    async def story() -> None:
        tls = TlsFiles(TlsPaths.within(tmp_path), check_interval=0)
        async with http_server(fine, tls=tls) as server:
            broken = content(authority)
            if broken is None:
                (tmp_path / file).unlink()
            else:
                (tmp_path / file).write_bytes(broken)
            for _ in range(3):
                async with peer_of(server, authority.trusting()) as peer:
                    assert seen(peer) == der(first[0])
            write(tmp_path, second)
            async with peer_of(server, authority.trusting()) as peer:
                assert seen(peer) == der(second[0])

    asyncio.run(story())
    warnings = [each for each in caplog.records if each.levelname == "WARNING"]
    assert [each.msg for each in warnings] == ["keeping the last certificate"]


def test_files_are_compared_at_most_once_a_second(tmp_path, authority):
    """A flood of connections reads no files."""
    first, second = authority.issue("first"), authority.issue("second")
    write(tmp_path, first)

    async def story(_: Stage) -> None:
        tls = TlsFiles(TlsPaths.within(tmp_path))
        context = tls.context()
        write(tmp_path, second)
        assert tls.context() is context
        await asyncio.sleep(1)
        assert tls.context() is not context

    staged(tmp_path / "stage", story)


def test_clients_need_a_certificate_of_their_authority(tmp_path, authority):
    """Others, and those without one, are refused in the handshake; the authority is reloaded too."""
    others = TestAuthority.new()
    mounted(tmp_path, "1", authority.issue("server"), ca_crt=authority.pem)
    mine, foreign = authority.issue("client"), others.issue("client")

    async def story() -> None:
        paths = TlsPaths.within(tmp_path, client_authority="ca.crt")
        async with http_server(fine, tls=TlsFiles(paths, check_interval=0)) as server:

            async def answered(client: tuple[bytes, bytes] | None) -> bool:
                with suppress(OSError, EOFError):
                    async with peer_of(server, authority.trusting(client)) as peer:
                        return (await peer.ask(GET)).code == 200
                return False

            assert [await answered(each) for each in (mine, foreign, None)] == [True, False, False]
            mounted(tmp_path, "2", authority.issue("server"), ca_crt=others.pem)
            assert [await answered(each) for each in (mine, foreign)] == [False, True]

    asyncio.run(story())


def test_tls_is_at_least_1_2(tmp_path, authority):
    """A client that offers less ends in the handshake."""
    write(tmp_path, authority.issue("server"))

    async def story() -> None:
        old = authority.trusting()
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        tls = TlsFiles(TlsPaths.within(tmp_path))
        assert tls.context().minimum_version is ssl.TLSVersion.TLSv1_2
        async with http_server(fine, tls=tls) as server, peer_of(server, old) as peer:
            assert peer.transport.get_extra_info("ssl_object").version() == "TLSv1.2"

    asyncio.run(story())


def test_files_that_cannot_serve_are_refused_at_the_start(tmp_path, authority):
    """The message names the file and what is wrong with it."""
    paths = TlsPaths.within(tmp_path)
    with pytest.raises(TlsRefused, match=r"tls.crt: cannot be read: No such file"):
        TlsFiles(paths)
    write(tmp_path, (authority.issue("a")[0], authority.issue("b")[1]))
    with pytest.raises(TlsRefused, match="do not belong together"):
        TlsFiles(paths)
    certificate, _ = authority.issue("a")
    write(tmp_path, (certificate, key_pem(ec.generate_private_key(ec.SECP256R1()), b"secret")))
    with pytest.raises(TlsRefused, match="the key has a password"):
        TlsFiles(paths)
    certificate, key = authority.issue("a")
    write(tmp_path, (with_unknown_key(certificate), key))
    with pytest.raises(TlsRefused, match="the certificate has a key of an unknown kind"):
        TlsFiles(paths)
    write(tmp_path, authority.issue("a"))
    (tmp_path / "ca.crt").write_bytes(b"nothing")
    with pytest.raises(TlsRefused, match="authority of clients"):
        TlsFiles(TlsPaths.within(tmp_path, client_authority="ca.crt"))


def write(directory: Path, pair: tuple[bytes, bytes]) -> None:
    (directory / "tls.crt").write_bytes(pair[0])
    (directory / "tls.key").write_bytes(pair[1])


def test_an_expired_certificate_is_a_problem(authority):
    """And one that is not valid yet."""
    until = datetime(2026, 3, 1, 13, tzinfo=UTC)
    certificate = load_certificate(PemFiles(*authority.issue("a", until)), "tls.crt")
    assert certificate.problems(until - timedelta(seconds=1)) == []
    assert certificate.problems(until) == [
        "the certificate of tls.crt expired at 2026-03-01T13:00:00Z: renew it"
    ]
    assert certificate.problems(datetime(2019, 1, 1, tzinfo=UTC)) == [
        "the certificate of tls.crt is valid from 2020-01-01T00:00:00Z only: check the clock"
    ]


def test_a_process_makes_a_certificate_and_renews_it():
    """It lives in memory, and is made again long before it ends."""
    clock = [NOW]
    tls = SelfSignedTls(lambda: clock[0], ("localhost", "127.0.0.1"))
    first = tls.certificate
    assert first.not_after - NOW == LIFE
    assert tls.context() is first.context
    clock[0] = NOW + LIFE / 2
    assert tls.certificate is first
    clock[0] = NOW + LIFE * 0.7
    assert tls.context() is not first.context
    assert tls.certificate.problems(NOW + LIFE) == []


def test_a_self_signed_certificate_serves():
    async def story() -> None:
        now = datetime(2026, 1, 1, tzinfo=UTC)
        async with (
            http_server(fine, tls=SelfSignedTls(lambda: now)) as server,
            peer_of(server, anyone()) as peer,
        ):
            assert (await peer.ask(GET)).code == 200

    asyncio.run(story())


def secret_of(pair: tuple[bytes, bytes], **more: str) -> Secret:
    data = dict(zip(("tls.crt", "tls.key"), map(encoded, pair), strict=True))
    return Secret(metadata=ObjectMeta(name=WHERE.name, namespace="system"), data=data | more)


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


class OneSecret(Client):
    """A client of an API server that has one Secret, counts its reads, and can fail."""

    def __init__(self, secret: Secret) -> None:
        self.secret = secret
        self.reads = 0
        self.failure: Exception | None = None

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        assert (name, namespace) == (WHERE.name, WHERE.namespace)
        self.reads += 1
        if self.failure is not None:
            raise self.failure
        assert isinstance(self.secret, kind)
        return self.secret


def kept_current(tmp_path: Path, client: OneSecret, story: Callable[[ServerTls], object]) -> None:
    """Run a story beside a certificate that is kept current, on virtual time."""

    async def whole(_: Stage) -> None:
        tls = await TlsSecret.load(client, WHERE)
        scope = Scope("test")
        scope.spawn(tls.run(), "secret")
        steps = story(tls)
        assert hasattr(steps, "__iter__")
        for seconds in steps:
            await asyncio.sleep(seconds)
        await scope.close()

    staged(tmp_path, whole)


def test_w55_a_secret_is_read_once_a_minute_and_by_no_handshake(tmp_path, authority):
    """A flood of connections costs the API server nothing."""
    client = OneSecret(secret_of(authority.issue("first")))

    def story(tls: ServerTls):
        for _ in range(1000):
            tls.context()
        assert client.reads == 1
        yield 601
        assert client.reads == 11

    kept_current(tmp_path, client, story)


def test_a_secret_that_changes_is_loaded_and_a_wrong_one_is_not(tmp_path, authority, caplog):
    """The last good certificate serves on; the log says once why."""
    first, second = authority.issue("first"), authority.issue("second")
    client = OneSecret(secret_of(first))

    def story(tls: ServerTls):
        before = tls.certificate
        for wrong in (Unavailable("no answer"), Forbidden("no right")):
            client.failure = wrong
            yield 200
            assert tls.certificate is before
        client.failure = None
        client.secret = secret_of((first[0], second[1]))
        yield 200
        assert tls.certificate is before
        client.secret = secret_of(second)
        yield 61
        assert tls.context() is not before.context

    kept_current(tmp_path, client, story)
    warnings = [vars(each)["why"] for each in caplog.records if each.levelname == "WARNING"]
    assert warnings == [
        "Secret system/certificate: cannot be read: no answer",
        "Secret system/certificate: cannot be read: no right",
        "Secret system/certificate: the certificate and the key do not belong together",
    ]


def test_a_secret_that_cannot_serve_is_refused_at_the_start(tmp_path, authority):
    """It does not exist, lacks a key, or holds no base64."""

    async def story(stage: Stage) -> None:
        client = stage.client("core")
        with pytest.raises(TlsRefused, match=r"Secret system/certificate: it does not exist"):
            await TlsSecret.load(client, WHERE)
        for data, why in (
            ({}, "data has no key tls.crt"),
            ({"tls.crt": "%"}, r"data\[tls.crt\] is not base64"),
        ):
            meta = ObjectMeta(name=WHERE.name, namespace="system")
            with pytest.raises(TlsRefused, match=why):
                await TlsSecret.load(OneSecret(Secret(metadata=meta, data=data)), WHERE)
        others = SecretLocation(namespace="system", name="certificate", client_authority="ca.crt")
        whole = secret_of(authority.issue("a"), **{"ca.crt": encoded(authority.pem)})
        tls = await TlsSecret.load(OneSecret(whole), others)
        assert tls.context().verify_mode is ssl.CERT_REQUIRED

    staged(tmp_path, story, ("core", "core"))
