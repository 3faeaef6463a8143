"""The ways between the planes of a world, which can be cut to see how the system copes."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from kubekit.api.errors import Unreachable
from kubekit.client.client import Client
from kubekit.client.options import DeleteOptions, ListOptions, PatchType, WatchOptions, WriteOptions
from kubekit.client.transport import Document, Place
from kubekit.plane.local import LocalTransport, RecordClient
from kubekit.plane.plane import Plane
from kubekit.plane.registry.verbs.results import Page
from kubekit.plane.registry.verbs.watches import Watch
from kubekit.plane.store.records import Record
from kubekit.plane.users import ITSELF

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
    return RecordClient(_Door(plane, manager, links))


class _Door(LocalTransport):
    """A door to a plane that is behind links."""

    def __init__(self, plane: Plane, manager: str, links: Sequence[Link]) -> None:
        super().__init__(plane, ITSELF, manager)
        self._links = links

    def _check(self) -> None:
        for link in self._links:
            link.check()

    def record(self, place: Place, resource_version: str = "") -> Record:
        self._check()
        return super().record(place, resource_version)

    async def page(self, place: Place, options: ListOptions) -> Page:
        self._check()
        return await super().page(place, options)

    async def open_watch(self, place: Place, options: WatchOptions) -> Watch:
        self._check()
        watch = await super().open_watch(place, options)
        for link in self._links:
            link.keep(watch)
        return watch

    async def create_encoded(self, place: Place, body: bytes, options: WriteOptions) -> Record:
        self._check()
        return await super().create_encoded(place, body, options)

    async def create(self, place: Place, document: Document, options: WriteOptions) -> Document:
        self._check()
        return await super().create(place, document, options)

    async def update(self, place: Place, document: Document, options: WriteOptions) -> Document:
        self._check()
        return await super().update(place, document, options)

    async def patched(
        self, place: Place, kind: PatchType, patch: object, options: WriteOptions
    ) -> Record:
        self._check()
        return await super().patched(place, kind, patch, options)

    async def delete(self, place: Place, options: DeleteOptions) -> Document:
        self._check()
        return await super().delete(place, options)

    async def delete_collection(
        self, place: Place, which: ListOptions, options: DeleteOptions
    ) -> Document:
        self._check()
        return await super().delete_collection(place, which, options)
