"""The certificate of a server and the TLS context made of it.

A context is never changed while it serves: a new certificate makes a new context, and a connection
keeps the one that it started with. Therefore a wrong certificate can be refused as a whole.
"""

import os
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from tempfile import NamedTemporaryFile
from typing import Final, Protocol

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from kubekit.api import times

CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"


class TlsRefused(Exception):
    """A certificate or key that cannot serve. The message says which, and why."""


class ServerTls(Protocol):
    """A source of the certificate of a server."""

    def context(self) -> ssl.SSLContext:
        """The context for a new connection."""
        ...

    @property
    def certificate(self) -> "LoadedCertificate":
        """The certificate that new connections see."""
        ...


@dataclass(frozen=True, slots=True)
class PemFiles:
    """The texts of a certificate chain, its key, and the authority of clients if they need one."""

    certificate: bytes
    key: bytes
    client_authority: bytes | None = None


@dataclass(frozen=True, slots=True)
class LoadedCertificate:
    """A certificate that can serve, in its context."""

    source: str
    context: ssl.SSLContext
    not_before: datetime
    not_after: datetime

    def problems(self, now: datetime) -> list[str]:
        """Why clients refuse the certificate now."""
        if now >= self.not_after:
            when = times.format_time(self.not_after)
            return [f"the certificate of {self.source} expired at {when}: renew it"]
        if now < self.not_before:
            when = times.format_time(self.not_before)
            return [f"the certificate of {self.source} is valid from {when} only: check the clock"]
        return []


def load_certificate(pem: PemFiles, source: str) -> LoadedCertificate:
    """The certificate in a context of its own. It raises `TlsRefused`."""
    leaf = _leaf(pem.certificate, source)
    if _certified_key(leaf, source) != _public_key(pem.key, source):
        raise TlsRefused(f"{source}: the certificate and the key do not belong together")
    context = _listening_context()
    try:
        with _on_file(pem.certificate + b"\n" + pem.key) as path:
            context.load_cert_chain(path)
    except ssl.SSLError as problem:
        raise TlsRefused(f"{source}: the certificate cannot be used: {problem.reason}") from problem
    if pem.client_authority is not None:
        _require_clients(context, pem.client_authority, source)
    return LoadedCertificate(source, context, leaf.not_valid_before_utc, leaf.not_valid_after_utc)


def _leaf(pem: bytes, source: str) -> x509.Certificate:
    """The first certificate, which is the server's own."""
    try:
        return x509.load_pem_x509_certificates(pem)[0]
    except ValueError as problem:
        message = f"{source}: there is no certificate in PEM form in it"
        raise TlsRefused(message) from problem


def _certified_key(leaf: x509.Certificate, source: str) -> object:
    try:
        return leaf.public_key()
    except (ValueError, UnsupportedAlgorithm) as problem:
        raise TlsRefused(f"{source}: the certificate has a key of an unknown kind") from problem


def _public_key(pem: bytes, source: str) -> object:
    try:
        return serialization.load_pem_private_key(pem, password=None).public_key()
    except TypeError as problem:
        raise TlsRefused(f"{source}: the key has a password; store it without one") from problem
    except (ValueError, UnsupportedAlgorithm) as problem:
        raise TlsRefused(f"{source}: there is no usable key in PEM form in it") from problem


def _listening_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    # A resumed session would outlive a change of the authority of clients.
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    return context


def _require_clients(context: ssl.SSLContext, authority: bytes, source: str) -> None:
    """Refuse clients without a certificate of this authority."""
    try:
        context.load_verify_locations(cadata=authority.decode("ascii"))
    except (ValueError, ssl.SSLError) as problem:
        message = f"{source}: there is no certificate of the authority of clients in PEM form"
        raise TlsRefused(message) from problem
    context.verify_mode = ssl.CERT_REQUIRED


@contextmanager
def _on_file(content: bytes) -> Iterator[str]:
    """A path to the content, since OpenSSL reads keys from files only.

    Linux has files without a name, in memory. So the key touches no disk, and the server starts
    where no folder can be written.
    """
    if sys.platform == "linux":
        descriptor = os.memfd_create("certificate")
        try:
            os.write(descriptor, content)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        with NamedTemporaryFile() as file:  # 0600
            file.write(content)
            file.flush()
            yield file.name
