"""The CustomResourceDefinitions that a plane starts with: ours, and those of folders."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from kubekit.api.structural.nodes import Document
from kubekit.client import documents
from kubekit.plane import PlaneError, kinds_of

_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_DEFINITION: Final = "CustomResourceDefinition"


class BadFile(Exception):
    """A file that cannot be used. The message names it, and the field."""


def read(folder: Path) -> list[Document]:
    """Every definition in a folder. Documents of other kinds are ignored."""
    files = [file for file in _listed(folder) if file.suffix in _SUFFIXES]
    definitions = [document for file in files for document in _checked(file)]
    if not definitions:
        raise BadFile(f"{folder}: there is no {_DEFINITION} in any .yaml, .yml or .json file of it")
    return definitions


def merged(ours: Sequence[Document], added: Sequence[Document]) -> list[Document]:
    """Our definitions and the added ones. An added definition replaces ours of the same name.

    It must still serve the versions and the scope of ours.
    """
    by_name = {document["metadata"]["name"]: document for document in ours}
    for document in added:
        name = document["metadata"]["name"]
        if name in by_name and not _shapes(by_name[name]) <= _shapes(document):
            raise BadFile(
                f"--crds: {name} is served already, in another version or scope; leave it out"
            )
    return [*(by_name | {document["metadata"]["name"]: document for document in added}).values()]


def _shapes(document: Document) -> set[tuple[str, str]]:
    spec = document["spec"]
    return {
        (spec["scope"], version["name"]) for version in spec["versions"] if version.get("served")
    }


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise BadFile(f"{folder}: cannot be read: {error.strerror}") from error


def _checked(file: Path) -> Iterator[Document]:
    for definition in _definitions(file):
        try:
            kinds_of(definition)
        except PlaneError as error:
            raise BadFile(f"{file}: {error}") from error
        yield definition


def _definitions(file: Path) -> Iterator[Document]:
    try:
        with file.open("rb") as opened:
            values = documents.read(opened.read(documents.SIZE_LIMIT + 1))
    except OSError as error:
        raise BadFile(f"{file}: cannot be read: {error.strerror}") from error
    except documents.UnreadableDocument as error:
        raise BadFile(f"{file}{error.location}: {error.problem}") from error
    yield from (d for d in values if isinstance(d, dict) and d.get("kind") == _DEFINITION)
