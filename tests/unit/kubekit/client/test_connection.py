"""What a connection shows of itself, and the TLS that it asks for."""

import asyncio
import ssl
import tempfile
from typing import Any

import pytest

from kubekit.api.errors import Unauthorized
from kubekit.client.connection import (
    Anonymous,
    ClientCertificate,
    Connection,
    ConnectionOrigin,
    Impersonation,
    Misconfigured,
    NoCredentials,
    tls_context,
)
from kubekit.client.credentials import Basic, BearerToken, Both, KeyPair
from tests.support.kubekit.kubeconfig_builders import (
    SECRET,
    authority_pem,
    client_pair,
    encrypted,
    server_pair,
)
from tests.support.kubekit.virtual_time import run


@pytest.mark.parametrize(
    "credentials",
    [
        BearerToken(SECRET),
        Basic("jo", SECRET),
        KeyPair(SECRET.encode(), SECRET.encode()),
        Both(BearerToken(SECRET), KeyPair(SECRET.encode(), SECRET.encode())),
        Anonymous(),
    ],
    ids=lambda each: type(each).__name__,
)
def test_no_secret_is_in_the_words_for_a_connection(credentials):
    """Control K2: a connection that is printed or logged gives no secret away."""
    connection = Connection(
        server="https://plane.test", credentials=credentials, proxy=f"http://jo:{SECRET}@proxy"
    )
    assert SECRET not in repr(connection)
    assert "https://plane.test" in repr(connection)


def test_a_client_certificate_shows_nothing_but_has_a_stamp_of_its_own():
    """A new certificate has a new stamp, an equal one the same, and neither is printed."""
    one, again, other = client_pair(), ClientCertificate(**vars(client_pair())), server_pair()
    assert repr(one) == "ClientCertificate()"
    assert one.stamp == again.stamp != other.stamp


def test_anonymous_has_no_credentials():
    """An anonymous caller sends nothing, and a refusal does not change that."""
    anonymous = Anonymous()
    assert (run(anonymous.headers()), anonymous.certificate(), run(anonymous.renew())) == (
        {},
        None,
        False,
    )


def test_impersonation_is_written_as_headers_that_may_repeat():
    """A group is a header each, and a key that no header name can hold is escaped as Go does it."""
    acting = Impersonation(
        user="jo", uid="7", groups=("g1", "g2"), extra=(("a/b C%", ("1", "2")), ("plain", ("3",)))
    )
    assert acting.headers() == [
        ("Impersonate-User", "jo"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "g1"),
        ("Impersonate-Group", "g2"),
        ("Impersonate-Extra-a%2Fb%20C%25", "1"),
        ("Impersonate-Extra-a%2Fb%20C%25", "2"),
        ("Impersonate-Extra-plain", "3"),
    ]
    assert Impersonation().headers() == []


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (ConnectionOrigin(), ""),
        (ConnectionOrigin("/a/config"), "/a/config"),
        (ConnectionOrigin("/a/config", "x"), '/a/config, context "x"'),
    ],
)
def test_an_origin_is_shown_in_messages(origin, words):
    """Messages can say which file and context a connection comes from."""
    assert str(origin) == words


@pytest.mark.parametrize(
    ("server", "secure"), [("https://a", True), ("http://a", False), ("https://a/b", True)]
)
def test_a_connection_is_secure_by_its_scheme(server, secure):
    """A transport asks for TLS where the URL says so."""
    assert Connection(server=server).secure is secure


def test_the_context_verifies_by_default():
    """A server is verified by name and authority with TLS 1.2 or newer; only insecure is not."""
    usual = tls_context(Connection(server="https://a", authority=authority_pem()))
    system = tls_context(Connection(server="https://a"))
    insecure = tls_context(Connection(server="https://a", insecure=True))
    assert (usual.verify_mode, usual.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert (system.verify_mode, system.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert (insecure.verify_mode, insecure.check_hostname) == (ssl.CERT_NONE, False)
    assert {each.minimum_version for each in (usual, system, insecure)} == {ssl.TLSVersion.TLSv1_2}
    assert len(usual.get_ca_certs()) == 1


@pytest.mark.parametrize(
    "authority", [authority_pem(), server_pair().certificate], ids=["ca", "leaf"]
)
def test_both_sides_know_each_other(authority):
    """With the authority, or the very certificate of the server, and a client certificate, TLS is made."""
    connection = Connection(
        server="https://localhost",
        authority=b"caf\xc3\xa9\n" + authority,
        credentials=KeyPair(client_pair().certificate, client_pair().key),
    )
    client = tls_context(connection)

    async def story() -> Any:
        met: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            met.set_result(writer.get_extra_info("peercert"))
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0, ssl=_server_context())
        async with server:
            port = server.sockets[0].getsockname()[1]
            _, writer = await asyncio.open_connection(
                "127.0.0.1", port, ssl=client, server_hostname="localhost"
            )
            seen = await met
            writer.close()
        return seen

    assert asyncio.run(story())["subject"][-1] == (("commonName", "jo"),)


@pytest.mark.parametrize("authority", [b"", b"\xff\x00", b"-----BEGIN CERTIFICATE-----\nxx"])
def test_an_authority_without_a_certificate_is_refused(authority):
    """What is no certificate is not passed over in silence: nothing could be verified with it."""
    connection = Connection(
        server="https://a", authority=authority, origin=ConnectionOrigin("/a", "x")
    )
    with pytest.raises(Misconfigured, match='/a, context "x": the certificate authority'):
        tls_context(connection)


@pytest.mark.parametrize(
    ("pair", "problem"),
    [
        (ClientCertificate(b"x", b"y"), "not a certificate and its key in PEM"),
        (
            ClientCertificate(client_pair().certificate, server_pair().key),
            "the private key does not belong to the certificate",
        ),
        (encrypted(client_pair()), "the private key is encrypted; use one without a password"),
    ],
    ids=["no PEM", "another's key", "encrypted"],
)
def test_a_client_certificate_that_cannot_be_used_is_refused(pair: ClientCertificate, problem):
    """A bad certificate is reported, without asking for a password on the terminal."""

    class Given(Anonymous, frozen=True):
        def certificate(self) -> ClientCertificate:
            return pair

    connection = Connection(server="https://a", credentials=Given())
    with pytest.raises(NoCredentials) as refused:
        tls_context(connection)
    assert str(refused.value) == f"client certificate: {problem}"
    assert isinstance(refused.value, Unauthorized)


def test_no_private_key_stays_on_the_disk(tmp_path, monkeypatch):
    """The key is a file only while OpenSSL reads it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pair = KeyPair(client_pair().certificate, client_pair().key)
    tls_context(Connection(server="https://a", credentials=pair))
    assert list(tmp_path.iterdir()) == []


def _server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:
        file.write(server_pair().certificate + server_pair().key)
        file.flush()
        context.load_cert_chain(file.name)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=authority_pem().decode())
    return context
