"""Reading manifests: YAML or JSON, one document or several, from files, folders or stdin."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from compute.cli.exits import Failure
from compute.cli.shell.commands import current_help
from kubekit.client import documents
from kubekit.client.documents import DEPTH_LIMIT, DIGIT_LIMIT, SIZE_LIMIT

_SUFFIXES: Final = (".yaml", ".yml", ".json")
STDIN: Final = "stdin"
_FIELDS: Final = "compute explain workload"  # what a manifest holds

__all__ = ["DEPTH_LIMIT", "DIGIT_LIMIT", "SIZE_LIMIT", "STDIN", "Manifest", "read"]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One document, and where it is from."""

    source: str  # the file
    document: dict[str, object]
    position: int = 1  # of the document in the file
    path: str = ""  # of the object in the document, where that is a List
    text: bytes = field(default=b"", repr=False, compare=False)  # of the whole file

    def location(self, path: str = "") -> str:
        """The file, and the line of a field."""
        from compute.cli.deploy.manifest_lines import line_of  # noqa: PLC0415 -- only for an error

        line = line_of(self.text, self.position, f"{self.path}.{path}") if self.text else 0
        return f"{self.source}, line {line}" if line else self.source


def read(path: str) -> list[Manifest]:
    """Every document of a file, of the files in a folder, or of stdin when the path is ``-``."""
    if path not in {"", "-"} and Path(path).is_dir():
        return [manifest for file in _files(Path(path)) for manifest in _read_one(str(file))]
    return _read_one(path)


def _files(folder: Path) -> list[Path]:
    """The manifests of a folder, in the order of their names. Folders in it are not read."""
    try:
        files = sorted(f for f in folder.iterdir() if f.suffix in _SUFFIXES and f.is_file())
    except OSError as error:
        raise _unreadable(str(folder), error) from error
    if not files:
        raise Failure(
            f"{folder}: there is no manifest in it, such as web.yaml", next_step=current_help()
        )
    return files


def _read_one(path: str) -> list[Manifest]:
    source, text = _text(path)
    try:
        values = documents.read(text)
    except documents.UnreadableDocument as error:
        raise Failure(f"{source}{error.location}: {error.problem}", next_step=_FIELDS) from error
    origins = (Manifest(source, {}, position, "", text) for position in range(1, len(values) + 1))
    result = [m for o, value in zip(origins, values, strict=True) for m in _manifests(o, value)]
    if not result:
        raise Failure(f"{source}: there is no document in it", next_step=_FIELDS)
    return result


def _text(path: str) -> tuple[str, bytes]:
    """The name of the text, and at most one byte more of it than is allowed."""
    source = STDIN if path == "-" else path or "''"
    try:
        if path == "-":
            return source, sys.stdin.buffer.read(SIZE_LIMIT + 1)
        with Path(path).open("rb") as file:
            return source, file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise _unreadable(source, error) from error


def _unreadable(source: str, error: OSError) -> Failure:
    return Failure(f"{source}: cannot be read: {error.strerror}", next_step=current_help())


def _manifests(origin: Manifest, document: object) -> Iterator[Manifest]:
    """The document itself, or the items of a List; nothing for an empty document."""
    match document:
        case None:
            return
        case {"kind": "List", "items": [*items]}:
            for position, item in enumerate(items):
                path = f"{origin.path}.items[{position}]".removeprefix(".")
                yield from _manifests(replace(origin, path=path), item)
        case dict():
            yield replace(origin, document=document)
        case _:
            where = f"{origin.source}, document {origin.position}"
            raise Failure(f"{where}: not an object with apiVersion and kind", next_step=_FIELDS)
