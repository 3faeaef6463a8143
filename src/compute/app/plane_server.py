"""Serves one plane from a folder: `compute plane serve` without its output."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from compute.api import cluster_roles
from compute.app.kubeconfig import kubeconfig
from compute.app.process import tune_interpreter
from compute.app.system_environment import system
from kubekit.api.structural.nodes import Document
from kubekit.plane import Kinds, Plane, PlaneError, PlaneServer, write_private

_log: Final = logging.getLogger(__name__)
_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class ServedPlane:
    """A plane that is being served."""

    plane: Plane
    server: PlaneServer

    @property
    def objects(self) -> int:
        """How many objects there are."""
        return sum(len(self.plane.store.collection(s)) for s in self.plane.kinds.stored())


@asynccontextmanager
async def serving(
    data: Path, kinds: Kinds, address: tuple[str, int], definitions: Sequence[Document] = ()
) -> AsyncIterator[ServedPlane]:
    """Serve a plane from a folder, and write the files that clients need.

    The plane is opened first: a second process on the same folder changes nothing in it.
    """
    environment = system()
    plane = await Plane.open(
        data, kinds, environment, definitions=definitions, access=cluster_roles.ALL
    )
    server: PlaneServer | None = None
    try:
        server = PlaneServer(data, address, environment)
        server.mount("/", plane)
        async with server.listening():
            content = kubeconfig(server.url, server.authority, server.token)
            write_private(data / "kubeconfig", content)
            tune_interpreter()
            yield ServedPlane(plane, server)
    finally:
        await plane.close()
        if server is not None:  # last: the audit log has a line for every write
            await server.close()


async def stop_signal() -> signal.Signals:
    """Wait for Ctrl-C or SIGTERM. A second one ends the process at once."""
    loop = asyncio.get_running_loop()
    received: asyncio.Future[signal.Signals] = loop.create_future()
    for number in _STOPPING:
        loop.add_signal_handler(number, _receive, received, number)
    try:
        return await received
    finally:
        for number in _STOPPING:
            loop.remove_signal_handler(number)


@asynccontextmanager
async def resealing_on_signal(planes: Callable[[], Iterable[Plane]]) -> AsyncIterator[None]:
    """Reload the keys at each SIGUSR1. If that fails, nothing changes."""
    loop, requested = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, requested.set)
    task = loop.create_task(_reseal(planes, requested))
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)
        task.cancel()


async def _reseal(planes: Callable[[], Iterable[Plane]], requested: asyncio.Event) -> None:
    while await requested.wait():
        requested.clear()
        for plane in tuple(planes()):
            try:
                await plane.reseal()
            except PlaneError as refusal:
                _log.warning("not sealed with another key", extra={"why": str(refusal)})


def _receive(received: "asyncio.Future[signal.Signals]", number: signal.Signals) -> None:
    if not received.done():
        received.set_result(number)
