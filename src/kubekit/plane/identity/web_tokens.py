"""JSON Web Tokens, the subset that is used here: signed by one key with ES256, without optional parts.

The header of a token is not trusted. A token is verified with the one key and the one algorithm of
the server, and a token with another header is rejected.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from kubekit.plane.errors import PlaneError
from kubekit.plane.private_files import open_to_others, write_private

LONGEST: Final = 8 * 1024
_PARTS: Final = re.compile(r"([\w-]+)\.([\w-]+)\.([\w-]+)", re.ASCII)
_NUMBER: Final = 32  # bytes of each of the two numbers of a signature
_ES256: Final = ec.ECDSA(hashes.SHA256())


class KeyRefused(PlaneError):
    """The key file cannot be used. The message says which, and what to do."""


class SigningKey:
    """The key that signs the tokens of service accounts, for all planes of a server."""

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        public = key.public_key()
        numbers = public.public_numbers()
        self._private = key
        self._public = public
        self.id = _text(sha256(_der(public)).digest())
        self._head = _text(msgspec.json.encode({"alg": "ES256", "kid": self.id}))
        self.jwk = {
            "use": "sig",
            "kty": "EC",
            "kid": self.id,
            "crv": "P-256",
            "alg": "ES256",
            "x": _text(numbers.x.to_bytes(_NUMBER)),
            "y": _text(numbers.y.to_bytes(_NUMBER)),
        }

    @classmethod
    def generate(cls) -> "SigningKey":
        """A new key in memory. Its tokens become invalid when the process ends."""
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def at(cls, path: Path) -> "SigningKey":
        """The key in this file, created if there is none yet."""
        if not path.exists():
            write_private(path, _pem(ec.generate_private_key(ec.SECP256R1())))
        if open_to_others(path):
            raise KeyRefused(f"{path} can be read by other users: run chmod 600 {path}")
        try:
            key = serialization.load_pem_private_key(path.read_bytes(), password=None)
        # TypeError: it has a password.
        except (ValueError, TypeError, UnsupportedAlgorithm) as problem:
            message = f"{path} is not a private key: delete it, and a new one is created"
            raise KeyRefused(message) from problem
        if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
            raise KeyRefused(
                f"{path} is not a key of the curve P-256: delete it, and a new one is created"
            )
        return cls(key)

    def sign(self, claims: bytes) -> str:
        """A signed token with these claims."""
        signed = f"{self._head}.{_text(claims)}"
        r, s = decode_dss_signature(self._private.sign(signed.encode(), _ES256))
        return f"{signed}.{_text(r.to_bytes(_NUMBER) + s.to_bytes(_NUMBER))}"

    def read(self, token: str) -> bytes | None:
        """The claims of a token that this key has signed; None for every other text."""
        if len(token) > LONGEST:
            return None
        parts = _PARTS.fullmatch(token)
        if parts is None or parts[1] != self._head:
            return None
        claims, signature = _bytes(parts[2]), _bytes(parts[3])
        if claims is None or signature is None or len(signature) != 2 * _NUMBER:
            return None
        return claims if self._signed(f"{parts[1]}.{parts[2]}", signature) else None

    def _signed(self, text: str, signature: bytes) -> bool:
        r, s = int.from_bytes(signature[:_NUMBER]), int.from_bytes(signature[_NUMBER:])
        try:
            self._public.verify(encode_dss_signature(r, s), text.encode(), _ES256)
        except InvalidSignature:
            return False
        return True


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes | None:
    """The bytes, if the text is their canonical encoding."""
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None
    return data if _text(data) == text else None


def _der(public: ec.EllipticCurvePublicKey) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return public.public_bytes(serialization.Encoding.DER, form)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
