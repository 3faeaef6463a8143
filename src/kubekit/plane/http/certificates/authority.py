"""The server's own certificate authority, created at the first start, and its certificates.

    ca.crt      the CA certificate, which signs server and client certificates; valid for ten years
    ca.key      0600
    server.crt  valid for 90 days; renewed after two thirds of that, or when the names change
    server.key  0600
    revoked     serial numbers of revoked client certificates, one per line

A running server reloads changed files: new connections see the new certificate, and existing ones
stay open.
"""

import logging
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kubekit.plane.errors import PlaneError
from kubekit.plane.http.certificates import tls
from kubekit.plane.http.certificates.client_certificates import VerifiedCertificate, read_client
from kubekit.plane.http.certificates.issuing import (
    LEAF_LIFE,
    CertificatePair,
    names_of,
    new_authority,
    new_client,
    new_server,
)
from kubekit.plane.private_files import open_to_others, write_private
from kubekit.plane.users import User

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
RENEW_BEFORE: Final = LEAF_LIFE / 3
_CHECK_INTERVAL: Final = 60.0
_CLIENTS_KEPT: Final = 4096
_FILES: Final = ("ca.crt", "ca.key", "server.crt", "server.key", "revoked")
_log: Final = logging.getLogger(__name__)


class CertificatesRefused(PlaneError):
    """The files of the certificate authority cannot be used. The message says which, and what to do."""


class ClientPair(NamedTuple):
    """A client's certificate and its key, for a kubeconfig."""

    certificate: bytes
    key: bytes


class Certificates:
    """The server's certificate, on disk and in the TLS context of the listener."""

    def __init__(self, directory: Path, now: datetime, names: Sequence[str] = LOOPBACK) -> None:
        self.directory = directory
        self.names = tuple(names)
        self.authority = directory / "ca.crt"
        self.context = tls.listening_context()
        self._ca: CertificatePair
        self._leaf: CertificatePair | None = None
        self._seen: object = None
        self._clients: dict[bytes, VerifiedCertificate | None] = {}
        self._revoked: frozenset[int] = frozenset()
        self.renew(now)

    def renew(self, now: datetime) -> bool:
        """Create what is missing or expires soon, and load what others changed.

        Returns whether new connections see another certificate than before. Revocations are loaded
        first, so that they apply even if the rest fails.
        """
        self._revoked = _read_revoked(self.directory / "revoked")
        self._load_authority(_read(self.directory, "ca"), now)
        leaf = _read(self.directory, "server")
        if leaf is None or not self._is_current(leaf, now):
            leaf = new_server(self._ca, self.names, now)
            _write(self.directory, "server", leaf)
        changed = self._leaf is None or leaf.certificate != self._leaf.certificate
        if changed:
            self._load(leaf)
            self._leaf = leaf
        self._seen = self._stamp()
        return changed

    def refresh(self, now: datetime) -> bool:
        """Renew if a file has changed or a certificate expires soon. Otherwise it costs almost nothing."""
        assert self._leaf is not None
        due = now >= self._leaf.certificate.not_valid_after_utc - RENEW_BEFORE
        return self.renew(now) if due or self._seen != self._stamp() else False

    def issue_client(
        self, name: str, groups: Sequence[str], lifetime: timedelta, now: datetime, *, uid: str = ""
    ) -> ClientPair:
        """A new certificate for a user. The server does not store its key."""
        return Authority(self.directory).issue(User(name, tuple(groups), uid), lifetime, now).pair

    def client_of(self, certificate: bytes, now: datetime) -> VerifiedCertificate | None:
        """The verified form of a client certificate from a TLS handshake.

        A certificate is parsed and verified once, then cached by its bytes.
        """
        try:
            client = self._clients[certificate]
        except KeyError:
            client = self._keep(certificate)
        if client is None or not client.not_before <= now < client.not_after:
            return None
        return None if client.serial in self._revoked else client

    def revoke(self, serial: int) -> None:
        """Revoke the client certificate with this serial number."""
        path = self.directory / "revoked"
        self._revoked = _read_revoked(path) | {serial}
        revoke(path, self._revoked)

    def _load_authority(self, ca: CertificatePair | None, now: datetime) -> None:
        if ca is None or ca.certificate.not_valid_after_utc <= now:
            ca = new_authority(now)
            _write(self.directory, "ca", ca)
        elif not ca.belongs_together:
            files = f"{self.authority} and {self.directory / 'ca.key'}"
            message = f"{files} do not belong together: delete both, and new ones are created"
            raise CertificatesRefused(message)
        elif now < ca.certificate.not_valid_before_utc:
            start = ca.certificate.not_valid_before_utc.isoformat()
            message = f"{self.authority} is valid from {start}, and it is {now.isoformat()}: set the clock"
            raise CertificatesRefused(message)
        self._ca = ca
        self._clients.clear()
        self.context.load_verify_locations(cadata=ca.certificate_pem().decode())

    def _is_current(self, leaf: CertificatePair, now: datetime) -> bool:
        certificate = leaf.certificate
        ends = certificate.not_valid_after_utc - RENEW_BEFORE
        in_time = certificate.not_valid_before_utc <= now < ends
        if not in_time or not leaf.belongs_together or not self._ca.signed(certificate):
            return False
        return names_of(certificate) == set(self.names)

    def _load(self, leaf: CertificatePair) -> None:
        """Load the pair from one file, since two files could change between the reads.

        A context with a certificate and another key could not serve any connection.
        """
        with NamedTemporaryFile(dir=self.directory) as file:  # 0600
            file.write(leaf.certificate_pem() + leaf.key_pem())
            file.flush()
            self.context.load_cert_chain(file.name)

    def _keep(self, certificate: bytes) -> VerifiedCertificate | None:
        if len(self._clients) >= _CLIENTS_KEPT:
            del self._clients[next(iter(self._clients))]
        client = self._clients[certificate] = read_client(certificate, self._ca)
        return client

    def _stamp(self) -> object:
        """A value that changes when one of the files does."""
        return [_stamp(self.directory / name) for name in _FILES]


class Authority:
    """The certificate authority alone, to issue client certificates beside a running server."""

    def __init__(self, directory: Path) -> None:
        ca = _read(directory, "ca")
        if ca is None:
            raise CertificatesRefused(f"{directory}: there is no certificate authority in it")
        self._directory = directory
        self._ca = ca

    def issue(self, user: User, lifetime: timedelta, now: datetime) -> "IssuedCertificate":
        """A new certificate for a user. The server does not store its key."""
        if now + lifetime > (end := self._ca.certificate.not_valid_after_utc):
            raise CertificatesRefused(
                f"the authority itself expires at {end.isoformat()}: choose a shorter lifetime"
            )
        try:
            pair = new_client(self._ca, user, now, lifetime)
        except ValueError as problem:
            message = f"no certificate can name {user.name!r} and its groups: {problem}"
            raise CertificatesRefused(message) from problem
        found = pair.certificate
        client = ClientPair(pair.certificate_pem(), pair.key_pem())
        return IssuedCertificate(client, found.serial_number, found.not_valid_after_utc)

    def revoke(self, serial: int) -> None:
        """Revoke the certificate with this serial number. A running server applies it within a minute."""
        path = self._directory / "revoked"
        revoke(path, _read_revoked(path) | {serial})


class IssuedCertificate(NamedTuple):
    """A client certificate, the serial number to revoke it by, and when it expires."""

    pair: ClientPair
    serial: int
    until: datetime


def revoke(path: Path, serials: Iterable[int]) -> None:
    """Save the revoked serial numbers."""
    lines = "".join(f"{number:x}\n" for number in sorted(serials))
    write_private(path, lines.encode())


class Renewals:
    """Renews the certificate of a running server; checked once a minute."""

    def __init__(self, certificates: Certificates, now: Callable[[], datetime]) -> None:
        self._certificates = certificates
        self._now = now
        self._timer: TimerHandle | None = None
        self._reported = ""

    def start(self, loop: AbstractEventLoop) -> None:
        self._timer = loop.call_later(_CHECK_INTERVAL, self._refresh, loop)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _refresh(self, loop: AbstractEventLoop) -> None:
        try:
            self._certificates.refresh(self._now())
            self._reported = ""
        except (CertificatesRefused, OSError) as problem:
            # There are thirty days left to fix it, so one log line is enough.
            if str(problem) != self._reported:
                _log.warning("the certificate was not renewed", extra={"why": str(problem)})
            self._reported = str(problem)
        self.start(loop)


def _read(directory: Path, stem: str) -> CertificatePair | None:
    certificate, key = directory / f"{stem}.crt", directory / f"{stem}.key"
    if not certificate.exists() or not key.exists():
        return None
    if open_to_others(key):
        raise CertificatesRefused(f"{key} can be read by other users: run chmod 600 {key}")
    try:
        private = serialization.load_pem_private_key(key.read_bytes(), password=None)
        public = x509.load_pem_x509_certificate(certificate.read_bytes())
    # TypeError: it has a password.
    except (ValueError, TypeError, UnsupportedAlgorithm) as problem:
        message = f"{certificate} and {key} cannot be read: delete both, and new ones are created"
        raise CertificatesRefused(message) from problem
    if not isinstance(private, ec.EllipticCurvePrivateKey):
        raise CertificatesRefused(
            f"{key} is not an elliptic curve key: delete it and {certificate}"
        )
    return CertificatePair(public, private)


def _write(directory: Path, stem: str, pair: CertificatePair) -> None:
    """Write the key first: a certificate without its key would be trusted but unusable."""
    write_private(directory / f"{stem}.key", pair.key_pem())
    write_private(directory / f"{stem}.crt", pair.certificate_pem())


def _read_revoked(path: Path) -> frozenset[int]:
    """The serial numbers in the file. An unreadable file must not let a revoked certificate in."""
    try:
        return frozenset(_serials(path.read_text().split()))
    except FileNotFoundError:
        return frozenset()
    except ValueError as problem:
        message = f"{path} is not a list of serial numbers ({problem}): fix it or delete it"
        raise CertificatesRefused(message) from problem


def _serials(lines: Iterable[str]) -> Iterable[int]:
    return (int(line, 16) for line in lines)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode
