"""Users of a simulated project: half of their writes come in bursts on the same object."""

import asyncio
from contextlib import suppress
from random import Random
from typing import Final

from msgspec.structs import replace

from kubekit.api.errors import AlreadyExists, ApiError, NotFound
from kubekit.api.meta import ObjectMeta
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from tests.sim.controllers import HUB
from tests.sim.kinds import NAMESPACE, Child, Mirror, Parent, ParentSpec
from tests.sim.trace import Trace
from tests.sim.witness import Witness

NAMES: Final = ("ann", "bob", "cid")
GAPS: Final = (0.005, 0.02, 0.1, 0.5, 5.0)  # seconds between the steps of a burst
PAUSES: Final = (0.5, 2.0, 8.0)  # seconds between bursts
_PATIENCE: Final = 40  # tries to make an object whose predecessor is not gone yet


class User:
    """A user that creates parents, changes them, and removes them, right beside the plane."""

    def __init__(self, name: str, plane: Plane, chance: Random, trace: Trace) -> None:
        self._name = f"user@{name}"
        self._client = LocalClient(plane, manager="user")
        self._chance = chance
        self._trace = trace
        self._said = 0

    async def work(self, until: float) -> None:
        """One burst after the other, until that time of the loop."""
        while asyncio.get_running_loop().time() < until:
            name = self._chance.choice(NAMES)
            for _ in range(self._chance.choice((1, 1, 2, 4, 8))):
                await self._step(name)
                await asyncio.sleep(self._chance.choice(GAPS))
            await asyncio.sleep(self._chance.choice(PAUSES))

    async def _step(self, name: str) -> None:
        present = await self._client.find(Parent, name, NAMESPACE)
        if present is None or present.deleting:
            await self._create(name)
        else:
            act = self._chance.choice((self._change, self._change, self._delete, self._replace))
            with suppress(ApiError):  # another client wrote it in between; this user gives way
                await act(present)

    async def _create(self, name: str) -> None:
        fresh = Parent(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=self._spec())
        for _ in range(_PATIENCE):
            try:
                made = await self._client.create(fresh)
            except AlreadyExists:
                await asyncio.sleep(0.25)
            else:
                self._say("creates", made, f"uid={made.metadata.uid[:8]}")
                return

    async def _change(self, present: Parent) -> None:
        changed = await self._client.patch(present, replace(present, spec=self._spec()))
        self._say("changes", changed)

    async def _delete(self, present: Parent) -> None:
        self._say("deletes", present)
        with suppress(NotFound):
            await self._client.delete(present)

    async def _replace(self, present: Parent) -> None:
        """Delete it, and create another of the same name as soon as possible."""
        await self._delete(present)
        await asyncio.sleep(self._chance.choice(GAPS))
        await self._create(present.metadata.name)

    def _spec(self) -> ParentSpec:
        self._said += 1
        return ParentSpec(content=f"v{self._said}", copies=self._chance.choice((0, 1, 2, 3)))

    def _say(self, what: str, parent: Parent, outcome: str = "") -> None:
        spec, meta = parent.spec, parent.metadata
        outcome_text = f"{spec.content} x{spec.copies} @{meta.resource_version} {outcome}"
        self._trace.say(self._name, what, f"parents {meta.namespace}/{meta.name}", outcome_text)


class Vandal:
    """An intruder that deletes or changes objects of the controllers, which have to repair it."""

    def __init__(self, name: str, plane: Plane, chance: Random, witness: Witness) -> None:
        self._name = f"vandal@{name}"
        self._kind: type[Child | Mirror] = Mirror if name == HUB else Child
        self._client = LocalClient(plane, manager="vandal")
        self._chance = chance
        self._witness = witness

    async def work(self, until: float) -> None:
        """Now and then, until that time of the loop."""
        while asyncio.get_running_loop().time() < until:
            await asyncio.sleep(self._chance.expovariate(1 / 15.0))
            there = (await self._client.list(self._kind, NAMESPACE)).items
            if there:
                with suppress(ApiError):  # it has gone, or changed, in between
                    await self._harm(self._chance.choice(there))

    async def _harm(self, victim: Child | Mirror) -> None:
        self._witness.harmed(self._name, victim)
        if self._chance.random() < 0.5:
            await self._client.delete(victim)
        else:
            spoilt = replace(victim.spec, content="spoilt")
            await self._client.patch(victim, replace(victim, spec=spoilt))
