"""The head of a response. Constant parts are cached."""

from collections.abc import Collection
from functools import lru_cache
from http import HTTPStatus
from typing import Final

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
UNCACHED: Final = b"cache-control: no-cache, private\r\n"


@lru_cache(maxsize=512)
def opening(status: int, content_type: str) -> bytes:
    """The status line and the content type."""
    return f"HTTP/1.1 {status} {_phrase(status)}\r\ncontent-type: {content_type}\r\n".encode()


def lines(headers: Collection[tuple[str, str]]) -> bytes:
    """More headers. A character that would end the line is replaced by a question mark."""
    shown = [f"{name}: {''.join(map(_shown, value))}\r\n".encode() for name, value in headers]
    if not any(name == "cache-control" for name, _ in headers):
        shown.append(UNCACHED)
    return b"".join(shown)


def _shown(character: str) -> str:
    return character if character.isprintable() else "?"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
