"""Typical mistakes in controllers, planted on purpose: the simulation must find each of them."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from msgspec.structs import replace

from kubekit.api.errors import NotFound
from kubekit.client.client import Client
from kubekit.client.options import PLAIN_DELETE, PLAIN_WATCH, WatchOptions
from kubekit.client.reading import K, TypedEvent
from kubekit.client.transport import ResourceLocation
from kubekit.runtime.manager import Runnables
from kubekit.runtime.queueing.outcomes import PassOutcome
from kubekit.runtime.reconciling.commit import remove_finalizer
from kubekit.runtime.reconciling.freshness import Freshness
from kubekit.runtime.requests import Request
from kubekit.runtime.sources import Source, own
from tests.sim.controllers import FINALIZER, Counter, Family, Mirrors, Plan
from tests.sim.kinds import NAMESPACE, Child, Mirror, Parent, ParentStatus
from tests.sim.network import Link
from tests.sim.process import LinkClient, Team


class DeletesByName(Family):
    """Deletes by name without a uid, so perhaps a newer object of that name."""

    async def delete(self, client: Client, child: Child) -> None:
        place = ResourceLocation(Child.RESOURCE, child.metadata.namespace, child.metadata.name)
        with suppress(NotFound):
            await client.raw.delete(place, PLAIN_DELETE)


class GeneratesNames(Family):
    """Uses generateName for children, and relies on its cache to find them again."""

    def planned(self, parent: Parent | None, children: Any) -> Plan:
        wanted = {child.spec.number: child for child in self.wanted(parent).values()}
        kept: dict[int, Child] = {}
        for child in children:
            mine = parent is not None and child.spec.parent_uid == parent.metadata.uid
            if mine and child.spec.number in wanted and child.spec.number not in kept:
                kept[child.spec.number] = child
        return Plan(
            tuple(_unnamed(child) for number, child in wanted.items() if number not in kept),
            tuple(
                (child, replace(child, spec=wanted[number].spec)) for number, child in kept.items()
            ),
            tuple(child for child in children if child not in kept.values()),
        )


def _unnamed(child: Child) -> Child:
    named = replace(child.metadata, name="", generate_name=f"{child.metadata.name}-")
    return replace(child, metadata=named)


class TrustsItsCache(Family):
    """Creates and deletes by the last event, without a read."""

    async def parent(
        self, client: Client, request: Request, cached: Parent | None
    ) -> Parent | None:
        return cached


class ForgetsChildren(Family):
    """Does not watch children, so changes to them are never repaired."""

    def sources(self) -> list[Source[Any]]:
        return [own(Parent, self._projects)]


class ReleasesFirst(Mirrors):
    """Releases the parent first, and then deletes the mirror."""

    async def let_go(
        self, client: Client, hub: Client, parent: Parent, present: Mirror | None
    ) -> None:
        await remove_finalizer(client, parent, FINALIZER)
        if present is not None:
            await self.delete(hub, present)


class MirrorsUnheld(Mirrors):
    """Mirrors a parent before it adds the finalizer."""

    async def keep(
        self, client: Client, hub: Client, parent: Parent, fresh: Mirror, present: Mirror | None
    ) -> None:
        if present is None:
            await hub.create(fresh)
        await super().keep(
            client, hub, parent, fresh, await hub.find(Mirror, fresh.metadata.name, NAMESPACE)
        )


class MissesMirrors(Mirrors):
    """Does not watch the hub."""

    def sources(self) -> list[Source[Any]]:
        return [own(Parent, self._projects)]


class AlwaysWrites(Counter):
    """Writes a timestamp in each reconcile pass."""

    def status(self, parent: Parent, children: int) -> ParentStatus:
        return ParentStatus(children=children, looks=parent.status.looks + 1)


class DeafClient(LinkClient):
    """Does not hear that something was deleted."""

    @asynccontextmanager
    async def watch(
        self, kind: type[K], namespace: str = "", options: WatchOptions = PLAIN_WATCH
    ) -> AsyncIterator[AsyncIterator[TypedEvent[K]]]:
        async with super().watch(kind, namespace, options) as changes:
            yield (change async for change in changes if change.type != "DELETED")


class Deaf(Team):
    """Informers that ignore deletes."""

    def client(self, link: Link) -> Client:
        return DeafClient(link)


class Hasty(Team):
    """Controllers that do not wait for their own writes."""

    def wired(self, program: Runnables) -> None:
        for controller in program.leading:
            controller._context.freshness = Freshness(patience=-1.0)


class Discouraged(Team):
    """Controllers that do not retry after an error."""

    def wired(self, program: Runnables) -> None:
        for controller in program.leading:
            outcomes = controller._outcomes
            judged = outcomes.failed_with

            def failed_with(
                request: Request, error: BaseException, judged: Any = judged
            ) -> PassOutcome:
                outcome: PassOutcome = judged(request, error)
                return dataclasses.replace(outcome, requeue_after=None)

            outcomes.failed_with = failed_with  # type: ignore[method-assign] # the planted bug


def _team(**members: Any) -> Team:
    team = Team()
    for name, member in members.items():
        setattr(team, name, member)
    return team


MUTANTS: Final[dict[str, Team]] = {
    "deletes by name": _team(family=DeletesByName),
    "generates names": _team(family=GeneratesNames),
    "trusts its cache": _team(family=TrustsItsCache),
    "forgets children": _team(family=ForgetsChildren),
    "releases first": _team(mirrors=ReleasesFirst),
    "mirrors unheld": _team(mirrors=MirrorsUnheld),
    "misses mirrors": _team(mirrors=MissesMirrors),
    "always writes": _team(counter=AlwaysWrites),
    "ignores deletes": Deaf(),
    "does not wait for its own writes": Hasty(),
    "does not try again": Discouraged(),
}
