"""Kinds from a folder of CustomResourceDefinitions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from compute.client import documents
from compute.plane.registry import crds
from compute.plane.registry.kinds import Kind

_ENDINGS: Final = frozenset({".yaml", ".yml", ".json"})
_DEFINITION: Final = "CustomResourceDefinition"


class BadFile(Exception):
    """A file that cannot be used. Names it, and the field."""


def read(folder: Path) -> list[Kind]:
    """The kinds of every definition in a folder. Documents of other kinds do not matter."""
    files = [file for file in _listed(folder) if file.suffix in _ENDINGS]
    kinds = [kind for file in files for kind in _kinds(file)]
    if not kinds:
        raise BadFile(f"{folder}: there is no {_DEFINITION} in it, in no .yaml, .yml or .json file")
    return kinds


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise BadFile(f"{folder}: cannot be read: {error.strerror}") from error


def _kinds(file: Path) -> Iterator[Kind]:
    for definition in _definitions(file):
        try:
            yield from crds.kinds_of(definition)
        except crds.BadDefinition as error:
            raise BadFile(f"{file}: {error}") from error


def _definitions(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with file.open("rb") as opened:
            found = documents.read(opened.read(documents.SIZE_LIMIT + 1))
    except OSError as error:
        raise BadFile(f"{file}: cannot be read: {error.strerror}") from error
    except documents.Unreadable as error:
        raise BadFile(f"{file}{error.place}: {error.problem}") from error
    yield from (d for d in found if isinstance(d, dict) and d.get("kind") == _DEFINITION)
