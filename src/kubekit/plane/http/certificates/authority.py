"""A certificate authority of one's own, made at first start, and what comes from it.

    ca.crt      what clients trust, and what their own certificates come from; for ten years
    ca.key      0600
    server.crt  90 days; made again when two thirds are over or when the names change
    server.key  0600
    revoked     serial numbers of clients' certificates that are not taken any more, one a line

A running server takes up what changes here: connections made from then on see the new certificate,
and those that are there live on.
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
    Pair,
    names_of,
    new_authority,
    new_client,
    new_server,
)
from kubekit.plane.private_files import open_to_others, write_private
from kubekit.plane.users import User

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
RENEW_BEFORE: Final = LEAF_LIFE / 3
_LOOKED_AT_EVERY: Final = 60.0
_CLIENTS_KEPT: Final = 4096
_FILES: Final = ("ca.crt", "ca.key", "server.crt", "server.key", "revoked")
_log: Final = logging.getLogger(__name__)


class CertificatesRefused(PlaneError):
    """The files of the certificate authority cannot be used. Says which, and what to do."""


class ClientPair(NamedTuple):
    """A client's certificate and its key, for a kubeconfig."""

    certificate: bytes
    key: bytes


class Certificates:
    """The server's identity, on disk and in the context that the listener uses."""

    def __init__(self, directory: Path, now: datetime, names: Sequence[str] = LOOPBACK) -> None:
        self.directory = directory
        self.names = tuple(names)
        self.authority = directory / "ca.crt"
        self.context = tls.listening_context()
        self._ca: Pair
        self._leaf: Pair | None = None
        self._seen: object = None
        self._clients: dict[bytes, VerifiedCertificate | None] = {}
        self._revoked: frozenset[int] = frozenset()
        self.renew(now)

    def renew(self, now: datetime) -> bool:
        """Make what is missing or near its end, and take up what others made.

        Answers whether connections from now on see another certificate than before. Who is revoked
        is read first: whatever else is refused, he is.
        """
        self._revoked = _read_revoked(self.directory / "revoked")
        self._take_authority(_read(self.directory, "ca"), now)
        leaf = _read(self.directory, "server")
        if leaf is None or not self._still_good(leaf, now):
            leaf = new_server(self._ca, self.names, now)
            _write(self.directory, "server", leaf)
        changed = self._leaf is None or leaf.certificate != self._leaf.certificate
        if changed:
            self._load(leaf)
            self._leaf = leaf
        self._seen = self._stamp()
        return changed

    def look(self, now: datetime) -> bool:
        """The same, where a file has changed or the time has come. Else it costs next to nothing."""
        assert self._leaf is not None
        due = now >= self._leaf.certificate.not_valid_after_utc - RENEW_BEFORE
        return self.renew(now) if due or self._seen != self._stamp() else False

    def issue_client(
        self, name: str, groups: Sequence[str], lifetime: timedelta, now: datetime, *, uid: str = ""
    ) -> ClientPair:
        """A new certificate for a user, who must keep the key: it is kept nowhere else."""
        return Authority(self.directory).issue(User(name, tuple(groups), uid), lifetime, now).pair

    def client_of(self, certificate: bytes, now: datetime) -> VerifiedCertificate | None:
        """Whom a certificate speaks for that a client has shown, and has the key of.

        It is read and verified once, and then known by its bytes.
        """
        try:
            client = self._clients[certificate]
        except KeyError:
            client = self._keep(certificate)
        if client is None or not client.begins <= now < client.ends:
            return None
        return None if client.serial in self._revoked else client

    def revoke(self, serial: int) -> None:
        """Take the client's certificate of this serial number no more."""
        path = self.directory / "revoked"
        self._revoked = _read_revoked(path) | {serial}
        revoke(path, self._revoked)

    def _take_authority(self, ca: Pair | None, now: datetime) -> None:
        if ca is None or ca.certificate.not_valid_after_utc <= now:
            ca = new_authority(now)
            _write(self.directory, "ca", ca)
        elif not ca.belongs_together:
            files = f"{self.authority} and {self.directory / 'ca.key'}"
            message = f"{files} do not belong together: delete both, and new ones are made"
            raise CertificatesRefused(message)
        elif now < ca.certificate.not_valid_before_utc:
            begin = ca.certificate.not_valid_before_utc.isoformat()
            message = (
                f"{self.authority} begins at {begin}, and it is {now.isoformat()}: set the clock"
            )
            raise CertificatesRefused(message)
        self._ca = ca
        self._clients.clear()
        self.context.load_verify_locations(cadata=ca.certificate_pem().decode())

    def _still_good(self, leaf: Pair, now: datetime) -> bool:
        certificate = leaf.certificate
        ends = certificate.not_valid_after_utc - RENEW_BEFORE
        in_time = certificate.not_valid_before_utc <= now < ends
        if not in_time or not leaf.belongs_together or not self._ca.signed(certificate):
            return False
        return names_of(certificate) == set(self.names)

    def _load(self, leaf: Pair) -> None:
        """Hand the pair to the context from one file, since two could change between the readings.

        A context that got a certificate and not its key could serve nobody.
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
        """What changes when one of the files does."""
        return [_stamp(self.directory / name) for name in _FILES]


class Authority:
    """The authority alone, of a server that may be running: for whoever lets users in."""

    def __init__(self, directory: Path) -> None:
        ca = _read(directory, "ca")
        if ca is None:
            raise CertificatesRefused(f"{directory}: there is no certificate authority in it")
        self._directory = directory
        self._ca = ca

    def issue(self, user: User, lifetime: timedelta, now: datetime) -> "IssuedCertificate":
        """A new certificate for a user. Its key is kept nowhere else."""
        if now + lifetime > (end := self._ca.certificate.not_valid_after_utc):
            raise CertificatesRefused(
                f"the authority itself ends at {end.isoformat()}: ask for less"
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
        """Take the certificate of this serial number no more; a running server notices soon."""
        path = self._directory / "revoked"
        revoke(path, _read_revoked(path) | {serial})


class IssuedCertificate(NamedTuple):
    """A client's certificate, by which it can be revoked, and until when it holds."""

    pair: ClientPair
    serial: int
    until: datetime


def revoke(path: Path, serials: Iterable[int]) -> None:
    """Write down which certificates are not taken any more."""
    lines = "".join(f"{number:x}\n" for number in sorted(serials))
    write_private(path, lines.encode())


class Renewals:
    """Looks after the certificate of a running server, once a minute."""

    def __init__(self, certificates: Certificates, now: Callable[[], datetime]) -> None:
        self._certificates = certificates
        self._now = now
        self._timer: TimerHandle | None = None
        self._told = ""

    def start(self, loop: AbstractEventLoop) -> None:
        self._timer = loop.call_later(_LOOKED_AT_EVERY, self._look, loop)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self, loop: AbstractEventLoop) -> None:
        try:
            self._certificates.look(self._now())
            self._told = ""
        except (CertificatesRefused, OSError) as problem:
            # There are thirty days left to mend it, and to say it once is enough.
            if str(problem) != self._told:
                _log.warning("the certificate was not renewed", extra={"why": str(problem)})
            self._told = str(problem)
        self.start(loop)


def _read(directory: Path, stem: str) -> Pair | None:
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
        message = f"{certificate} and {key} cannot be read: delete both, and new ones are made"
        raise CertificatesRefused(message) from problem
    if not isinstance(private, ec.EllipticCurvePrivateKey):
        raise CertificatesRefused(f"{key} is no elliptic curve key: delete it and {certificate}")
    return Pair(public, private)


def _write(directory: Path, stem: str, pair: Pair) -> None:
    """The key first: a certificate without its key would be trusted and unusable."""
    write_private(directory / f"{stem}.key", pair.key_pem())
    write_private(directory / f"{stem}.crt", pair.certificate_pem())


def _read_revoked(path: Path) -> frozenset[int]:
    """The serial numbers in the file. What cannot be read must not let anybody in by accident."""
    try:
        return frozenset(_serials(path.read_text().split()))
    except FileNotFoundError:
        return frozenset()
    except ValueError as problem:
        message = f"{path} is no list of serial numbers ({problem}): mend it or delete it"
        raise CertificatesRefused(message) from problem


def _serials(words: Iterable[str]) -> Iterable[int]:
    return (int(word, 16) for word in words)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode
