"""A certificate authority of one's own, made at first start, and the server's certificate from it.

    ca.crt      what clients trust; made once, for ten years
    ca.key      0600
    server.crt  90 days; made again when 30 are left or when the names change
    server.key  0600

A renewed certificate is taken up by the running server: connections made from then on see it.
"""

import logging
import ssl
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from compute.plane.http.authentication import write_private

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
LEAF_LIFE: Final = timedelta(days=90)
RENEW_BEFORE: Final = timedelta(days=30)
_CA_LIFE: Final = timedelta(days=3650)
_LOOKED_AT_EVERY: Final = 12 * 3600.0
_log: Final = logging.getLogger(__name__)
_CLOCK_SKEW: Final = timedelta(minutes=5)

_DIGITAL_SIGNATURE: Final = {"digital_signature": True}
_SIGNS_OTHERS: Final = {"digital_signature": True, "key_cert_sign": True, "crl_sign": True}
_USAGES: Final = (
    "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
    "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
)  # fmt: skip


class CertificatesRefused(Exception):
    """The files of the certificate authority cannot be used. Says which, and what to do."""


@dataclass(frozen=True, slots=True)
class _Pair:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


class Certificates:
    """The server's identity, on disk and in the context that the listener uses."""

    def __init__(self, directory: Path, now: datetime, names: Sequence[str] = LOOPBACK) -> None:
        self.directory = directory
        self.names = tuple(names)
        self.authority = directory / "ca.crt"
        self.context = _new_context()
        self.renew(now)
        self._load()

    def renew(self, now: datetime) -> bool:
        """Make what is missing or near its end. Answers whether the certificate is a new one."""
        ca = _read(self.directory, "ca")
        if ca is None or ca.certificate.not_valid_after_utc <= now:
            ca = _new_authority(now)
            _write(self.directory, "ca", ca)
        elif not _belong_together(ca):
            files = f"{self.authority} and {self.directory / 'ca.key'}"
            message = f"{files} do not belong together: delete both, and new ones are made"
            raise CertificatesRefused(message)
        leaf = _read(self.directory, "server")
        if leaf is not None and _still_good(leaf, ca, self.names, now):
            return False
        _write(self.directory, "server", _new_leaf(ca, self.names, now))
        self._load()
        return True

    def _load(self) -> None:
        self.context.load_cert_chain(self.directory / "server.crt", self.directory / "server.key")


class Renewals:
    """Looks after the certificate of a running server, twice a day."""

    def __init__(self, certificates: Certificates, now: Callable[[], datetime]) -> None:
        self._certificates = certificates
        self._now = now
        self._timer: TimerHandle | None = None

    def start(self, loop: AbstractEventLoop) -> None:
        self._timer = loop.call_later(_LOOKED_AT_EVERY, self._look, loop)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self, loop: AbstractEventLoop) -> None:
        try:
            self._certificates.renew(self._now())
        except (CertificatesRefused, OSError) as problem:
            # There are thirty days left to mend it.
            _log.warning("the certificate was not renewed", extra={"why": str(problem)})
        self.start(loop)


def _new_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    # A ticket costs a write of its own in each handshake, and local handshakes are cheap.
    context.num_tickets = 0
    return context


def _new_authority(now: datetime) -> _Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _named("compute local authority")
    builder = (
        _builder(name, key, now, _CA_LIFE)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(_SIGNS_OTHERS), critical=True)
    )
    return _Pair(builder.sign(key, hashes.SHA256()), key)


def _new_leaf(ca: _Pair, names: Sequence[str], now: datetime) -> _Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        _builder(_named("compute plane"), key, now, LEAF_LIFE)
        .issuer_name(ca.certificate.subject)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(_DIGITAL_SIGNATURE), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(map(_general, names)), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key()), critical=False
        )
    )
    return _Pair(builder.sign(ca.key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _still_good(leaf: _Pair, ca: _Pair, names: Iterable[str], now: datetime) -> bool:
    certificate = leaf.certificate
    in_time = (
        certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc - RENEW_BEFORE
    )
    if not in_time or not _belong_together(leaf):
        return False
    return _names_of(certificate) == set(names) and _signed_by(certificate, ca)


def _belong_together(pair: _Pair) -> bool:
    return pair.certificate.public_key() == pair.key.public_key()


def _signed_by(certificate: x509.Certificate, ca: _Pair) -> bool:
    identifier = certificate.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value
    mine = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key())
    return identifier.key_identifier == mine.key_identifier


def _names_of(certificate: x509.Certificate) -> set[str]:
    extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return {str(name.value) for name in extension.value}


def _read(directory: Path, stem: str) -> _Pair | None:
    certificate, key = directory / f"{stem}.crt", directory / f"{stem}.key"
    if not certificate.exists() or not key.exists():
        return None
    if key.stat().st_mode & 0o077:
        raise CertificatesRefused(f"{key} can be read by other users: run chmod 600 {key}")
    try:
        private = serialization.load_pem_private_key(key.read_bytes(), password=None)
        public = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (ValueError, TypeError) as problem:  # TypeError: it has a password
        message = f"{certificate} and {key} cannot be read: delete both, and new ones are made"
        raise CertificatesRefused(message) from problem
    if not isinstance(private, ec.EllipticCurvePrivateKey):
        raise CertificatesRefused(f"{key} is no elliptic curve key: delete it and {certificate}")
    return _Pair(public, private)


def _write(directory: Path, stem: str, pair: _Pair) -> None:
    """The key first: a certificate without its key would be trusted and unusable."""
    private = pair.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    write_private(directory / f"{stem}.key", private)
    write_private(
        directory / f"{stem}.crt", pair.certificate.public_bytes(serialization.Encoding.PEM)
    )


def _named(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _usage(granted: dict[str, bool]) -> x509.KeyUsage:
    return x509.KeyUsage(**{name: granted.get(name, False) for name in _USAGES})
