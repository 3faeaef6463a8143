"""JSON pointers (RFC 6901): the path to one value in a document, as JSON patches write it.

As in a Kubernetes server, an index may also count from the end of an array: ``-1`` is the last.
"""

from collections.abc import Sequence
from typing import Final

from kubekit.api import digits
from kubekit.api.excerpt import excerpt

PAST_THE_END: Final = "-"


class PointerSyntaxError(ValueError):
    """The text is not a JSON pointer."""


class PointerError(LookupError):
    """The document has no value at the pointer."""


def parse(text: str) -> tuple[str, ...]:
    """The tokens of a pointer. The empty pointer has none and means the whole document."""
    if not text:
        return ()
    if not text.startswith("/"):
        raise PointerSyntaxError(f"pointer {excerpt(text)} must be empty or start with '/'")
    tokens = text[1:].split("/")
    return tuple(_unescaped(text, token) for token in tokens) if "~" in text else tuple(tokens)


def format_pointer(tokens: Sequence[str]) -> str:
    """The pointer with these tokens: the inverse of `parse`."""
    return "".join(f"/{token.replace('~', '~0').replace('/', '~1')}" for token in tokens)


def resolve(document: object, tokens: Sequence[str]) -> object:
    """The value at the pointer. The error names the first token that does not resolve."""
    value = document
    for depth, token in enumerate(tokens):
        try:
            value = _child(value, token)
        except PointerError as error:
            pointer = excerpt(format_pointer(tokens[: depth + 1]))
            raise PointerError(f"nothing at {pointer}: {error}") from None
    return value


def element(token: str, length: int) -> int:
    """The index of the element that a token names in an array of this length."""
    if token == PAST_THE_END:
        raise PointerError(f"the array has only {length} elements")
    return _index(token, length, length)


def insertion_index(token: str, length: int) -> int:
    """The index at which a token inserts a new element; ``-`` and ``-1`` append it."""
    return length if token == PAST_THE_END else _index(token, length + 1, length)


def _index(token: str, size: int, length: int) -> int:
    count = token.removeprefix("-")
    if not digits.only(count) or (count.startswith("0") and len(count) > 1):
        raise PointerError(f"{excerpt(token)} is not an array index")
    number = int(count) if len(count) <= len(str(size)) else size + 1
    index = size - number if token.startswith("-") else number
    if not 0 <= index < size:
        raise PointerError(f"the array has only {length} elements")
    return index


def _unescaped(text: str, token: str) -> str:
    if token.count("~") != token.count("~0") + token.count("~1"):
        raise PointerSyntaxError(f"pointer {excerpt(text)}: '~' is written as '~0', '/' as '~1'")
    return token.replace("~1", "/").replace("~0", "~")  # this order: '~01' means '~1'


def _child(parent: object, token: str) -> object:
    if isinstance(parent, dict):
        if token not in parent:
            raise PointerError(f"the object has no {excerpt(token)}")
        return parent[token]
    if not isinstance(parent, list):
        raise PointerError("its parent is neither an object nor an array")
    return parent[element(token, len(parent))]
