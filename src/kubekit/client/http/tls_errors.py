"""What goes wrong in TLS, with the field of a kubeconfig to correct."""

import ssl
from typing import Final

_AUTHORITY: Final = (
    "no authority that is trusted here has signed its certificate",
    "set certificate-authority or certificate-authority-data of the cluster to the CA of this server",
)
_NAME: Final = (
    "its certificate is for other names",
    "use one of its names in the cluster's server field, or set tls-server-name to one",
)
_CLIENT: Final = (
    "it does not accept the client certificate",
    "check client-certificate and client-key, or their -data, of the user: is it of this server's "
    "CA, and not expired?",
)
# The numbers are those of X509_V_ERR in OpenSSL.
_BY_VERIFICATION: Final = {
    9: ("its certificate is not valid yet", "check the clocks of both machines"),
    10: ("its certificate has expired", "have it renewed, or check the clock of this machine"),
    18: _AUTHORITY,
    19: _AUTHORITY,
    20: _AUTHORITY,
    21: _AUTHORITY,
    62: _NAME,
    64: _NAME,
}
_CERTIFICATE_ALERTS: Final = (
    "CERTIFICATE_REQUIRED",
    "BAD_CERTIFICATE",
    "UNKNOWN_CA",
    "CERTIFICATE_EXPIRED",
    "CERTIFICATE_REVOKED",
    "CERTIFICATE_UNKNOWN",
    "UNSUPPORTED_CERTIFICATE",
)
_HANDSHAKE: Final = "HANDSHAKE_FAILURE"  # of TLS 1.2 also for want of a certificate
_NOT_TLS: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")


def problem(error: ssl.SSLError) -> tuple[str, str]:
    """Why TLS failed, and what to do."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why, advice = _BY_VERIFICATION.get(error.verify_code, ("its certificate is not valid", ""))
        return f"{why} ({error.verify_message})", advice
    reason = _reason(error)
    if reason in _NOT_TLS:
        return "it does not speak TLS on this port", "is the server's address http, not https?"
    if reason.endswith(_HANDSHAKE):
        return f"it does not agree to TLS ({_spaced(reason)})", f"if it wants one, {_CLIENT[1]}"
    return refused_by_peer(error) or (f"TLS failed ({_spaced(reason)})", "")


def refused_by_peer(error: ssl.SSLError) -> tuple[str, str] | None:
    """Why the server rejected the client certificate, and what to do; None if it did not.

    In TLS 1.3 the alert comes after the handshake. The server has read nothing of a request then.
    """
    reason = _reason(error)
    if not any(reason.endswith(alert) for alert in _CERTIFICATE_ALERTS):
        return None
    why, advice = _CLIENT
    return f"{why} ({_spaced(reason)})", advice


def _reason(error: ssl.SSLError) -> str:
    # An error that was not made by OpenSSL does not even have the attribute.
    return getattr(error, "reason", None) or ""


def _spaced(reason: str) -> str:
    return reason.lower().replace("_", " ") or "no reason given"
