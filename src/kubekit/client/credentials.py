"""Static credentials: tokens, passwords and certificates, some of them in files.

The content of a file may be replaced at any time, as Kubernetes does with the tokens and certificates
of a pod. A file may be unreadable for a moment, or a certificate may be written before its key. Then
the last content stays in use, and the file is read again soon.
"""

import base64
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from kubekit.client.connection import (
    ClientCertificate,
    Credentials,
    NoCredentials,
    load_certificate,
)

FILE_LIMIT: Final = 1024 * 1024  # bytes; far more than a token or a chain of certificates takes

_UNSENDABLE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")

_Stamp = tuple[tuple[int, ...], ...]


class WithoutCertificate:
    """Credentials in a header only."""

    def certificate(self) -> ClientCertificate | None:
        return None


@dataclass(frozen=True, slots=True)
class BearerToken(WithoutCertificate):
    """A bearer token that does not change."""

    token: str = field(repr=False)

    async def headers(self) -> Mapping[str, str]:
        return bearer(self.token)

    async def renew(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Basic(WithoutCertificate):
    """A user name and a password."""

    username: str
    password: str = field(repr=False)

    async def headers(self) -> Mapping[str, str]:
        both = f"{self.username}:{self.password}".encode()
        return {"Authorization": f"Basic {base64.b64encode(both).decode()}"}

    async def renew(self) -> bool:
        return False


class KeyPair:
    """A client certificate and its private key, each in a file or given as bytes.

    They are read again as soon as a file has changed, and used once they match each other.
    """

    def __init__(self, certificate: Path | bytes, key: Path | bytes) -> None:
        self._sources = (certificate, key)
        self._pair: ClientCertificate | None = None
        self._stamp: _Stamp | None = None
        self._problem = ""

    def __repr__(self) -> str:
        return f"KeyPair({self._names()!r})"

    async def headers(self) -> Mapping[str, str]:
        return {}

    def certificate(self) -> ClientCertificate | None:
        try:
            self._read()
        except NoCredentials as error:
            if self._pair is None:
                raise
            self._warn_once(str(error))
        return self._pair

    async def renew(self) -> bool:
        return False

    def _read(self) -> None:
        stamp = tuple(_stamp(source) for source in self._sources if isinstance(source, Path))
        if stamp == self._stamp:
            return
        pair = ClientCertificate(*map(_content, self._sources))
        problem = pair_problem(pair)
        if problem:
            self._stamp = stamp if self._pair else None  # read again once a file has changed
            raise NoCredentials(f"{self._names()}: {problem}".lstrip(": "))
        self._pair, self._stamp, self._problem = pair, stamp, ""

    def _warn_once(self, problem: str) -> None:
        if problem != self._problem:
            import logging  # noqa: PLC0415 -- completion of words does without it

            log = logging.getLogger(__name__)
            log.warning("keeping the last client certificate", extra={"problem": problem})
        self._problem = problem

    def _names(self) -> str:
        return " and ".join(str(source) for source in self._sources if isinstance(source, Path))


class Both(msgspec.Struct, frozen=True):
    """The header of one and the certificate of another: a user may have both."""

    header: Credentials
    tls: Credentials

    async def headers(self) -> Mapping[str, str]:
        return await self.header.headers()

    def certificate(self) -> ClientCertificate | None:
        return self.tls.certificate()

    async def renew(self) -> bool:
        return await self.header.renew()


def token_in(path: Path) -> str:
    """The token in a file, without the white space around it."""
    token = read_limited(path).decode("utf-8", "surrogateescape").strip()
    if not token:
        raise NoCredentials(f"{path}: the token file is empty")
    if not sendable(token):
        raise NoCredentials(f"{path}: the token file holds more than one line, or no text")
    return token


def sendable(text: str) -> bool:
    """Whether the text may be sent in a header."""
    return _UNSENDABLE.search(text) is None


def pair_problem(pair: ClientCertificate) -> str:
    """What is wrong with a certificate and its key; empty if nothing is."""
    try:
        load_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), pair)
    except ValueError as error:
        return str(error)
    return ""


def read_limited(path: Path) -> bytes:
    """The content of a small file. It raises `NoCredentials`, which names the file."""
    try:
        with path.open("rb") as file:
            data = file.read(FILE_LIMIT + 1)
    except (OSError, ValueError) as error:
        raise NoCredentials(f"{path}: {_reason(error)}") from error
    if len(data) > FILE_LIMIT:
        raise NoCredentials(f"{path}: larger than {FILE_LIMIT // 1024} KiB")
    return data


def bearer(token: str) -> Mapping[str, str]:
    """The header that carries a token."""
    return {"Authorization": f"Bearer {token}"}


def _content(source: Path | bytes) -> bytes:
    return read_limited(source) if isinstance(source, Path) else source


def _stamp(path: Path) -> tuple[int, ...]:
    """A stamp that differs between a file and its replacement."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise NoCredentials(f"{path}: {_reason(error)}") from error
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _reason(error: OSError | ValueError) -> str:
    """The reason without the path, because the message already starts with it."""
    return (isinstance(error, OSError) and error.strerror) or "not a path"
