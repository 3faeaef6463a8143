"""Why the store says no. Each message is for a person: what happened, where, what to do."""

from kubekit.plane.errors import PlaneError


class RevisionConflict(Exception):
    """Another change of that object came first: read it again and decide anew."""


class WritesStopped(PlaneError):
    """Nothing can be written now, or, when ``final``, until the store is opened again."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final

    def again(self) -> "WritesStopped":
        """The same for another writer: a shared exception would gather their tracebacks."""
        return WritesStopped(str(self), final=self.final)


class Compacted(Exception):
    """What happened after that revision is no longer known here."""


class FutureRevision(Exception):
    """A revision that has not happened yet."""


class Busy(PlaneError):
    """Another process has the file."""


class UnreadableStore(PlaneError):
    """The file is damaged, is no store, or was written by a newer version."""


class KeysRefused(PlaneError):
    """The keys that secrets are sealed with are missing, wrong, or not for their owner alone."""
