"""The files of one plane, for commands that work beside a running server."""

from pathlib import Path

from kubekit.plane.http.certificates.authority import Authority
from kubekit.plane.plane import DATABASE
from kubekit.plane.store.keys import KeyFile
from kubekit.plane.store.lock import holder
from kubekit.plane.store.log import KEYS


class PlaneDirectory:
    """The directory of a plane: its database, its encryption keys, its certificate authority."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = path / DATABASE

    def exists(self) -> bool:
        """Whether there is a plane in the directory."""
        return self._database.exists()

    def process(self) -> str:
        """The id of the process that runs the plane; empty if none does."""
        return holder(self._database)

    @property
    def keys(self) -> KeyFile:
        """The keys that encrypt the plane's secrets."""
        return KeyFile(self._path / KEYS)

    def authority(self) -> Authority:
        """The certificate authority. Raises `PlaneError` if there is none."""
        return Authority(self._path / "pki")
