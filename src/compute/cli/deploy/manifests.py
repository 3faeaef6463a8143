"""Reading manifests: YAML or JSON, one document or several, from files or from stdin."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compute.cli.exits import Failure
from kubekit.client import documents
from kubekit.client.documents import DEPTH_LIMIT, DIGIT_LIMIT, SIZE_LIMIT

__all__ = ["DEPTH_LIMIT", "DIGIT_LIMIT", "SIZE_LIMIT", "Manifest", "read"]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One document, and the file that it is from."""

    source: str
    document: dict[str, object]


def read(path: str) -> list[Manifest]:
    """Every document of a file, or of stdin when the path is ``-``."""
    source, text = _text(path)
    try:
        values = documents.read(text)
    except documents.UnreadableDocument as error:
        raise Failure(f"{source}{error.location}: {error.problem}") from error
    result = [m for i, value in enumerate(values, 1) for m in _manifests(source, i, value)]
    if not result:
        raise Failure(f"{source}: there is no document in it")
    return result


def _text(path: str) -> tuple[str, bytes]:
    """The name of the text, and at most one byte more of it than is allowed."""
    source = "stdin" if path == "-" else path or "''"
    try:
        if path == "-":
            return source, sys.stdin.buffer.read(SIZE_LIMIT + 1)
        with Path(path).open("rb") as file:
            return source, file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise Failure(f"{source}: cannot be read: {error.strerror}") from error


def _manifests(source: str, position: int, document: object) -> Iterator[Manifest]:
    """The document itself, or the items of a List; nothing for an empty document."""
    match document:
        case None:
            return
        case {"kind": "List", "items": [*items]}:
            for item in items:
                yield from _manifests(source, position, item)
        case dict():
            yield Manifest(source, document)
        case _:
            raise Failure(f"{source}, document {position}: not an object with apiVersion and kind")
