"""The values of string, bytes and number literals, and texts as literals."""

from typing import Final

_SIMPLE: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "?": "?",
}
_HEX_DIGITS: Final = {"x": 2, "X": 2, "u": 4, "U": 8}
_LAST_CODE_POINT: Final = 0x10FFFF
_MOST_DIGITS: Final = 100  # far more than fit
_SURROGATES: Final = range(0xD800, 0xE000)


class BadEscape(ValueError):
    """An escape without a meaning."""


def string_value(literal: str) -> str:
    """The text of a string literal, which includes the quotes and the prefix."""
    body, is_raw = _body(literal)
    if is_raw or "\\" not in body:
        return body
    return "".join(chr(code) for code, _ in _codes(body))


def bytes_value(literal: str) -> bytes:
    """The bytes of a bytes literal. Numeric escapes are bytes."""
    body, is_raw = _body(literal[1:])
    if is_raw or "\\" not in body:
        return body.encode()
    if any(body[at - 1 : at + 1] in ("\\u", "\\U") for at in _escape_letters(body)):
        raise BadEscape("unable to unescape string")
    return b"".join(
        bytes([code]) if is_numeric else chr(code).encode() for code, is_numeric in _codes(body)
    )


def whole_number(spelled: str) -> int:
    """The number of the digits, decimal or after ``0x`` hexadecimal."""
    sign, digits = (-1, spelled[1:]) if spelled.startswith("-") else (1, spelled)
    if digits.startswith("0x"):
        return sign * int(digits, 16)
    significant = digits.lstrip("0")[:_MOST_DIGITS]  # Python refuses to read very long numbers
    return sign * int(significant or "0")


def quoted(text: str) -> str:
    """A literal for the text."""
    return '"' + "".join(map(_escaped, text)) + '"'


def quoted_bytes(content: bytes) -> str:
    return 'b"' + "".join(f"\\x{byte:02x}" for byte in content) + '"'


def _body(literal: str) -> tuple[str, bool]:
    is_raw = literal[0] in "rR"
    text = literal[1:] if is_raw else literal
    width = 3 if len(text) >= 6 and text[:3] in ("'''", '"""') else 1  # noqa: PLR2004 - two marks
    body = text[width:-width]
    return body.replace("\r\n", "\n").replace("\r", "\n"), is_raw


def _escape_letters(body: str) -> list[int]:
    """The positions of the characters that follow an escaping backslash."""
    positions = []
    at = body.find("\\")
    while at >= 0:
        positions.append(at + 1)
        at = body.find("\\", at + 2)
    return positions


def _codes(body: str) -> list[tuple[int, bool]]:
    """The code of each character, and whether it was given as a number of one byte."""
    codes = []
    at = 0
    while at < len(body):
        if body[at] != "\\":
            codes.append((ord(body[at]), False))
            at += 1
            continue
        code, is_numeric, at = _escape(body, at + 1)
        codes.append((code, is_numeric))
    return codes


def _escape(body: str, at: int) -> tuple[int, bool, int]:
    """The code of the escape at its letter, whether it is numeric, and the position after it."""
    letter = body[at]
    if letter in _SIMPLE:
        return ord(_SIMPLE[letter]), False, at + 1
    width = _HEX_DIGITS.get(letter)
    if width is None:  # the lexer lets only three octal digits through
        return int(body[at : at + 3], 8), True, at + 3
    code = int(body[at + 1 : at + 1 + width], 16)
    if code > _LAST_CODE_POINT or code in _SURROGATES:
        raise BadEscape("invalid unicode code point")
    return code, letter in "xX", at + 1 + width


def _escaped(char: str) -> str:
    for letter, meaning in _SIMPLE.items():
        if char == meaning and char not in "'`?":
            return f"\\{letter}"
    return char if char.isprintable() else f"\\U{ord(char):08x}"
