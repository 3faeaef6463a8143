"""Kubeconfig files, read and merged as kubectl does it.

The first file with an entry of some name provides the whole entry, and likewise the
``current-context``. Unknown fields are ignored. A message quotes nothing from a file except the names of
its entries.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from kubekit.client.connection import Misconfigured
from kubekit.client.kubeconfig.entries import (
    ClusterEntry,
    ContextEntry,
    KubeconfigFile,
    NamedEntry,
    UserEntry,
)

SIZE_LIMIT: Final = 3 * 1024 * 1024  # bytes
_DEFAULT: Final = (".kube", "config")

T = TypeVar("T")


class EntryLocation(msgspec.Struct, frozen=True):
    """The location of an entry: for messages, and for paths relative to its file."""

    file: Path
    path: str

    def wrong(self, field: str, problem: str) -> Misconfigured:
        """The error about a field of the entry."""
        path = ".".join(filter(None, (self.path, field)))
        return Misconfigured(f"{self.file}: {path}: {problem}")

    def near(self, path: str) -> Path:
        """The path of a file that the entry names."""
        return self.file.parent / path


@dataclass(frozen=True, slots=True)
class LocatedEntry(Generic[T]):
    """An entry and its location."""

    value: T = field(repr=False)
    location: EntryLocation


class MergedConfig(msgspec.Struct, frozen=True):
    """All entries of some files, by name."""

    files: tuple[Path, ...] = ()
    current: str = ""
    clusters: Mapping[str, LocatedEntry[ClusterEntry]] = msgspec.field(default_factory=dict)
    users: Mapping[str, LocatedEntry[UserEntry]] = msgspec.field(default_factory=dict)
    contexts: Mapping[str, LocatedEntry[ContextEntry]] = msgspec.field(default_factory=dict)

    def over(self, other: "MergedConfig") -> "MergedConfig":
        """The union of both; this one takes precedence."""
        return MergedConfig(
            (*self.files, *other.files),
            self.current or other.current,
            {**other.clusters, **self.clusters},
            {**other.users, **self.users},
            {**other.contexts, **self.contexts},
        )


def read(paths: Sequence[Path], variables: Mapping[str, str]) -> MergedConfig:
    """The merged files; without paths those that kubectl would read.

    A file of ``paths`` must exist. Files of ``KUBECONFIG`` may be missing.
    """
    if paths:
        return _merged(map(read_file, paths))
    usual = usual_files(variables)
    existing = [path for path in usual if not _missing(path)]
    if not existing:
        names = ", ".join(map(str, usual))
        raise Misconfigured(f"no kubeconfig: {names} not found; set KUBECONFIG, or name a file")
    return _merged(map(read_file, existing))


def usual_files(variables: Mapping[str, str]) -> list[Path]:
    """The files that kubectl reads."""
    listed = variables.get("KUBECONFIG", "").split(os.pathsep)
    named = dict.fromkeys(name for name in listed if name)
    home = Path(variables.get("HOME", "/"))
    return [Path(name) for name in named] or [home.joinpath(*_DEFAULT)]


def read_file(path: Path) -> MergedConfig:
    """The entries of one file."""
    path = path.absolute()
    content = _decoded(path, _read(path))
    return MergedConfig(
        (path,),
        content.current_context,
        _named(path, "clusters", content.clusters, lambda entry: entry.cluster),
        _named(path, "users", content.users, lambda entry: entry.user),
        _named(path, "contexts", content.contexts, lambda entry: entry.context),
    )


N = TypeVar("N", bound=NamedEntry)


def _merged(parts: Iterable[MergedConfig]) -> MergedConfig:
    merged = MergedConfig()
    for part in parts:
        merged = merged.over(part)
    return merged


def _missing(path: Path) -> bool:
    """Whether there is no such file. A file without permission counts as existing."""
    try:
        path.stat()
    except (OSError, ValueError) as error:
        return isinstance(error, FileNotFoundError)
    return False


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "not a path"
        raise Misconfigured(f"{path}: cannot be read: {reason}") from error
    if len(data) > SIZE_LIMIT:
        raise Misconfigured(f"{path}: larger than {SIZE_LIMIT // 1024 // 1024} MiB")
    return data


def _decoded(path: Path, text: bytes) -> KubeconfigFile:
    value = _json(text)
    try:
        content = msgspec.convert(value or _yaml(path, text) or {}, KubeconfigFile)
    except msgspec.ValidationError as error:
        raise Misconfigured(f"{path}: {_field(str(error))}") from error
    kind = (content.api_version or "v1", content.kind or "Config")
    if kind != ("v1", "Config"):
        raise Misconfigured(f"{path}: kind: not a kubeconfig, which is v1 and Config")
    return content


def _json(text: bytes) -> object:
    """The value of a JSON text; None for any other, whose error the parser of YAML explains.

    Comments may come before it, as in the file of a world. Escapes are left to YAML, which reads some
    of them differently.
    """
    while text.startswith(b"#"):
        text = text.partition(b"\n")[2]
    if not text.startswith(b"{") or not text.isascii() or b"\\" in text:
        return None
    with suppress(ValueError, RecursionError):
        return _without_nulls(json.loads(text, object_pairs_hook=_without_duplicates))
    return None


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("a key is given twice")
    return unique


def _yaml(path: Path, text: bytes) -> object:
    """The value of the first document. YAML takes longer to import than all else here."""
    from kubekit.client import documents  # noqa: PLC0415 -- see above

    try:
        values = documents.read(text)
    except documents.UnreadableDocument as error:
        # Without the cause, which quotes the text.
        raise Misconfigured(f"{path}{error.location}: {error.problem}") from None
    return _without_nulls(values[0]) if values else None


def _without_nulls(value: object) -> object:
    """The value as Go reads it: null means absent. Extensions stay as they are."""
    match value:
        case dict():
            present = {k: v for k, v in value.items() if v is not None}
            return {k: v if k == "extension" else _without_nulls(v) for k, v in present.items()}
        case list():
            return [_without_nulls(v) for v in value]
        case _:
            return value


def _field(message: str) -> str:
    """The message with the path first and without the root, because the file is named before it."""
    problem, _, path = message.partition(" - at `$")
    return f"{path.rstrip('`').lstrip('.') or 'the file'}: {problem}"


def _named(
    path: Path, kind: str, entries: tuple[N, ...], value: Callable[[N], T]
) -> dict[str, LocatedEntry[T]]:
    """The entries by name. ``kind`` is the plural; the singular lacks its last letter."""
    by_name: dict[str, LocatedEntry[T]] = {}
    for entry in entries:
        location = EntryLocation(path, f"{kind}[{entry.name!r}].{kind[:-1]}")
        if entry.name in by_name:
            raise Misconfigured(
                f"{path}: {kind}[{entry.name!r}]: the name is given twice; remove one of them"
            )
        by_name[entry.name] = LocatedEntry(value(entry), location)
    return by_name
