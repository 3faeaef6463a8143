"""The revisions of a Workload that is followed. They are read when they may have changed."""

from contextlib import suppress
from typing import Final

from compute.api.compute import Workload
from compute.views.reading import ProjectReader
from kubekit.api.errors import InternalError, Timeout, TooManyRequests, Unavailable
from kubekit.api.kinds.core import ConfigMap

_PASSING: Final = (Unavailable, Timeout, TooManyRequests, InternalError)


class LiveHistory:
    """The history of one Workload; None while it has none, or the user may not read it."""

    def __init__(self, reader: ProjectReader) -> None:
        self._reader = reader
        self._version: tuple[int, int] | None = None
        self._history: ConfigMap | None = None

    async def of(self, workload: Workload) -> ConfigMap | None:
        """The history as of this version: a revision is recorded before the platform observed it."""
        version = workload.metadata.generation, workload.status.observed_generation
        if version != self._version:
            with suppress(*_PASSING):  # what was read before holds until the server answers
                self._history = await self._reader.known_history(workload.metadata.name)
                self._version = version
        return self._history
