"""Public keys as a machine's template lists them: one ``user:entry`` a line.

An entry is a line of an ``authorized_keys`` file: options, if any; the type of the key; the key in
base64; a comment. The base64 is a row of length-prefixed fields, the first of which repeats the
type. So a key that was truncated when it was pasted is detected here, and not at the first login.

No message contains any part of a line: what was pasted by mistake may be a private key.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Final

# For each type, the lengths of the fields after the type's name; None where it varies.
_FIELDS: Final[dict[str, tuple[int | None, ...]]] = {
    "ssh-ed25519": (32,),
    "ssh-rsa": (None, None),
    "ecdsa-sha2-nistp256": (8, 65),
    "ecdsa-sha2-nistp384": (8, 97),
    "ecdsa-sha2-nistp521": (8, 133),
    "sk-ssh-ed25519@openssh.com": (32, None),
    "sk-ecdsa-sha2-nistp256@openssh.com": (8, 65, None),
}
_LENGTH_BYTES: Final = 4
_PRIVATE: Final = "PRIVATE KEY-----"


def faults(text: str) -> Iterator[str]:
    """The faults of a list of keys, line by line."""
    if _PRIVATE in text:
        yield "this is a private key: remove it, replace that key pair, and give the public half"
        return
    for number, line in enumerate(text.strip().splitlines(), start=1):
        fault = _line_fault(line.strip())
        if fault:
            yield f"line {number}: {fault}"


def _line_fault(line: str) -> str | None:
    user, colon, entry = line.partition(":")
    if not colon:
        return "write user:key, such as ops:ssh-ed25519 followed by the key"
    if not user or len(user.split()) != 1:
        return "name one user before the ':', without spaces"
    return _entry_fault(entry.strip())


def _entry_fault(entry: str) -> str | None:
    words = entry.split()
    if not words:
        return "no key follows the user"
    if words[0] not in _FIELDS:
        end = _options_end(entry)
        if end is None:
            return "a quote in the options of the key is not closed"
        words = entry[end:].split()
    if not words or words[0] not in _FIELDS:
        return f"the key has no known type; use one of {', '.join(_FIELDS)}"
    return _key_fault(words[0], words[1]) if words[1:] else "the key itself is missing"


def _options_end(entry: str) -> int | None:
    """Where the options end: at the first blank outside quotes. None when a quote stays open."""
    quoted = escaped = False
    for at, character in enumerate(entry):
        if character.isspace() and not quoted:
            return at
        if character == '"' and not escaped:
            quoted = not quoted
        escaped = character == "\\"
    return None if quoted else len(entry)


def _key_fault(kind: str, encoded: str) -> str | None:
    try:
        blob = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return "the key is not base64; part of it may be missing"
    fields = _split(blob)
    if fields is None:
        return "the key is cut short; copy the whole line again"
    if fields[0] != kind.encode():
        return f"the line names the type {kind}, but the key is of another type"
    lengths = _FIELDS[kind]
    parts = fields[1:]
    fits = len(parts) == len(lengths) and all(
        wanted is None or len(field) == wanted for field, wanted in zip(parts, lengths, strict=True)
    )
    return None if fits else f"the key does not have the parts of a {kind} key"


def _split(blob: bytes) -> list[bytes] | None:
    """The length-prefixed fields, at least one; None when the bytes end before the last does."""
    fields: list[bytes] = []
    at = 0
    while at < len(blob):
        start = at + _LENGTH_BYTES
        at = start + int.from_bytes(blob[at:start])
        if at > len(blob):
            return None
        fields.append(blob[start:at])
    return fields or None
