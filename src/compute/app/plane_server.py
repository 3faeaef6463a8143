"""One plane behind one listener, from a folder: the whole of `compute plane` but its words."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from compute.api import cluster_roles
from compute.app import interpreter
from compute.app.kubeconfig import kubeconfig
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
    """A plane from a folder, served, with the files that let clients in.

    The plane is opened first: whoever comes second on a folder has changed nothing in it.
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
            pass_ = kubeconfig(server.url, server.authority, server.token)
            write_private(data / "kubeconfig", pass_)
            interpreter.settle()
            yield ServedPlane(plane, server)
    finally:
        await plane.close()
        if server is not None:  # the last: it has a line for all that was stored
            await server.close()


async def stop_signal() -> signal.Signals:
    """Wait for Ctrl-C or SIGTERM. A second one ends the process at once."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[signal.Signals] = loop.create_future()
    for number in _STOPPING:
        loop.add_signal_handler(number, _tell, told, number)
    try:
        return await told
    finally:
        for number in _STOPPING:
            loop.remove_signal_handler(number)


@asynccontextmanager
async def resealing_on_signal(planes: Callable[[], Iterable[Plane]]) -> AsyncIterator[None]:
    """Take up new keys at each SIGUSR1. One that cannot be had changes nothing."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, told.set)
    task = loop.create_task(_reseal(planes, told))
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)
        task.cancel()


async def _reseal(planes: Callable[[], Iterable[Plane]], told: asyncio.Event) -> None:
    while await told.wait():
        told.clear()
        for plane in tuple(planes()):
            try:
                await plane.reseal()
            except PlaneError as refusal:
                _log.warning("not sealed with another key", extra={"why": str(refusal)})


def _tell(told: "asyncio.Future[signal.Signals]", number: signal.Signals) -> None:
    if not told.done():
        told.set_result(number)
