"""The users of client certificates. CN is the name, each O is a group, as in Kubernetes."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubekit.plane.http.certificates.issuing import UID, CertificatePair
from kubekit.plane.identity.identities import CREDENTIAL, Identity, authenticated
from kubekit.plane.users import User


@dataclass(frozen=True, slots=True)
class VerifiedCertificate:
    """An identity, and the certificate that proves it."""

    identity: Identity
    serial: int
    not_before: datetime
    not_after: datetime


def read_client(der: bytes, ca: CertificatePair) -> VerifiedCertificate | None:
    """The identity of a certificate, if the current authority signed it for client authentication.

    The TLS handshake accepts every authority since the start of the server, so this checks again.
    """
    try:
        certificate = x509.load_der_x509_certificate(der)
        user = _user(certificate.subject, sha256(der).hexdigest())
        for_clients = _is_for_clients(certificate)
    except ValueError:  # duplicate attributes raise it too
        return None
    if user is None or not for_clients or not ca.signed(certificate):
        return None
    not_before, not_after = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    identity = Identity(authenticated(user), "certificate")
    return VerifiedCertificate(identity, certificate.serial_number, not_before, not_after)


def _is_for_clients(certificate: x509.Certificate) -> bool:
    """Whether its extended key usage says so. A certificate without one is not accepted."""
    try:
        usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return False
    return ExtendedKeyUsageOID.CLIENT_AUTH in usages


def _user(subject: x509.Name, fingerprint: str) -> User | None:
    names, uids = _texts(subject, NameOID.COMMON_NAME), _texts(subject, UID)
    if len(names) != 1 or len(uids) > 1 or not names[0]:
        return None
    groups = _texts(subject, NameOID.ORGANIZATION_NAME)
    extra = {CREDENTIAL: (f"X509SHA256={fingerprint}",)}
    return User(names[0], groups, "".join(uids), extra)


def _texts(subject: x509.Name, attribute: x509.ObjectIdentifier) -> tuple[str, ...]:
    values = [found.value for found in subject.get_attributes_for_oid(attribute)]
    if not all(isinstance(value, str) for value in values):
        raise ValueError("a name in a certificate is not text")
    return tuple(map(str, values))
