"""Decodes request bodies strictly: refuses values that decoding would lose or change.

msgspec is fast and refuses most invalid JSON. This module checks what it accepts: nesting that is
too deep, duplicate keys, integers that other readers would round, and the character NUL. Each check
starts with a count or a search over the bytes, which nearly every body passes; only then is the
body examined more closely.
"""

import codecs
import json
import re
from collections import Counter
from itertools import accumulate
from typing import Any, Final

import msgspec

from kubekit.api.errors import BadRequest
from kubekit.api.excerpt import excerpt
from kubekit.client import documents

DEPTH_LIMIT: Final = 500
YAML_NODE_LIMIT: Final = 20_000  # a quarter of a second, in which no other request is served

_DECODER: Final = msgspec.json.Decoder(float_hook=documents.number)
_ENCODER: Final = msgspec.json.Encoder()
# An unterminated string extends to the end: searching for each next one would be quadratic.
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_LONE_SURROGATE: Final = re.compile(
    rb"(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
)
_LONG_INTEGER: Final = re.compile(rb"(?<![0-9.eE+-])-?[0-9]{19,}(?![0-9.eE])")
# All digits become 0, and all bytes that may precede a number become a colon. So one search finds
# long numbers, and skips strings of digits, which are common.
_NORMALIZED: Final = bytes.maketrans(b"123456789,[- \t\r\n", b"000000000" + b":" * 7)
_LONG: Final = b"0" * 19  # as many as the largest integer of 64 bits has
_BRACKETS: Final = b"[]{}"
_NO_BRACKETS: Final = bytes(set(range(256)) - set(_BRACKETS))
_STEPS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def read_json(body: bytes) -> object:
    """The value in a JSON body. `BadRequest` says what is wrong and where."""
    value = read_own(body)
    written = _ENCODER.encode(value)
    # A duplicate key is encoded once, so quotes are missing; only this escape hides a quote.
    if body.count(b'"') != written.count(b'"') or (b"\\" in body and b"\\u0022" in body):
        _refuse_repeated_keys(body, written)
    return value


def read_own(body: bytes) -> object:
    """The value in a body without duplicate keys, as an encoder of this process writes it."""
    # A body that is nested too deep has at least that many opening and closing brackets.
    if len(body) > 2 * DEPTH_LIMIT and body.count(b"{") + body.count(b"[") > DEPTH_LIMIT:
        _refuse_depth(body)
    try:
        value: object = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _not_json(body, error) from error
    if b"\\" in body and b"\\u0000" in body:
        _refuse_nul(body)
    normalized = body.translate(_NORMALIZED)
    if b":" + _LONG in normalized or normalized.startswith(_LONG):
        _refuse_long_integers(body)
    return value


def read_yaml(body: bytes) -> object:
    """The value in a YAML body, which must be one document. What JSON refuses is refused."""
    try:
        values = documents.read(body, YAML_NODE_LIMIT)
    except documents.UnreadableDocument as error:
        raise BadRequest(f"the body is not readable as YAML: {error}") from error
    if len(values) != 1:
        raise BadRequest(f"the body holds {len(values) or 'no'} documents; send one")
    try:
        written = _ENCODER.encode(values[0])
    except UnicodeEncodeError as error:
        raise BadRequest("the body holds half a character (a lone surrogate)") from error
    return read_json(written)


def _refuse_depth(body: bytes) -> None:
    brackets = _STRING.sub(b"", body).translate(None, _NO_BRACKETS)
    deepest = max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
    if deepest > DEPTH_LIMIT:
        raise BadRequest(f"the body is nested deeper than {DEPTH_LIMIT} levels")


def _refuse_nul(body: bytes) -> None:
    match = _NUL.search(body)
    if match is not None:
        raise BadRequest(f"the body holds the character NUL (byte {match.end() - 6})")


def _refuse_long_integers(body: bytes) -> None:
    """Strings are blanked, not removed, so that positions are those of the body."""
    blanked = _STRING.sub(lambda text: b" " * len(text[0]), body)
    for match in _LONG_INTEGER.finditer(blanked):
        if not -(2**63) <= int(match[0]) < 2**63:
            raise BadRequest(
                f"the body holds the integer {excerpt(match[0].decode())} (byte {match.start()}), "
                "which does not fit in 64 bits; write it as a string"
            )


def _refuse_repeated_keys(body: bytes, written: bytes) -> None:
    """The encoded form has each key once, so it has fewer members if a key was duplicate."""
    if _members(body) != _members(written):
        json.loads(body, object_pairs_hook=_unique_members)


def _members(text: bytes) -> int:
    """How many members all objects in the text have together."""
    return _STRING.sub(b"", text).count(b":")


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        name, times = Counter(name for name, _ in pairs).most_common(1)[0]
        raise BadRequest(f"the body gives the key {excerpt(name)} {times} times in one object")
    return members


def _not_json(body: bytes, error: Exception) -> BadRequest:
    if not body.strip():
        return BadRequest("the body is empty; send a JSON document")
    if body.startswith(codecs.BOM_UTF8):
        return BadRequest("the body starts with a byte order mark; send it without")
    return BadRequest(f"the body {_fault(body, error)}")


def _fault(body: bytes, error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "is not JSON: it is not encoded in UTF-8"
    if isinstance(error, RecursionError):
        return f"is nested deeper than {DEPTH_LIMIT} levels"
    if isinstance(error, msgspec.ValidationError):
        return f"holds a number that cannot be kept: {error}"
    surrogate = _LONE_SURROGATE.search(body)
    if surrogate is not None:
        return f"holds half a character, a lone surrogate (byte {surrogate.end() - 6})"
    return f"is not JSON: {error}"
