"""A client whose watches can be silenced while its requests are answered."""

import asyncio
from collections.abc import Callable

from kubekit.api.errors import Unavailable
from kubekit.api.meta import Object
from kubekit.api.resource import Resource
from kubekit.client.options import ListOptions, PatchType, WatchOptions, WriteOptions
from kubekit.client.transport import ResourceLocation
from kubekit.plane.local import LocalTransport, RecordClient
from kubekit.plane.plane import Plane
from kubekit.plane.registry.verbs.results import Page
from kubekit.plane.registry.verbs.watches import Watch
from kubekit.plane.store.records import Record
from kubekit.plane.users import PLANE_USER


class SilenceableTransport(LocalTransport):
    """A transport whose watches end, and whose lists fail, for as long as it is deaf.

    It can be deaf to one kind only. Each patch is delayed by ``lag()`` seconds.
    """

    def __init__(self, plane: Plane, lag: Callable[[], float] | None = None) -> None:
        super().__init__(plane, PLANE_USER, "compute")
        self.deaf = False
        self._to: Resource | None = None  # None: to all kinds
        self._lag = lag
        self._open: list[tuple[Resource, Watch]] = []

    def stop(self, kind: type[Object] | None = None) -> None:
        self.deaf, self._to = True, kind.RESOURCE if kind else None
        for resource, watch in self._open:
            if self._hears_nothing_of(resource):
                watch.end()

    async def page(self, place: ResourceLocation, options: ListOptions) -> Page:
        if self._hears_nothing_of(place.resource):
            raise Unavailable("deaf")
        return await super().page(place, options)

    async def open_watch(self, place: ResourceLocation, options: WatchOptions) -> Watch:
        if self._hears_nothing_of(place.resource):
            raise Unavailable("deaf")
        watch = await super().open_watch(place, options)
        self._open.append((place.resource, watch))
        return watch

    def _hears_nothing_of(self, resource: Resource) -> bool:
        return self.deaf and self._to in (None, resource)

    async def patched(
        self, place: ResourceLocation, kind: PatchType, patch: object, options: WriteOptions
    ) -> Record:
        if self._lag is not None:
            await asyncio.sleep(self._lag())
        return await super().patched(place, kind, patch, options)


def listener(
    plane: Plane, lag: Callable[[], float] | None = None
) -> tuple[SilenceableTransport, RecordClient]:
    """A transport that can be made deaf, and a client on it."""
    ear = SilenceableTransport(plane, lag)
    return ear, RecordClient(ear)
