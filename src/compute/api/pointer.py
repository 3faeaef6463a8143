"""JSON pointers (RFC 6901): the path to one place in a document, as JSON patches write it."""

from collections.abc import Sequence
from typing import Final

from compute.api import digits
from compute.api.excerpt import excerpt

PAST_THE_END: Final = "-"


class PointerSyntaxError(ValueError):
    """The text is not a JSON pointer."""


class PointerError(LookupError):
    """The document has nothing at that place."""


def parse(text: str) -> tuple[str, ...]:
    """The tokens of a pointer. The empty pointer has none and means the whole document."""
    if not text:
        return ()
    if not text.startswith("/"):
        raise PointerSyntaxError(f"pointer {excerpt(text)} must be empty or start with '/'")
    return tuple(_unescaped(text, token) for token in text[1:].split("/"))


def format_pointer(tokens: Sequence[str]) -> str:
    """The pointer with these tokens: the inverse of `parse`."""
    return "".join(f"/{token.replace('~', '~0').replace('/', '~1')}" for token in tokens)


def resolve(document: object, tokens: Sequence[str]) -> object:
    """What the document has at that place. The error names the first token that leads nowhere."""
    found = document
    for depth, token in enumerate(tokens):
        try:
            found = _child(found, token)
        except PointerError as error:
            place = excerpt(format_pointer(tokens[: depth + 1]))
            raise PointerError(f"nothing at {place}: {error}") from None
    return found


def array_index(token: str, length: int) -> int:
    """The place that a token names in an array of this length; ``-`` names the one past the end.

    The place past the end holds nothing, but something can be added there.
    """
    if token == PAST_THE_END:
        return length
    if not digits.only(token) or (token.startswith("0") and len(token) > 1):
        raise PointerError(f"{excerpt(token)} is not an array index")
    if len(token) > len(str(length)) or int(token) > length:
        raise PointerError(f"the array has only {length} elements")
    return int(token)


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
    index = array_index(token, len(parent))
    if index == len(parent):
        raise PointerError(f"the array has only {len(parent)} elements")
    return parent[index]
