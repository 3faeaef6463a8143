"""Clusters from kubeconfig files: one for each context of each file.

The files are polled: a new file or context engages a cluster, and a removed one disengages it. The
clusters of a file that cannot be read stay engaged: the file may be half written, and a typing error
must not disengage a cluster.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kubekit.client.client import Client
from kubekit.client.connection import Connection, Misconfigured
from kubekit.client.kubeconfig import files_of, load_all
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import ClusterName, cluster_name

Connect = Callable[[Connection], Client]
Stamp = tuple[int, int, int]

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _File:
    """A file as last read: its clusters and its problems."""

    stamp: Stamp | None = None
    names: tuple[ClusterName, ...] = ()
    problems: tuple[str, ...] = ()


class KubeconfigClusters:
    """Keeps the engaged clusters in sync with files, or with the files of folders.

    The name of a context is the name of its cluster. The files are polled each ``every`` seconds.
    """

    def __init__(
        self,
        clusters: Clusters,
        paths: Iterable[Path],
        connect: Connect,
        environment: ExecutionEnvironment,
        every: float = 10.0,
    ) -> None:
        self._clusters = clusters
        self._paths = tuple(paths)
        self._connect = connect
        self._environment = environment
        self._every = every
        self._files: dict[Path, _File] = {}
        self._unreadable: list[str] = ["the kubeconfigs are not read yet"]

    async def run(self) -> None:
        while True:
            for file in self._files_to_check():
                stamp = _stamp(file)
                known = self._files.get(file, _File())
                if file not in self._files or known.stamp != stamp:
                    self._files[file] = await self._read(file, stamp, known.names)
            await asyncio.sleep(self._every)

    def problems(self) -> list[str]:
        """The problems of the files, by name."""
        problems = (problem for file in self._files.values() for problem in file.problems)
        return [*self._unreadable, *problems]

    def _files_to_check(self) -> Iterable[Path]:
        """The files that exist, and those that existed before."""
        files = dict.fromkeys(self._files)
        self._unreadable = []
        for path in self._paths:
            try:
                files |= dict.fromkeys(files_of(path))
            except Misconfigured as error:
                self._unreadable.append(str(error))
        return files

    async def _read(
        self, file: Path, stamp: Stamp | None, before: tuple[ClusterName, ...]
    ) -> _File:
        """Engage the contexts of a file, and disengage those that it no longer has."""
        connections, problems = self._loaded(file, stamp)
        names: list[ClusterName] = []
        for connection in connections:
            try:
                names.append(await self._engage(connection, file))
            except ValueError as error:  # it concerns one context: the others are engaged
                problems.append(f"{file}: the context {error}")
        missing = [name for name in before if name not in names]
        for name in () if problems and stamp else missing:
            await self._clusters.disengage(name)
        for problem in problems:
            _log.warning("kubeconfig not used", extra={"file": str(file), "problem": problem})
        still_engaged = missing if problems and stamp else []
        return _File(stamp, (*names, *still_engaged), tuple(problems))

    def _loaded(self, file: Path, stamp: Stamp | None) -> tuple[tuple[Connection, ...], list[str]]:
        if stamp is None:
            return (), [f"{file}: there is no such file"] if file in self._paths else []
        loaded = load_all(self._environment, file)
        return loaded.connections, [str(problem) for problem in loaded.problems]

    async def _engage(self, connection: Connection, file: Path) -> ClusterName:
        """Engage the cluster of a context."""
        name = cluster_name(connection.origin.context)
        if owner := self._owner(name, file):
            raise ValueError(f"{name} is in {owner} already")
        try:
            client = self._connect(connection)
        except (Misconfigured, OSError, ValueError) as error:
            raise ValueError(f"{name}: {error}") from error
        await self._clusters.engage(name, client)
        return name

    def _owner(self, name: ClusterName, file: Path) -> Path | None:
        """The other file that has a context of this name."""
        return next(
            (f for f, known in self._files.items() if f != file and name in known.names), None
        )


def _stamp(file: Path) -> Stamp | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
