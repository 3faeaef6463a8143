"""Certificates for real servers, for as long as one run lasts."""

import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFE = timedelta(days=2)
_LOCAL = ("localhost",)


@dataclass(frozen=True, slots=True)
class Pair:
    """The subject of a certificate, and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


class Authority:
    """A certificate authority with its files in a folder; only the user can read them."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self.certificate = folder / f"{name}.crt"
        self._pair = _authority(name)
        _write(folder / name, self._pair)

    def client(self, file: Path, name: str, group: str = "") -> None:
        """A certificate and a key for a user; ``file`` is their path without the suffix."""
        use = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
        self._issue(file, _name(name, group), use)

    def server(self, file: Path, name: str, names: Sequence[str] = ()) -> None:
        """A certificate and a key for a server on loopback, and for these names."""
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        subjects = [address, *(x509.DNSName(name) for name in (*_LOCAL, *names))]
        use = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        self._issue(file, _name(name), use, x509.SubjectAlternativeName(subjects))

    def _issue(self, file: Path, subject: x509.Name, *extensions: x509.ExtensionType) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _unsigned(subject, self._pair.certificate.subject, key)
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        _write(file, Pair(builder.sign(self._pair.key, hashes.SHA256()), key))


def make(folder: Path) -> Authority:
    """The files of an API server and its clients, and the authority that signed them."""
    authority = Authority(folder)
    authority.server(folder / "apiserver", "kube-apiserver", ["kubernetes.default.svc"])
    authority.client(folder / "admin", "admin", "system:masters")
    authority.client(folder / "controllers", "system:kube-controller-manager")
    authority.client(folder / "scheduler", "system:kube-scheduler")
    accounts = ec.generate_private_key(ec.SECP256R1())
    _put(folder / "accounts.key", _private(accounts))
    _put(folder / "accounts.pub", _public(accounts))
    return authority


def _authority(common_name: str) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(common_name)
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = (
        _unsigned(name, name, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
    )
    return Pair(builder.sign(key, hashes.SHA256()), key)


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)  # noqa: TID251 - the server compares it with the machine's clock
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + _LIFE)
    )


def _name(name: str, group: str = "") -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _write(file: Path, pair: Pair) -> None:
    _put(Path(f"{file}.crt"), pair.certificate.public_bytes(serialization.Encoding.PEM))
    _put(Path(f"{file}.key"), _private(pair.key))


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _public(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _put(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
