"""The errors of the store. Each message says what happened, where, and what to do."""

from kubekit.plane.errors import PlaneError


class RevisionConflict(Exception):
    """Another change of that object came first: read it again and retry."""


class WritesStopped(PlaneError):
    """Nothing can be written now, or, when ``final``, until the store is opened again."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final

    def copy(self) -> "WritesStopped":
        """A copy for another writer: a shared exception would collect the tracebacks of all."""
        return WritesStopped(str(self), final=self.final)


class Compacted(Exception):
    """The changes after that revision are compacted or no longer in memory."""


class FutureRevision(Exception):
    """A revision that does not exist yet."""


class Busy(PlaneError):
    """Another process uses the file."""


class UnreadableStore(PlaneError):
    """The file is damaged, is not a store, or was written by a newer version."""


class KeysRefused(PlaneError):
    """The keys that seal secrets are missing, wrong, or readable by other users."""
