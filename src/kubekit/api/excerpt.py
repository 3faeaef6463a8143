"""Quoting foreign text in messages."""

from typing import Final

_LONGEST: Final = 80


def excerpt(text: object, longest: int = _LONGEST) -> str:
    """The text in quotes, as an error message shows it: escaped, and cut when it is long.

    A refused text may be a megabyte long, and the message about it goes into logs, conditions and HTTP
    responses.
    """
    shown = str(text)
    return repr(shown) if len(shown) <= longest else f"{shown[:longest]!r}..."
