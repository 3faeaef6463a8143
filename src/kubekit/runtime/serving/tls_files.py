"""The certificate of a server in files, loaded again when they change.

A mounted Secret changes as a whole: the files are links into a folder, which is replaced at once. Files
that are written one after the other may not belong together for a moment. Either way the last good
certificate serves until the next one is complete.
"""

import asyncio
import logging
import math
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kubekit.runtime.serving.tls import (
    CERTIFICATE,
    KEY,
    LoadedCertificate,
    PemFiles,
    TlsRefused,
    load_certificate,
)

_CHECK_INTERVAL: Final = 1.0  # seconds

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TlsPaths:
    """The files of a server. With an authority of clients each client needs a certificate of it."""

    certificate: Path
    key: Path
    client_authority: Path | None = None

    @classmethod
    def within(
        cls,
        directory: Path,
        certificate: str = CERTIFICATE,
        key: str = KEY,
        client_authority: str = "",
    ) -> "TlsPaths":
        """The files of these names in a folder."""
        authority = directory / client_authority if client_authority else None
        return cls(directory / certificate, directory / key, authority)

    def read(self) -> PemFiles:
        authority = None if self.client_authority is None else self.client_authority.read_bytes()
        return PemFiles(self.certificate.read_bytes(), self.key.read_bytes(), authority)

    def stamp(self) -> tuple[tuple[int, ...], ...]:
        """A value that changes when a file does."""
        files = (self.certificate, self.key, self.client_authority)
        return tuple(_stamp(file) for file in files if file is not None)


class TlsFiles:
    """The certificate in the files. It raises `TlsRefused` if it cannot serve at the start.

    The files are compared when a connection or a health check needs them, at most once in the interval.
    """

    def __init__(self, paths: TlsPaths, check_interval: float = _CHECK_INTERVAL) -> None:
        self._paths = paths
        self._check_interval = check_interval
        self._source = str(paths.certificate)
        self._stamp = paths.stamp()
        self._loaded = self._load()
        self._next_check = -math.inf
        self._problem = ""

    def context(self) -> ssl.SSLContext:
        return self.certificate.context

    @property
    def certificate(self) -> LoadedCertificate:
        now = asyncio.get_running_loop().time()
        if now >= self._next_check:
            self._next_check = now + self._check_interval
            self._refresh()
        return self._loaded

    def _refresh(self) -> None:
        """Load the files if they changed. A failure is tried again, as it may be half of a change."""
        stamp = self._paths.stamp()
        if stamp == self._stamp:
            return
        try:
            self._loaded = self._load()
        except TlsRefused as problem:
            self._report(str(problem))
            return
        self._stamp = stamp
        self._problem = ""
        _log.info(
            "loaded a new certificate",
            extra={"source": self._source, "until": str(self._loaded.not_after)},
        )

    def _load(self) -> LoadedCertificate:
        try:
            return load_certificate(self._paths.read(), self._source)
        except OSError as problem:
            message = f"{problem.filename}: cannot be read: {problem.strerror}"
            raise TlsRefused(message) from problem

    def _report(self, problem: str) -> None:
        if problem != self._problem:
            _log.warning("keeping the last certificate", extra={"why": problem})
        self._problem = problem


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
