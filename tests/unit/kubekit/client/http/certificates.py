"""A certificate authority for tests, and what it signs."""

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kubekit.client.connection import ClientCertificate

_BIRTH = datetime(2020, 1, 1, tzinfo=UTC)  # TLS compares with the machine's own clock
_LONG = timedelta(days=365 * 50)


@dataclass(frozen=True)
class Authority:
    """Who signs. Each has a key of its own."""

    name: str

    @cached_property
    def _key(self) -> ec.EllipticCurvePrivateKey:
        return ec.generate_private_key(ec.SECP256R1())

    @cached_property
    def _own(self) -> x509.Certificate:
        built = _begun(self.name, self.name, self._key.public_key(), _LONG)
        rule = x509.BasicConstraints(ca=True, path_length=None)
        return built.add_extension(rule, critical=True).sign(self._key, hashes.SHA256())

    @property
    def pem(self) -> bytes:
        return self._own.public_bytes(serialization.Encoding.PEM)

    def sign(self, name: str, life: timedelta = _LONG, *, host: str = "") -> ClientCertificate:
        """A certificate for a name, and for a host if one is given, with its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        built = _begun(name, self.name, key.public_key(), life)
        if host:
            names = x509.SubjectAlternativeName([_host(host)])
            built = built.add_extension(names, critical=False)
        made = built.sign(self._key, hashes.SHA256())
        secret = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return ClientCertificate(made.public_bytes(serialization.Encoding.PEM), secret)

    def server(
        self, folder: Path, host: str = "127.0.0.1", life: timedelta = _LONG
    ) -> ssl.SSLContext:
        """The TLS of a server."""
        pair = self.sign("server", life, host=host)
        file = folder / "server.pem"
        file.write_bytes(pair.certificate + pair.key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def asking(self, context: ssl.SSLContext) -> ssl.SSLContext:
        """The TLS of a server that wants a certificate of this authority."""
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=self.pem.decode())
        return context


def _begun(name: str, issuer: str, key: Any, life: timedelta) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(issuer))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(_BIRTH)
        .not_valid_after(_BIRTH + life)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
