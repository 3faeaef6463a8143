"""The TLS of the listener: versions, certificates that change under load, and failures that speak."""

import asyncio
import ssl
import warnings
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.certificates.issuing import CertificatePair, new_server
from tests.support.kubekit.http_builders import Peer, connected, until
from tests.support.kubekit.identity_builders import (
    ADMIN,
    WHO,
    IdentityWorld,
    house,
    made_at,
    post,
    run,
)

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}


def on(loop: str, story):
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        return runner.run(story)


def client(authority, version: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    """A client of one version, which would take any cipher."""
    context = ssl.create_default_context(cafile=authority)
    context.set_ciphers("ALL:@SECLEVEL=0")
    if version is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # that is what is tested
            context.minimum_version = context.maximum_version = version
    return context


def handshake(server: ssl.SSLContext, asking: ssl.SSLContext) -> str | None:
    """The version that both agree on."""
    one, other = shaken(server, asking)
    return one.version() if one.cipher() and other.cipher() else None


def shaken(
    server: ssl.SSLContext, asking: ssl.SSLContext, session: ssl.SSLSession | None = None
) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """The two ends of a handshake, as far as it came."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = asking.wrap_bio(back, there, server_hostname="localhost", session=session)
    other = server.wrap_bio(there, back, server_side=True)
    for _ in range(4):
        for end in (one, other):
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
    return one, other


@pytest.mark.parametrize(
    ("version", "spoken"),
    [
        (ssl.TLSVersion.TLSv1, None),
        (ssl.TLSVersion.TLSv1_1, None),
        (ssl.TLSVersion.TLSv1_2, "TLSv1.2"),
        (ssl.TLSVersion.TLSv1_3, "TLSv1.3"),
        (None, "TLSv1.3"),
    ],
    ids=["1.0", "1.1", "1.2", "1.3", "whatever is best"],
)
def test_a4_old_versions_are_refused(tmp_path, version, spoken):
    """A client that speaks only those is refused, though it could speak with others."""
    certificates = Certificates(tmp_path, made_at(tmp_path))
    asking = client(certificates.authority, version)
    lenient = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    lenient.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the server that takes everything
        lenient.minimum_version = ssl.TLSVersion.TLSv1
    lenient.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")

    assert handshake(lenient, asking) is not None
    try:
        found = handshake(certificates.context, asking)
    except ssl.SSLError:
        found = None
    assert found == spoken


def serial(peer: Peer) -> int:
    """Of the certificate that a connection was made with."""
    tls = peer.writer.get_extra_info("ssl_object")
    return x509.load_der_x509_certificate(tls.getpeercert(binary_form=True)).serial_number


async def ask_again(here: IdentityWorld, token: str, done: asyncio.Event, seen: list[int]) -> int:
    """Ask on and on, each time on a new connection. How many were answered otherwise than by yes."""
    failures = 0
    while not done.is_set():
        async with here.peer() as peer:
            reply = await peer.ask(post(WHO, {}, f"Authorization: Bearer {token}"))
            failures += reply.code != 201
            seen.append(serial(peer))
    return failures


@pytest.mark.parametrize("loop", LOOPS)
def test_a4_a_renewed_certificate_is_loaded_under_load(tmp_path, loop):
    """No request fails, existing connections stay open, and new ones see the new certificate."""

    async def story():
        async with house(tmp_path) as here:
            token = here.tokens.issue(ADMIN)
            done, seen = asyncio.Event(), list[int]()
            clients = [asyncio.ensure_future(ask_again(here, token, done, seen)) for _ in range(3)]
            async with here.peer() as old:
                for _ in range(3):
                    before = len(seen)
                    (tmp_path / "pki" / "server.crt").unlink()
                    assert here.certificates.refresh(here.clock.now)
                    await until(lambda: len(seen) >= before + 6)  # noqa: B023 - used at once
                header = f"Authorization: Bearer {token}"
                still = (await old.ask(post(WHO, {}, header))).code
            done.set()
            return still, sum(await asyncio.gather(*clients)), len(set(seen)) >= 4

    assert on(loop, story()) == (201, 0, True)


def test_a4_a_certificate_from_another_process_is_loaded(tmp_path):
    """A look costs nothing while nothing has changed, and finds what has."""

    async def story():
        async with house(tmp_path) as here:
            async with here.peer() as peer:
                first = serial(peer)
            idle = here.certificates.refresh(here.clock.now)
            ca = Certificates(tmp_path / "pki", here.clock.now)
            (tmp_path / "pki" / "server.key").unlink()
            ca.renew(here.clock.now)
            async with here.peer() as peer:
                before = serial(peer)
            changed = here.certificates.refresh(here.clock.now)
            async with here.peer() as peer:
                return first == before, idle, changed, serial(peer) == first

    assert run(story()) == (True, False, True, False)


def test_a4_two_thirds_of_a_life_are_enough(tmp_path):
    """A look from then on makes a new certificate, once."""
    now = made_at(tmp_path)
    certificates = Certificates(tmp_path, now)
    looks = [certificates.refresh(now + timedelta(days=days)) for days in (1, 59, 61, 61, 62)]
    assert looks == [False, False, True, False, False]


def test_a4_half_a_pair_is_not_taken_up(tmp_path):
    """Between the writing of the two files they do not belong together: a new pair is made."""
    now = made_at(tmp_path)
    certificates = Certificates(tmp_path, now)
    other = ec.generate_private_key(ec.SECP256R1())
    certificate = x509.load_pem_x509_certificate((tmp_path / "server.crt").read_bytes())
    (tmp_path / "server.key").write_bytes(CertificatePair(certificate, other).key_pem())
    assert certificates.refresh(now)
    assert handshake(certificates.context, client(certificates.authority)) == "TLSv1.3"


def test_a4_a_certificate_of_another_authority_is_replaced(tmp_path):
    """Clients that trust our authority would not trust it."""
    now = made_at(tmp_path)
    other = Certificates(tmp_path / "other", now)
    certificates = Certificates(tmp_path / "own", now)
    for name in ("server.crt", "server.key"):
        (tmp_path / "other" / name).replace(tmp_path / "own" / name)
    assert certificates.refresh(now)
    assert handshake(certificates.context, client(certificates.authority)) == "TLSv1.3"
    with pytest.raises(ssl.SSLError):
        handshake(certificates.context, client(other.authority))


def test_a4_a_client_past_the_end_of_a_certificate_refuses_it(tmp_path):
    """A server that slept through its renewal makes a new one when it starts."""
    now = made_at(tmp_path)
    Certificates(tmp_path, now - timedelta(days=100))
    old = new_server(_authority(tmp_path), ("localhost",), now - timedelta(days=100))
    stale = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    file = tmp_path / "stale.pem"
    file.write_bytes(old.certificate_pem() + old.key_pem())
    stale.load_cert_chain(file)
    asking = client(tmp_path / "ca.crt")

    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        handshake(stale, asking)
    assert handshake(Certificates(tmp_path, now).context, asking) == "TLSv1.3"


def _authority(directory) -> CertificatePair:
    key = serialization.load_pem_private_key((directory / "ca.key").read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return CertificatePair(x509.load_pem_x509_certificate((directory / "ca.crt").read_bytes()), key)


@pytest.mark.parametrize("loop", LOOPS)
def test_plain_http_gets_an_answer_that_this_is_tls(tmp_path, loop):
    """A person who forgot the s reads it in the answer, as with Kubernetes."""

    async def story():
        async with house(tmp_path) as here, connected(here.server.port) as peer:
            return await peer.ask(b"GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n")

    reply = on(loop, story())
    assert reply.code == 400
    assert reply.body == b"Client sent an HTTP request to an HTTPS server.\n"


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("data", [b"\x00" * 64, b"SSH-2.0-OpenSSH\r\n"])
def test_what_is_neither_is_hung_up_on(tmp_path, loop, data):
    """Without a word, since there is no language to say it in."""

    async def story():
        async with house(tmp_path) as here, connected(here.server.port) as peer:
            await peer.send(data)
            with suppress(ConnectionError):
                answer = await peer.rest()
                return not answer.startswith(b"HTTP")
            return True

    assert on(loop, story())


@pytest.mark.parametrize("loop", LOOPS)
def test_a_bad_client_certificate_gets_an_alert(tmp_path, loop):
    """The alert reaches the client, which else could only guess why the connection ended."""

    async def story():
        async with house(tmp_path) as here:
            other = Certificates(tmp_path / "other", here.clock.now)
            pair = other.issue_client("zoe", [], timedelta(days=1), here.clock.now)
            try:
                await here.who(context=here.context(pair))
            except ssl.SSLError as problem:
                return problem.reason
            return None

    assert "UNKNOWN_CA" in str(on(loop, story()))


def test_a_resumed_session_keeps_its_user(tmp_path):
    """It is older clients that resume; the certificate stays the one that the session started with."""
    now = made_at(tmp_path)
    certificates = Certificates(tmp_path, now)
    asking = client(certificates.authority, ssl.TLSVersion.TLSv1_2)
    file = tmp_path / "zoe.pem"
    file.write_bytes(b"".join(certificates.issue_client("zoe", [], timedelta(days=1), now)))
    asking.load_cert_chain(file)
    first, shown = shaken(certificates.context, asking)
    again, kept = shaken(certificates.context, asking, first.session)

    assert (again.session_reused, first.session is not None) == (True, True)
    assert first.session is None or not first.session.has_ticket
    assert kept.getpeercert(binary_form=True) == shown.getpeercert(binary_form=True)
