"""An event recorder that runs beside a plane, on a virtual clock."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from tempfile import TemporaryDirectory

from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.events import Event
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.scope import Scope
from tests.sim.network import Link, Wires
from tests.sim.trace import Trace
from tests.support.kubekit import plane_worlds, virtual_time

CONTROLLER = "compute.datumapis.com/workload"


class RecorderWorld:
    """A plane and a running event recorder."""

    def __init__(self, plane: Plane, recorder: EventRecorder, link: Link) -> None:
        self.plane = plane
        self.recorder = recorder
        self.client = LocalClient(plane)
        self.link = link  # a bad way to the same plane
        self.far = Client(link)

    def say(
        self,
        regarding: Object,
        note: str = "it is so",
        client: Client | None = None,
        reason: str = "Failed",
    ) -> None:
        self.recorder.event(client or self.client, regarding, "Warning", reason, note, "Create")

    async def config(self, name: str = "one") -> ConfigMap:
        metadata = ObjectMeta(name=name, namespace="default")
        return await self.client.create(ConfigMap(metadata=metadata))

    async def reported(self, namespace: str = "default") -> tuple[Event, ...]:
        """All reported events, once no event waits to be written."""
        await asyncio.sleep(1)
        return (await self.client.list(Event, namespace)).items

    async def only(self) -> Event:
        (event,) = await self.reported()
        return event


Story = Callable[[RecorderWorld], Awaitable[None]]


def run_story(story: Story) -> None:
    """Run a story beside a recorder."""
    virtual_time.run(_run_story(story))


def config(name: str, uid: str = "") -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default", uid=uid or f"uid-{name}"))


async def _run_story(story: Story) -> None:
    with TemporaryDirectory() as directory:
        async with plane_worlds.opened(directory) as world:
            recorder = EventRecorder(CONTROLLER, "host_1", plane_worlds.environment(7))
            wires = Wires(Trace())
            scope = Scope("test")
            scope.spawn(recorder.run(), "recorder")
            link = Link("far", world.plane, wires, Random(1))
            try:
                await story(RecorderWorld(world.plane, recorder, link))
            finally:
                await scope.close()
                await wires.close()
