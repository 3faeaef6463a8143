"""Accepted credentials: certificates, tokens, service accounts; and a long list of refused ones."""

import asyncio
import base64
import ssl
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubekit.plane.http.certificates.authority import (
    Authority,
    Certificates,
    CertificatesRefused,
    ClientPair,
)
from kubekit.plane.users import User
from tests.support.kubekit.http_builders import Reply
from tests.support.kubekit.identity_builders import (
    ADMIN,
    MAPS,
    WHO,
    IdentityWorld,
    house,
    made_at,
    post,
    raw_post,
    run,
    user_in,
)

AUTHENTICATED = "system:authenticated"


def bearer(token: str) -> str:
    return f"Authorization: Bearer {token}"


def test_a2_a_certificate_authenticates_its_user(tmp_path):
    """CN is the name, each O a group, and the fingerprint is an extra attribute as in Kubernetes."""

    async def story():
        async with house(tmp_path) as here:
            pair = here.certificates.issue_client(
                "zoe", ["a", "b"], timedelta(days=1), here.clock.now, uid="7"
            )
            return user_in(await here.who(context=here.context(pair))), pair

    user, pair = run(story())
    loaded = x509.load_pem_x509_certificate(pair.certificate)
    fingerprint = loaded.fingerprint(hashes.SHA256()).hex()
    assert user == {
        "username": "zoe",
        "uid": "7",
        "groups": ["a", "b", AUTHENTICATED],
        "extra": {"authentication.kubernetes.io/credential-id": [f"X509SHA256={fingerprint}"]},
    }


def test_a2_a_token_authenticates_its_user_with_all_attributes(tmp_path):
    """Groups, uid and extra are kept with the hash."""
    user = User("zoe", ("a",), "7", {"team": ("x", "y")})

    async def story():
        async with house(tmp_path) as here:
            return user_in(await here.who(bearer(here.tokens.issue(user))))

    assert run(story()) == {
        "username": "zoe",
        "uid": "7",
        "groups": ["a", AUTHENTICATED],
        "extra": {"team": ["x", "y"]},
    }


def test_a2_the_certificate_comes_first(tmp_path):
    """As in Kubernetes: with both, the token is ignored."""

    async def story():
        async with house(tmp_path) as here:
            context, token = here.context(here.client("zoe")), here.tokens.issue(ADMIN)
            both = user_in(await here.who(bearer(token), context=context))
            wrong = user_in(await here.who(bearer("wrong"), context=context))
            return both["username"], wrong["username"]

    assert run(story()) == ("zoe", "zoe")


def test_a2_a_certificate_ends_within_a_connection(tmp_path):
    """It is compared with the clock at each request, and a token may take its place."""

    async def story():
        async with house(tmp_path) as here:
            context = here.context(here.client("zoe", hours=1))
            token = here.tokens.issue(ADMIN)
            async with here.peer(context) as peer:
                first = await peer.ask(post(WHO, {}))
                here.clock.pass_(hours=1)
                then = await peer.ask(post(WHO, {}))
                other = await peer.ask(post(WHO, {}, bearer(token)))
            return first.code, then.code, user_in(other)["username"]

    assert run(story()) == (201, 401, "admin")


def test_a2_a_revoked_certificate_is_refused_at_once(tmp_path):
    """Also in connections that are there, and after a restart, when only the file is left."""

    async def story():
        async with house(tmp_path) as here:
            pair = here.client("zoe")
            serial = x509.load_pem_x509_certificate(pair.certificate).serial_number
            async with here.peer(here.context(pair)) as peer:
                first = await peer.ask(post(WHO, {}))
                here.certificates.revoke(serial)
                then = await peer.ask(post(WHO, {}))
            again = Certificates(here.certificates.directory, here.clock.now)
            der = x509.load_pem_x509_certificate(pair.certificate).public_bytes(
                serialization.Encoding.DER
            )
            return first.code, then.code, again.client_of(der, here.clock.now)

    assert run(story()) == (201, 401, None)


def revocable(directory: Path) -> tuple[Certificates, bytes, int]:
    """Certificates as of the folder's making, and a client's one from them, with its number."""
    now = made_at(directory)
    certificates = Certificates(directory / "pki", now)
    pair = certificates.issue_client("zoe", (), timedelta(days=1), now)
    found = x509.load_pem_x509_certificate(pair.certificate)
    return certificates, found.public_bytes(serialization.Encoding.DER), found.serial_number


def test_a2_a_revocation_holds_though_something_else_is_wrong(tmp_path):
    """A key that others may read is an error, but the revocation applies all the same."""
    certificates, der, serial = revocable(tmp_path)
    Authority(certificates.directory).revoke(serial)
    (certificates.directory / "ca.key").chmod(0o644)
    with pytest.raises(CertificatesRefused, match=r"ca\.key can be read by other users"):
        certificates.refresh(made_at(tmp_path))

    assert certificates.client_of(der, made_at(tmp_path)) is None


def test_a2_a_revocation_undoes_no_other(tmp_path):
    """What another process has written down since the last look stays written down."""
    certificates, der, serial = revocable(tmp_path)
    Authority(certificates.directory).revoke(serial)
    certificates.revoke(serial + 1)
    certificates.refresh(made_at(tmp_path))

    assert certificates.client_of(der, made_at(tmp_path)) is None


def test_a2_large_bodies_are_read_for_authenticated_clients(tmp_path):
    """By certificate too; for others the head is enough to be refused."""
    body = msgspec.json.encode({"metadata": {"name": "big"}, "data": {"x": "y" * 100_000}})

    async def story():
        async with house(tmp_path) as here:
            token = here.tokens.issue(ADMIN, timedelta(hours=1))
            good = await here.ask(raw_post(MAPS, body), here.context(here.client("zoe")))
            here.clock.pass_(hours=1)
            head = raw_post(MAPS, body, bearer(token).encode()).partition(b"\r\n\r\n")[0]
            return good.code, (await here.ask(head + b"\r\n\r\n")).code

    assert run(story()) == (201, 401)


# What is in brackets is made of a token that is good: see `spelled`.
HEADERS: dict[str, tuple[bytes, ...]] = {
    "none": (),
    "empty": (b"Authorization:",),
    "blank": (b"Authorization:  ",),
    "scheme alone": (b"Authorization: Bearer",),
    "scheme and blank": (b"Authorization: Bearer ",),
    "token alone": (b"Authorization: [token]",),
    "no blank": (b"Authorization: Bearer[token]",),
    "two blanks": (b"Authorization: Bearer  [token]",),
    "a tab": (b"Authorization: Bearer\t[token]",),
    "more after it": (b"Authorization: Bearer [token] x",),
    "in quotes": (b'Authorization: Bearer "[token]"',),
    "in base64": (b"Authorization: Bearer [base64]",),
    "as a password": (b"Authorization: Basic [password]",),
    "as a user": (b"Authorization: Basic [user]",),
    "basic": (b"Authorization: Basic [token]",),
    "digest": (b'Authorization: Digest username="admin", response="[token]"',),
    "negotiate": (b"Authorization: Negotiate [token]",),
    "token scheme": (b"Authorization: Token [token]",),
    "one letter less": (b"Authorization: Bearer [less]",),
    "one letter more": (b"Authorization: Bearer [token]x",),
    "upper case": (b"Authorization: Bearer [upper]",),
    "backwards": (b"Authorization: Bearer [backwards]",),
    "its hash": (b"Authorization: Bearer [hash]",),
    "8 KB": (b"Authorization: Bearer " + b"x" * 8192,),
    "the token and 8 KB": (b"Authorization: Bearer [token]" + b"x" * 8192,),
    "latin": (b"Authorization: Bearer \xe9\xff",),
    "utf-8": (b"Authorization: Bearer \xc3\xa9",),
    "twice the same": (b"Authorization: Bearer [token]",) * 2,
    "good then bad": (b"Authorization: Bearer [token]", b"Authorization: Bearer x"),
    "bad then good": (b"Authorization: Bearer x", b"Authorization: Bearer [token]"),
    "good then empty": (b"Authorization: Bearer [token]", b"Authorization:"),
    "empty then good": (b"Authorization:", b"Authorization: Bearer [token]"),
    "in two cases": (b"Authorization: Bearer [token]", b"AUTHORIZATION: Bearer [token]"),
    "joined by hand": (b"Authorization: Bearer [token], Bearer [token]",),
    "by a proxy": (b"Proxy-Authorization: Bearer [token]",),
    "as a cookie": (b"Cookie: token=[token]",),
    "by another name": (b"X-Auth-Token: [token]",),
    "a name in a header": (b"X-Remote-User: admin", b"X-Remote-Group: system:masters"),
    "a forwarded user": (b"X-Forwarded-User: admin",),
    "a forwarded certificate": (b"X-Client-Cert: CN=admin",),
    "a websocket's protocol": (
        b"Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.[base64]",
    ),
    "a token without a user": (b"Authorization: Bearer e30.e30.e30",),
    "an unsigned token": (b"Authorization: Bearer [unsigned]",),
}


def spelled(header: bytes, token: str) -> bytes:
    """A header with the token in it, in one form or another."""
    plain = token.encode()
    forms = {
        b"[token]": plain,
        b"[less]": plain[:-1],
        b"[upper]": plain.upper(),
        b"[backwards]": plain[::-1],
        b"[hash]": sha256(plain).hexdigest().encode(),
        b"[base64]": base64.b64encode(plain),
        b"[password]": base64.b64encode(b"admin:" + plain),
        b"[user]": base64.b64encode(plain + b":"),
        b"[unsigned]": b".".join(map(base64.b64encode, (b'{"alg":"none"} ', b"{  }", b"x  "))),
    }
    for form, text in forms.items():
        header = header.replace(form, text)
    return header


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[tuple[asyncio.Runner, IdentityWorld]]:
    """One server for all refused credentials."""
    with asyncio.Runner() as runner:
        entrance = house(tmp_path_factory.mktemp("house"))
        yield runner, runner.run(entrance.__aenter__())
        runner.run(entrance.__aexit__(None, None, None))


@pytest.mark.parametrize("name", HEADERS)
def test_a2_bad_headers_are_refused(server, name):
    """With a token that is good in its proper place, as the last line shows."""
    runner, here = server
    token = here.tokens.issue(ADMIN)
    headers = [spelled(header, token) for header in HEADERS[name]]
    reply: Reply = runner.run(here.ask(raw_post(WHO, b"{}", *headers)))
    good = runner.run(here.who(bearer(token)))

    assert (reply.code, reply.document["message"]) == (401, "Unauthorized")
    assert good.code == 201


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_a2_the_scheme_may_be_written_in_any_case(server, scheme):
    """It is HTTP's own word, and HTTP does not care."""
    runner, here = server
    token = here.tokens.issue(ADMIN)
    assert runner.run(here.who(f"Authorization: {scheme} {token}")).code == 201


def _expired(here: IdentityWorld) -> str:
    token = here.tokens.issue(User("late"), timedelta(seconds=1))
    here.clock.pass_(seconds=1)
    return token


def _revoked(here: IdentityWorld) -> str:
    token = here.tokens.issue(User("gone"))
    here.tokens.revoke("gone")
    return token


TOKENS = {"expired": _expired, "revoked": _revoked}


@pytest.mark.parametrize("name", TOKENS)
def test_a2_tokens_that_were_valid_once_are_refused(server, name):
    """They are refused as if they had never been."""
    runner, here = server
    reply = runner.run(here.who(bearer(TOKENS[name](here))))
    assert reply.code == 401


@pytest.mark.parametrize("name", TOKENS)
def test_a2_cached_identities_expire(tmp_path, name):
    """A token that was accepted a moment ago is not cached beyond its end."""

    async def story():
        async with house(tmp_path) as here:
            token = here.tokens.issue(User("once"), timedelta(hours=1))
            first = await here.who(bearer(token))
            if name == "expired":
                here.clock.pass_(hours=1)
            else:
                here.tokens.revoke("once")
            return first.code, (await here.who(bearer(token))).code

    assert run(story()) == (201, 401)


def _foreign(here: IdentityWorld) -> ClientPair:
    """Another authority, which calls itself the same."""
    other = Certificates(here.directory / "other", here.clock.now)
    return other.issue_client("zoe", ["system:masters"], timedelta(days=1), here.clock.now)


def _outdated(here: IdentityWorld) -> ClientPair:
    start = here.clock.now - timedelta(days=2)
    return here.certificates.issue_client("zoe", [], timedelta(days=1), start)


def _early(here: IdentityWorld) -> ClientPair:
    start = here.clock.now + timedelta(days=2)
    return here.certificates.issue_client("zoe", [], timedelta(days=1), start)


def _of_the_server(here: IdentityWorld) -> ClientPair:
    folder = here.certificates.directory
    return ClientPair((folder / "server.crt").read_bytes(), (folder / "server.key").read_bytes())


def _signed_by_itself(here: IdentityWorld) -> ClientPair:
    return _made(here, ("zoe",), issuer=None)


def _signed_by_a_client(here: IdentityWorld) -> ClientPair:
    return _made(here, ("zoe",), issuer=here.client("mallory"))


def _of_the_authority(here: IdentityWorld) -> ClientPair:
    folder = here.certificates.directory
    return ClientPair((folder / "ca.crt").read_bytes(), (folder / "ca.key").read_bytes())


def _made(
    here: IdentityWorld, names: tuple[str, ...], issuer: ClientPair | None, *, usage: bool = True
) -> ClientPair:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name) for name in names])
    signer, signer_name = key, subject
    if issuer is not None:
        loaded = serialization.load_pem_private_key(issuer.key, None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        signer = loaded
        signer_name = x509.load_pem_x509_certificate(issuer.certificate).subject
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer_name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(here.clock.now - timedelta(hours=1))
        .not_valid_after(here.clock.now + timedelta(hours=1))
    )
    if usage:
        clients = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
        builder = builder.add_extension(clients, critical=False)
    certificate = builder.sign(signer, hashes.SHA256())
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(
        encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return ClientPair(certificate.public_bytes(encoding), private)


def _nameless(here: IdentityWorld) -> ClientPair:
    return _made(here, (), issuer=_of_the_authority(here))


def _of_two_names(here: IdentityWorld) -> ClientPair:
    return _made(here, ("zoe", "admin"), issuer=_of_the_authority(here))


def _for_nothing(here: IdentityWorld) -> ClientPair:
    return _made(here, ("zoe",), issuer=_of_the_authority(here), usage=False)


CERTIFICATES = {
    "another authority": _foreign,
    "past its end": _outdated,
    "before its start": _early,
    "of the server": _of_the_server,
    "of the authority": _of_the_authority,
    "signed by itself": _signed_by_itself,
    "signed by a client": _signed_by_a_client,
    "without a name": _nameless,
    "of two names": _of_two_names,
    "without a use": _for_nothing,
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a2_bad_certificates_are_refused(server, name):
    """The handshake fails, or the request is refused; in no case is there an answer."""
    runner, here = server
    context = here.context(CERTIFICATES[name](here))
    try:
        reply = runner.run(here.who(context=context))
    except (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError):
        return
    assert reply.code == 401


def test_a2_the_matrix_is_large_enough():
    """Forty and more refused credentials."""
    assert len(HEADERS) + len(TOKENS) + len(CERTIFICATES) >= 40


def test_a2_files_of_secrets_are_for_their_owner_alone(tmp_path):
    """After a life of the server, whatever it has written."""

    async def story():
        async with house(tmp_path) as here:
            here.tokens.issue(ADMIN)
            here.certificates.revoke(1)

    run(story())
    files = [path for path in tmp_path.rglob("*") if path.is_file() and "plane" not in path.parts]
    assert {path.name: _mode(path) for path in files} == dict.fromkeys(
        ("tokens.json", "ca.crt", "ca.key", "server.crt", "server.key", "revoked"), 0o600
    )


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", ["/livez", "/readyz", "/version"])
def test_a3_health_may_be_opened_and_nothing_else(tmp_path, path, method):
    """It is closed unless it was opened, and a wrong credential is wrong here too."""

    async def story(*, opened: bool):
        async with house(tmp_path, anonymous_health=opened) as here, here.peer() as peer:
            codes = []
            for asked in (path, f"{path}/x", f"{path}?verbose", "/metrics", "/api", MAPS):
                await peer.send(f"{method} {asked} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                codes.append((await peer.reply(bodiless=method == "HEAD")).code)
            credential = f"{method} {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\r\n"
            await peer.send(credential.encode())
            codes.append((await peer.reply(bodiless=method == "HEAD")).code)
            await peer.send(f"POST {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            codes.append((await peer.reply()).code)
            return codes

    # The server of these tests has no pages: an authenticated request gets 404.
    assert run(story(opened=True)) == [404, 401, 404, 401, 401, 401, 401, 401]
    assert run(story(opened=False)) == [401] * 8
