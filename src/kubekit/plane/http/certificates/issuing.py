"""Creates certificates of an authority, a server or a client, without touching files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubekit.plane.users import User

# Where Kubernetes looks for the uid of a user.
UID: Final = x509.ObjectIdentifier("1.3.6.1.4.1.57683.2")
CLOCK_SKEW: Final = timedelta(minutes=5)
LEAF_LIFE: Final = timedelta(days=90)
_CA_LIFE: Final = timedelta(days=3650)

_DIGITAL_SIGNATURE: Final = {"digital_signature": True}
_SIGNS_OTHERS: Final = {"digital_signature": True, "key_cert_sign": True, "crl_sign": True}
_USAGES: Final = (
    "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
    "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CertificatePair:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def belongs_together(self) -> bool:
        return self.certificate.public_key() == self.key.public_key()

    def signed(self, certificate: x509.Certificate) -> bool:
        """Whether a certificate comes from this authority."""
        try:
            certificate.verify_directly_issued_by(self.certificate)
        except Exception:  # noqa: BLE001 - of whatever kind: another name, algorithm or signature
            return False
        return True

    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )


def new_authority(now: datetime) -> CertificatePair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "compute local authority")])
    builder = (
        _builder(name, key, now, _CA_LIFE)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(_SIGNS_OTHERS), critical=True)
    )
    return CertificatePair(builder.sign(key, hashes.SHA256()), key)


def new_server(ca: CertificatePair, names: Sequence[str], now: datetime) -> CertificatePair:
    """A server certificate for these host names and addresses."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "compute plane")])
    alternatives = x509.SubjectAlternativeName(map(_general, names))
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(subject, key, now, LEAF_LIFE).add_extension(alternatives, critical=False)
    return _leaf(builder, ca, key, ExtendedKeyUsageOID.SERVER_AUTH)


def new_client(
    ca: CertificatePair, user: User, now: datetime, lifetime: timedelta
) -> CertificatePair:
    """A client certificate for a user: the name, the groups, and the uid if there is one."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(_subject(user), key, now, lifetime)
    return _leaf(builder, ca, key, ExtendedKeyUsageOID.CLIENT_AUTH)


def names_of(certificate: x509.Certificate) -> set[str]:
    """The names in a server certificate."""
    extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return {str(name.value) for name in extension.value}


def _subject(user: User) -> x509.Name:
    if not all(user.groups):
        raise ValueError("a group has no name")
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in user.groups]
    uid = [x509.NameAttribute(UID, user.uid)] if user.uid else []
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, user.name), *uid])


def _leaf(
    builder: x509.CertificateBuilder,
    ca: CertificatePair,
    key: ec.EllipticCurvePrivateKey,
    usage: x509.ObjectIdentifier,
) -> CertificatePair:
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key())
    builder = (
        builder.issuer_name(ca.certificate.subject)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(_DIGITAL_SIGNATURE), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .add_extension(authority, critical=False)
    )
    return CertificatePair(builder.sign(ca.key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _usage(granted: dict[str, bool]) -> x509.KeyUsage:
    return x509.KeyUsage(**{name: granted.get(name, False) for name in _USAGES})
