"""The address of one API server, and the credentials to use there.

The `Credentials` of a `Connection` may change while in use: tokens are read again, plugins run again,
certificates are replaced. So a transport asks for them before each request: first
``await credentials.headers()``, then ``credentials.certificate()``, which returns what the first call
read. If the ``stamp`` of the certificate has changed, the transport makes a new `tls_context`.

No ``repr`` here contains a secret, so a connection can be logged.
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

import msgspec

from kubekit.api.errors import Unauthorized

# What a header name may hold (RFC 9110), except the percent sign, which starts an escape.
_TOKEN_MARKS: Final = "!#$&'*+-.^_`|~"  # noqa: S105 - the token of HTTP's grammar


class Misconfigured(ValueError):
    """Settings that do not describe a connection. The message names the file, the field and the fix."""


class NoCredentials(Unauthorized):
    """The configured credentials are not available now: a plugin failed, or a file is missing."""


@dataclass(frozen=True)
class ClientCertificate:
    """A certificate chain and its private key, both in PEM."""

    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)

    @cached_property
    def stamp(self) -> str:
        """A digest that changes with the certificate or the key. It reveals nothing of the key."""
        return hashlib.sha256(self.certificate + b"\0" + self.key).hexdigest()[:32]


class Credentials(Protocol):
    """What authenticates a client."""

    async def headers(self) -> Mapping[str, str]:
        """The headers that authenticate a request. It raises `NoCredentials`."""
        ...

    def certificate(self) -> ClientCertificate | None:
        """The client certificate, if there is one. It raises `NoCredentials`."""
        ...

    async def renew(self) -> bool:
        """Discard credentials that a server answered with 401. Whether a retry is worthwhile."""
        ...


class Anonymous(msgspec.Struct, frozen=True):
    """No credentials."""

    async def headers(self) -> Mapping[str, str]:
        return {}

    def certificate(self) -> ClientCertificate | None:
        return None

    async def renew(self) -> bool:
        return False


class Impersonation(msgspec.Struct, frozen=True, kw_only=True):
    """The user to impersonate, if the server allows it. Empty means no impersonation."""

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


class ConnectionOrigin(msgspec.Struct, frozen=True):
    """Where the settings come from, for messages."""

    file: str = ""
    context: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.file, self.context and f'context "{self.context}"')))


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One API server, with the credentials of one caller.

    ``server`` has no slash at its end, but may have a path, under which all requests go.
    ``authority`` signs the certificate of the server; None means the authorities of the system.
    ``server_name`` is the name in the certificate; empty means the name of the host.
    ``proxy`` is the proxy for this server, from the settings or the environment; empty means none.
    ``compression`` says whether to ask for compressed answers.
    ``namespace`` is the default namespace; empty means that none is set.
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
    """The TLS context of a connection, with its current client certificate.

    It raises `Misconfigured` for a bad authority and `NoCredentials` for a bad certificate.
    """
    context = _verifying_context(connection)
    if connection.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    client = connection.credentials.certificate()
    if client:
        try:
            load_certificate(context, client)
        except ValueError as error:
            subject = f"{connection.origin}: client certificate"
            raise NoCredentials(f"{subject}: {error}".lstrip(": ")) from error
    return context


def authority_problem(authority: bytes) -> str:
    """What is wrong with an authority; empty if nothing is."""
    try:
        _trusting_context(authority, ConnectionOrigin())
    except Misconfigured as error:
        return str(error)
    return ""


def load_certificate(context: ssl.SSLContext, client: ClientCertificate) -> None:
    """Load a certificate into the context. The `ValueError` says what is wrong with it.

    OpenSSL reads certificates from files only, so they are written to a temporary folder.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "client.pem"
        path.touch(mode=0o600)
        path.write_bytes(client.certificate + b"\n" + client.key)
        try:
            context.load_cert_chain(path, password=_refuse)
        except ssl.SSLError as error:
            problem = _PAIR_PROBLEMS.get(error.reason or "", "not a certificate and its key in PEM")
            raise ValueError(problem) from error


_NO_AUTHORITY: Final = "the certificate authority holds no certificate"
_PAIR_PROBLEMS: Final = {
    "KEY_VALUES_MISMATCH": "the private key does not belong to the certificate",
    "KEY_TYPE_MISMATCH": "the private key does not belong to the certificate",
}


def _refuse() -> NoReturn:
    """Refuse to give a password; without this callback OpenSSL would ask for it on the terminal."""
    raise ValueError("the private key is encrypted; use one without a password")


def _verifying_context(connection: Connection) -> ssl.SSLContext:
    """A context that accepts what Go does: an authority may be the certificate of the server itself."""
    if connection.authority is None:
        context = ssl.create_default_context()
    else:
        context = _trusting_context(connection.authority, connection.origin)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _trusting_context(authority: bytes, origin: ConnectionOrigin) -> ssl.SSLContext:
    """A context that trusts this authority only. Text around the certificates is ignored, as in Go."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=authority.decode("ascii", "ignore"))
    except (ssl.SSLError, ValueError) as error:
        raise Misconfigured(f"{origin}: {_NO_AUTHORITY}".lstrip(": ")) from error
    return context
