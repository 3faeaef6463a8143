"""Certificates for one real server, for as long as one run lasts."""

import ipaddress
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFE = timedelta(days=2)
_NAMES = ("localhost", "kubernetes.default.svc")


@dataclass(frozen=True, slots=True)
class Pair:
    """The subject of a certificate, and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def make(folder: Path) -> None:
    """The files of a server and its clients; only the user can read them."""
    folder.mkdir(mode=0o700)
    authority = _authority()
    _write(folder, "ca", authority)
    _write(folder, "apiserver", _leaf(authority, "kube-apiserver", server=True))
    _write(folder, "admin", _leaf(authority, "admin", group="system:masters"))
    _write(folder, "controllers", _leaf(authority, "system:kube-controller-manager"))
    accounts = ec.generate_private_key(ec.SECP256R1())
    _put(folder / "accounts.key", _private(accounts))
    _put(folder / "accounts.pub", _public(accounts))


def _authority() -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("ca")
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


def _leaf(authority: Pair, name: str, group: str = "", *, server: bool = False) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    use = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = _unsigned(_name(name, group), authority.certificate.subject, key).add_extension(
        x509.ExtendedKeyUsage([use]), critical=False
    )
    if server:
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        names = [address, *(x509.DNSName(name) for name in _NAMES)]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return Pair(builder.sign(authority.key, hashes.SHA256()), key)


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


def _write(folder: Path, name: str, pair: Pair) -> None:
    _put(folder / f"{name}.crt", pair.certificate.public_bytes(serialization.Encoding.PEM))
    _put(folder / f"{name}.key", _private(pair.key))


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
