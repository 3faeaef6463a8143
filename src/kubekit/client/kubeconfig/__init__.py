"""Connections from kubeconfig files, by kubectl's rules.

Where kubectl guesses, as with a missing server or a server without a scheme, the error says what to
write. Each error is `Misconfigured` and names the file and the field.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from kubekit.api.excerpt import excerpt
from kubekit.client.connection import Connection, ConnectionOrigin, Misconfigured
from kubekit.client.kubeconfig import config_files
from kubekit.client.kubeconfig.config_files import EntryLocation, LocatedEntry, MergedConfig
from kubekit.client.kubeconfig.entries import UserEntry
from kubekit.client.kubeconfig.servers import server_of
from kubekit.client.kubeconfig.users import credentials_of, impersonation_of
from kubekit.environment import ExecutionEnvironment

_NAMES_SHOWN: Final = 10
_NAMES_COMPARED: Final = 1000
_LETTERS_COMPARED: Final = 60

T = TypeVar("T")


class Loaded(msgspec.Struct, frozen=True):
    """The valid connections, and the errors of the others."""

    connections: tuple[Connection, ...] = ()
    problems: tuple[Misconfigured, ...] = ()


def load(
    environment: ExecutionEnvironment,
    paths: Sequence[Path] = (),
    context: str = "",
    variables: Mapping[str, str] = os.environ,
) -> Connection:
    """The connection of a context, or of the current one.

    Without paths these are the files of ``KUBECONFIG``, or the one in the home directory.
    """
    merged = config_files.read(paths, variables)
    return _connection(merged, _context_name(merged, context), environment, variables)


def contexts(paths: Sequence[Path] = (), variables: Mapping[str, str] = os.environ) -> list[str]:
    """The names of all contexts, the current one first."""
    merged = config_files.read(paths, variables)
    return sorted(merged.contexts, key=lambda name: (name != merged.current, name))


def load_all(
    environment: ExecutionEnvironment, path: Path, variables: Mapping[str, str] = os.environ
) -> Loaded:
    """The connections of every context in a file, or in each file of a folder by itself.

    An invalid one does not affect the others. Hidden files are ignored.
    """
    connections: list[Connection] = []
    problems: list[Misconfigured] = []
    try:
        files = files_of(path)
    except Misconfigured as error:
        return Loaded(problems=(error,))
    for file in files:
        try:
            merged = config_files.read_file(file)
        except Misconfigured as error:
            problems.append(error)
            continue
        for name in merged.contexts:
            try:
                connections.append(_connection(merged, name, environment, variables))
            except Misconfigured as error:
                problems.append(error)
    return Loaded(tuple(connections), tuple(problems))


def files_of(path: Path) -> list[Path]:
    """The file itself, or the files of a folder except hidden ones."""
    try:
        if not path.is_dir():
            return [path]
        return sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
    except OSError as error:
        raise Misconfigured(f"{path}: cannot be read: {error.strerror}") from error


def _context_name(merged: MergedConfig, context: str) -> str:
    """The name of the context to use, which exists."""
    name = context or merged.current
    location = EntryLocation(merged.files[0], "")
    if not merged.contexts:
        raise location.wrong("contexts", "there is none; add one, or use another file")
    if not name:
        known = _nearest("", merged.contexts)
        raise location.wrong("current-context", f"not set; choose one of {known}")
    if name not in merged.contexts:
        field = "contexts" if context else "current-context"
        known = _nearest(name, merged.contexts)
        raise location.wrong(field, f"there is no context {excerpt(name)}; choose one of {known}")
    return name


def _connection(
    merged: MergedConfig, name: str, environment: ExecutionEnvironment, variables: Mapping[str, str]
) -> Connection:
    context, location = merged.contexts[name].value, merged.contexts[name].location
    cluster = _entry(merged.clusters, context.cluster, "cluster", location)
    user = (
        _entry(merged.users, context.user, "user", location)
        if context.user
        else LocatedEntry(UserEntry(), location)
    )
    server = server_of(cluster, variables)
    return Connection(
        server=server.url,
        authority=server.authority,
        server_name=cluster.value.tls_server_name,
        insecure=cluster.value.insecure_skip_tls_verify,
        proxy=server.proxy,
        compression=not cluster.value.disable_compression,
        credentials=credentials_of(user, server, environment, variables),
        namespace=context.namespace,
        impersonation=impersonation_of(user),
        origin=ConnectionOrigin(str(location.file), name),
    )


def _entry(
    entries: Mapping[str, LocatedEntry[T]], name: str, field: str, location: EntryLocation
) -> LocatedEntry[T]:
    entry = entries.get(name)
    if entry is None:
        known = f", or choose one of {_nearest(name, entries)}" if entries else ""
        problem = f"there is no {field} {excerpt(name)}; add it to {field}s{known}"
        raise location.wrong(field, problem if name else f"missing; name a {field}")
    return entry


def _nearest(name: str, known: Iterable[str]) -> str:
    """The known names, the most similar first."""
    names = list(known)
    compared = names[:_NAMES_COMPARED]
    compared.sort(key=lambda each: -_similarity(name, each))
    shown = ", ".join(excerpt(each) for each in compared[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _similarity(name: str, other: str) -> float:
    letters = name[:_LETTERS_COMPARED].casefold(), other[:_LETTERS_COMPARED].casefold()
    return SequenceMatcher(None, *letters).ratio()
