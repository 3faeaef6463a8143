"""The ways between the planes of a world, which can be cut to see how the system copes."""

import asyncio
import logging
from typing import Final

from kubekit.api.errors import Unreachable
from kubekit.client.client import Client
from kubekit.plane import LocalClient, Plane, Watch

_log: Final = logging.getLogger(__name__)


class Link:
    """The way to one plane, and for a cell also the way out of it. All of it is cut at once.

    A watch that is open when the link is cut ends there, and none can be opened until it is healed.
    Both are logged once; what fails meanwhile is counted.
    """

    def __init__(self, end: str) -> None:
        self.end = end
        self.is_cut = False
        self._watches: list[Watch] = []
        self._since = 0.0
        self._refused = 0  # requests since it was cut

    def cut(self) -> None:
        if not self.is_cut:
            self._since, self._refused = asyncio.get_running_loop().time(), 0
            _log.warning(f"{self.end} is cut off")
        self.is_cut = True
        watches, self._watches = self._watches, []
        for watch in watches:
            watch.end()

    def heal(self) -> None:
        if self.is_cut:
            seconds = round(asyncio.get_running_loop().time() - self._since, 3)
            about = {"seconds": seconds, "refused": self._refused}
            _log.warning(f"{self.end} is back", extra=about)
        self.is_cut = False

    def check(self) -> None:
        if self.is_cut:
            self._refused += 1
            raise Unreachable(f"{self.end} is cut off")

    def keep(self, watch: Watch) -> None:
        """End this watch when the link is cut."""
        self._watches = [other for other in self._watches if not other.ended]
        self._watches.append(watch)


def linked_client(plane: Plane, manager: str, *links: Link) -> Client:
    """A client of a plane that is behind all of these links."""
    return LocalClient(plane, manager=manager, gates=links)
