"""What it takes to reach one API server, and to be let in.

A `Connection` says where and how; its `Credentials` say who, and may change while in use: tokens are
read again, plugins run again, certificates replaced. A transport therefore asks before each request:
first ``await credentials.headers()``, then ``credentials.certificate()``, which is what the first
call found. Where the certificate's ``stamp`` is not the one it knows, it makes a new `tls_context`.

No secret is in any ``repr`` here, so that a logged connection gives nothing away.
"""

import hashlib
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, NoReturn, Protocol
from urllib.parse import quote, urlsplit

from kubekit.api.errors import Unauthorized

# What a header name may hold (RFC 9110), except the percent sign, which begins an escape.
_TOKEN_MARKS: Final = "!#$&'*+-.^_`|~"  # noqa: S105 - the token of HTTP's grammar


class Misconfigured(ValueError):
    """Settings that lead to no connection. The message names the file, the field and the fix."""


class NoCredentials(Unauthorized):
    """The configured credentials could not be had just now: a plugin failed, a file is gone."""


@dataclass(frozen=True)
class ClientCertificate:
    """A certificate chain and its private key, both in PEM."""

    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)

    @cached_property
    def stamp(self) -> str:
        """What differs as soon as the certificate or the key does. It tells nothing of the key."""
        return hashlib.sha256(self.certificate + b"\0" + self.key).hexdigest()[:32]


class Credentials(Protocol):
    """Who is asking."""

    async def headers(self) -> Mapping[str, str]:
        """The headers that say so. It raises `NoCredentials`."""
        ...

    def certificate(self) -> ClientCertificate | None:
        """The client certificate, if there is one. It raises `NoCredentials`."""
        ...

    async def renew(self) -> bool:
        """Forget what a server answered 401 to. Whether it is worth asking the server once more."""
        ...


@dataclass(frozen=True, slots=True)
class Anonymous:
    """Nobody in particular."""

    async def headers(self) -> Mapping[str, str]:
        return {}

    def certificate(self) -> ClientCertificate | None:
        return None

    async def renew(self) -> bool:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonation:
    """Whom to act for, where the server allows it. Empty means oneself."""

    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def headers(self) -> list[tuple[str, str]]:
        """The headers to send with every request. A name may come more than once."""
        single = [("Impersonate-User", self.user), ("Impersonate-Uid", self.uid)]
        return [
            *((name, value) for name, value in single if value),
            *(("Impersonate-Group", group) for group in self.groups),
            *(
                (f"Impersonate-Extra-{quote(key, safe=_TOKEN_MARKS)}", value)
                for key, values in self.extra
                for value in values
            ),
        ]


@dataclass(frozen=True, slots=True)
class ConnectionOrigin:
    """Where the settings were found, for messages."""

    file: str = ""
    context: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.file, self.context and f'context "{self.context}"')))


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One API server, as one caller.

    ``server`` has no slash at its end, but may have a path, under which all requests go.
    ``authority`` is what signs the server's certificate; None means whom the system trusts.
    ``server_name`` is the name the certificate must bear; empty means the host's.
    ``proxy`` is the proxy for this server, from the settings or the environment; empty means none.
    ``compression`` says whether to ask for compressed answers.
    ``namespace`` is where a caller works who names none; empty means he has not said.
    """

    server: str
    authority: bytes | None = field(default=None, repr=False)
    server_name: str = ""
    insecure: bool = False
    proxy: str = field(default="", repr=False)  # it may hold a password
    compression: bool = True
    credentials: Credentials = field(default_factory=Anonymous)
    namespace: str = ""
    impersonation: Impersonation = field(default_factory=Impersonation)
    origin: ConnectionOrigin = field(default_factory=ConnectionOrigin)

    @property
    def secure(self) -> bool:
        """Whether the server speaks TLS."""
        return urlsplit(self.server).scheme == "https"


def tls_context(connection: Connection) -> ssl.SSLContext:
    """The rules of TLS for a connection, with the client certificate of this moment.

    It raises `Misconfigured` for a bad authority and `NoCredentials` for a bad certificate.
    """
    context = _verifying(connection)
    if connection.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    client = connection.credentials.certificate()
    if client:
        try:
            load_certificate(context, client)
        except ValueError as error:
            where = f"{connection.origin}: client certificate"
            raise NoCredentials(f"{where}: {error}".lstrip(": ")) from error
    return context


def authority_problem(authority: bytes) -> str:
    """What keeps an authority from being trusted; empty when nothing does."""
    try:
        _trusting(authority, ConnectionOrigin())
    except Misconfigured as error:
        return str(error)
    return ""


def load_certificate(context: ssl.SSLContext, client: ClientCertificate) -> None:
    """Give the context a certificate. It raises `ValueError`, which says what is wrong with it.

    OpenSSL reads them from files only, so they are one for a moment, in a folder of their own.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "client.pem"
        path.touch(mode=0o600)
        path.write_bytes(client.certificate + b"\n" + client.key)
        try:
            context.load_cert_chain(path, password=_refuse)
        except ssl.SSLError as error:
            what = _PAIR_PROBLEMS.get(error.reason or "", "not a certificate and its key in PEM")
            raise ValueError(what) from error


_NO_AUTHORITY: Final = "the certificate authority holds no certificate"
_PAIR_PROBLEMS: Final = {
    "KEY_VALUES_MISMATCH": "the private key does not belong to the certificate",
    "KEY_TYPE_MISMATCH": "the private key does not belong to the certificate",
}


def _refuse() -> NoReturn:
    """No password, said here: else OpenSSL would ask for it on the terminal."""
    raise ValueError("the private key is encrypted; use one without a password")


def _verifying(connection: Connection) -> ssl.SSLContext:
    """A context that takes what Go takes: an authority may be the very certificate of the server."""
    if connection.authority is None:
        context = ssl.create_default_context()
    else:
        context = _trusting(connection.authority, connection.origin)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _trusting(authority: bytes, origin: ConnectionOrigin) -> ssl.SSLContext:
    """A context that trusts nobody else. Other text than certificates is passed over, as Go does."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=authority.decode("ascii", "ignore"))
    except (ssl.SSLError, ValueError) as error:
        raise Misconfigured(f"{origin}: {_NO_AUTHORITY}".lstrip(": ")) from error
    return context
