"""Decodes percent-escapes strictly: refuses incomplete escapes and bytes that are not UTF-8."""

from typing import Final
from urllib.parse import unquote_to_bytes

from kubekit.api.errors import BadRequest

_HEX: Final = frozenset("0123456789abcdefABCDEF")


def unescape(text: str, what: str) -> str:
    """The decoded text. ``what`` names the text in an error."""
    if "%" not in text:
        return text
    for part in text.split("%")[1:]:
        if len(part) < 2 or part[0] not in _HEX or part[1] not in _HEX:  # noqa: PLR2004 - two hex digits
            raise BadRequest(f"{what} holds a % that is not followed by two hex digits")
    try:
        plain = unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise BadRequest(f"{what} is not UTF-8") from problem
    if "\0" in plain:
        raise BadRequest(f"{what} holds a NUL")
    return plain
