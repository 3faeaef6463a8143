"""`compute up` in a process of its own, which can be killed and started again on its data."""

import asyncio
import os
import re
import signal
import ssl
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

import yaml

from compute.app.system_environment import system
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import contexts, load
from tests.support.kubekit.plane_process import READY, stream

PATIENCE: Final = 90.0  # seconds until it is ready, on a machine with other work
_WELL: Final = re.compile(r"time=\S+ level=(debug|info|warning) ")
# An object went while a pass was at work on it. The pass is made again, and finds nothing to do.
_EXPLAINED: Final = re.compile(r'msg=pass .* error="NotFound: ')


class WorldProcess:
    """A world that has one life after another. It keeps its folder, and gets a new port each time.

    What its lives tell on stderr is in one file, one after the other.
    """

    def __init__(self, data: Path, *options: str) -> None:
        self.data = data
        self.log = data.with_name(f"{data.name}.log")
        self.lives = 0
        self._options = options
        self._process: Process | None = None
        self._clients: dict[str, HttpClient] = {}

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def begin(self) -> None:
        """Start a process, without waiting for anything."""
        self.lives += 1
        line = [sys.executable, "-m", "compute", "up", f"--data={self.data}", "--port=0"]
        with self.log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *line, *self._options, stdin=DEVNULL, stdout=PIPE, stderr=output
            )

    async def ready(self) -> None:
        """Wait until the process is ready."""
        assert self._process is not None
        try:
            async with asyncio.timeout(PATIENCE):
                async for line in stream(self._process.stdout):
                    if line.decode() == READY:
                        return
        except TimeoutError:
            raise AssertionError(f"life {self.lives} is not ready: {self.output()}") from None
        raise AssertionError(f"life {self.lives} ended by itself: {self.output()}")

    async def start(self) -> None:
        await self.begin()
        await self.ready()

    async def kill(self) -> None:
        """Kill the process."""
        process, self._process = self._process, None
        assert process is not None
        assert process.returncode is None, f"life {self.lives} ended by itself: {self.output()}"
        os.kill(process.pid, signal.SIGKILL)
        await process.communicate()
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.close()

    def client(self, context: str) -> HttpClient:
        """A client of a plane, for the current process."""
        if context not in self._clients:
            environment = system()
            connection = load(environment, [self.data / "kubeconfig"], context)
            self._clients[context] = HttpClient(connection, environment)
        return self._clients[context]

    def contexts(self) -> list[str]:
        """The names of the kubeconfig contexts. Of projects, those of their users."""
        found = contexts([self.data / "kubeconfig"])
        return sorted(name for name in found if not name.startswith("admin-"))

    async def status(self) -> str:
        """What `compute up status` prints."""
        line = [sys.executable, "-m", "compute", "up", f"--data={self.data}", "status"]
        asked = await asyncio.create_subprocess_exec(*line, stdout=PIPE, stderr=STDOUT)
        printed, _ = await asked.communicate()
        assert asked.returncode == 0, printed
        return printed.decode()

    async def page(self, path: str) -> str:
        """The response at a path without objects, such as ``/metrics``."""
        return await asyncio.to_thread(self._page, path)

    def output(self) -> str:
        """The stderr of all processes so far."""
        return self.log.read_text()

    def strange(self) -> list[str]:
        """The unexpected errors in the output, and every line that is not a log line."""
        lines = self.output().splitlines()
        return [each for each in lines if not _WELL.match(each) and not _EXPLAINED.search(each)]

    async def end(self) -> None:
        """End the process, whatever happened."""
        if self._process is not None and self._process.returncode is None:
            await self.kill()

    def _page(self, path: str) -> str:
        token = (self.data / "token").read_text().strip()
        config = yaml.safe_load((self.data / "kubeconfig").read_text())
        core = next(each["cluster"] for each in config["clusters"] if each["name"] == "core")
        request = Request(core["server"] + path, headers={"Authorization": f"Bearer {token}"})
        trusted = ssl.create_default_context(cafile=self.data / "pki" / "ca.crt")
        with urlopen(request, context=trusted, timeout=30) as answer:
            body: bytes = answer.read()
            return body.decode()


@asynccontextmanager
async def world_process(data: Path, *options: str) -> AsyncIterator[WorldProcess]:
    """A started world. Its process is ended with the context, however often it was restarted."""
    world = WorldProcess(data, *options)
    try:
        await world.start()
        yield world
    finally:
        await world.end()
