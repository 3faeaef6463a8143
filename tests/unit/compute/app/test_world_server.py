"""A world out of a folder, served in this very process."""

import asyncio
import gc
import logging
import os
import signal

import pytest
import yaml

from compute.app.plane_server import resealing_on_signal
from compute.app.planes import CORE, HUB, folder
from compute.app.sites import sites
from compute.app.world_server import hosted
from kubekit.plane.store.keys import KeyFile


@pytest.fixture(autouse=True)
def memory():
    """The garbage collector of the tests stays as it is."""
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def test_a_world_that_stops_does_not_change_the_kubeconfig(tmp_path):
    """Its planes close one by one, but the file keeps them, and the choice of its user."""

    async def story() -> bytes:
        async with hosted(tmp_path, sites(["DFW"]), ("127.0.0.1", 0)) as world:
            file = world.kubeconfig.file
            chosen = yaml.safe_load(file.read_text()) | {"current-context": "cell-dfw"}
            file.write_text(yaml.safe_dump(chosen))
            return file.read_bytes()

    assert asyncio.run(story()) == (tmp_path / "kubeconfig").read_bytes()


class Resealed(logging.Handler):
    """Counts the planes that report that they have sealed everything again."""

    def __init__(self) -> None:
        super().__init__()
        self._loop, self._reports = asyncio.get_running_loop(), asyncio.Semaphore(0)

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == "everything is sealed with the newest key":
            self._loop.call_soon_threadsafe(self._reports.release)

    async def times(self, number: int) -> None:
        async with asyncio.timeout(30):
            for _ in range(number):
                await self._reports.acquire()


def test_a_world_reloads_the_keys_of_all_its_planes(tmp_path, caplog):
    """The signal that `compute plane-keys rotate` names does so, and does not end the process."""
    caplog.set_level(logging.INFO)

    async def story() -> None:
        resealed = Resealed()
        logging.getLogger().addHandler(resealed)
        async with (
            hosted(tmp_path, sites(["DFW"]), ("127.0.0.1", 0)) as world,
            resealing_on_signal(world.planes),
        ):
            for ref in (CORE, HUB):
                KeyFile(folder(tmp_path, ref) / "secrets.key").rotate()
            os.kill(os.getpid(), signal.SIGUSR1)
            await resealed.times(2)
        logging.getLogger().removeHandler(resealed)

    asyncio.run(story())
