"""Signed tokens: what this key has signed, in the one spelling it has, and nothing else."""

import base64
import json

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from hypothesis import given, settings, strategies as st

from kubekit.plane.identity.web_tokens import KeyRefused, SigningKey
from tests.support.generated import depth

KEY = SigningKey.generate()
CLAIMS = b'{"sub":"zoe"}'
TOKEN = KEY.sign(CLAIMS)


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def test_a_token_contains_the_signed_claims():
    """Its head names the algorithm and the key, as others expect it."""
    head = json.loads(decoded(TOKEN.split(".")[0]))
    assert KEY.read(TOKEN) == CLAIMS
    assert head == {"alg": "ES256", "kid": KEY.id}


@settings(max_examples=depth.examples(50))
@given(st.binary(max_size=200))
def test_whatever_is_signed_is_read(claims):
    """The key signs any content."""
    token = KEY.sign(claims)
    assert KEY.read(token) == (claims or None)


def test_another_key_reads_nothing():
    """Not even if the header claims that the token is its own."""
    other = SigningKey.generate()
    _, claims, signature = TOKEN.split(".")
    head = other.sign(b"{}").split(".")[0]
    assert (other.read(TOKEN), other.read(f"{head}.{claims}.{signature}")) == (None, None)


@settings(max_examples=depth.examples(200))
@given(st.integers(0, len(TOKEN) - 1), st.sampled_from("AQgw_-9"))
def test_no_letter_can_be_changed(position, letter):
    """In the head, the claims or the signature: also not to another spelling of the same bytes."""
    changed = TOKEN[:position] + letter + TOKEN[position + 1 :]
    assert KEY.read(changed) == (CLAIMS if changed == TOKEN else None)


HEAD, BODY, SIGNATURE = TOKEN.split(".")
ONES = encoded(b"\xff" * 64)


def head(**claims: object) -> str:
    return encoded(json.dumps(claims).encode())


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "...",
        f"{HEAD}.{BODY}",
        f"{HEAD}.{BODY}.",
        f"{HEAD}.{BODY}.{SIGNATURE}.x",
        f"{HEAD}..{SIGNATURE}",
        f" {TOKEN}",
        f"{TOKEN}\n",
        f"{HEAD}.{BODY}.{SIGNATURE}=",
        f"{HEAD}.{BODY}.{SIGNATURE[:-2]}",
        f"{HEAD}.{BODY}.{SIGNATURE}AAAA",
        f"{HEAD}.{BODY}.A",
        f"{HEAD}.A.{SIGNATURE}",
        f"{HEAD}.{BODY}.{encoded(bytes(64))}",
        f"{HEAD}.{BODY}.{ONES}",
        f"{encoded(b'{}')}.{BODY}.{SIGNATURE}",
        f"{head(alg='none')}.{BODY}.{SIGNATURE}",
        f"{head(alg='none', kid=KEY.id)}.{BODY}.x",
        f"{head(alg='HS256', kid=KEY.id)}.{BODY}.{SIGNATURE}",
        f"{head(alg='ES256', kid=KEY.id, jwk=KEY.jwk)}.{BODY}.{SIGNATURE}",
        TOKEN.replace("-", "+").replace("_", "/") + "+",
        "\u0661" + TOKEN[1:],
        TOKEN + "x" * 9000,
    ],
)
def test_what_is_not_exactly_a_token_says_nothing(token):
    """Neither an algorithm of its own choice nor a key of its own helps."""
    assert KEY.read(token) is None


def test_the_key_stays_in_its_file(tmp_path):
    """Made at the first start, for its owner alone, and the same at the next."""
    path = tmp_path / "keys" / "sa.key"
    first = SigningKey.at(path)
    assert SigningKey.at(path).read(first.sign(CLAIMS)) == CLAIMS
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_key_that_others_can_read_is_refused(tmp_path, mode):
    """The message names the command that mends it."""
    path = tmp_path / "sa.key"
    SigningKey.at(path)
    path.chmod(mode)
    with pytest.raises(KeyRefused, match="chmod 600"):
        SigningKey.at(path)


def pem(
    key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey, password: bytes = b""
) -> bytes:
    locked = serialization.BestAvailableEncryption(password) if password else None
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        locked or serialization.NoEncryption(),
    )


@pytest.mark.parametrize(
    "content",
    [
        b"rubbish",
        pem(ec.generate_private_key(ec.SECP384R1())),
        pem(ed25519.Ed25519PrivateKey.generate()),
        pem(ec.generate_private_key(ec.SECP256R1()), b"secret"),
    ],
    ids=["rubbish", "another curve", "another kind", "with a password"],
)
def test_another_key_is_refused(tmp_path, content):
    """It is not replaced: the user may want it back."""
    path = tmp_path / "sa.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(KeyRefused, match="delete it"):
        SigningKey.at(path)
    assert path.read_bytes() == content


def test_others_can_check_a_token_by_the_published_key():
    """Its two numbers are those of the point on the curve."""
    numbers = ec.EllipticCurvePublicNumbers(
        int.from_bytes(decoded(KEY.jwk["x"])), int.from_bytes(decoded(KEY.jwk["y"])), ec.SECP256R1()
    )
    assert numbers.public_key() is not None
    assert KEY.jwk["kid"] == KEY.id
