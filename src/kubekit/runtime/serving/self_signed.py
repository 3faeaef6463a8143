"""A certificate that a server makes for itself, where none is given.

Clients cannot verify it, so it hides what is read and proves nothing. It is the default of the metrics
server, as in controller-runtime.
"""

import ssl
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubekit.runtime.serving.tls import LoadedCertificate, PemFiles, load_certificate

LIFE: Final = timedelta(days=365)
_CLOCK_SKEW: Final = timedelta(minutes=5)
_LOCAL: Final = ("localhost", "127.0.0.1", "::1")


class SelfSignedTls:
    """A certificate in memory, made again after two thirds of its life."""

    def __init__(self, now: Callable[[], datetime], names: Sequence[str] = _LOCAL) -> None:
        self._now = now
        self._names = tuple(names)
        self._loaded = self._made(now())

    def context(self) -> ssl.SSLContext:
        return self.certificate.context

    @property
    def certificate(self) -> LoadedCertificate:
        now = self._now()
        if now >= self._loaded.not_after - LIFE / 3:
            self._loaded = self._made(now)
        return self._loaded

    def _made(self, now: datetime) -> LoadedCertificate:
        return load_certificate(_self_signed(self._names, now), "this process itself")


def _self_signed(names: Sequence[str], now: datetime) -> PemFiles:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + LIFE)
        .add_extension(x509.SubjectAlternativeName(map(_general, names)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return PemFiles(certificate.public_bytes(serialization.Encoding.PEM), secret)


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
