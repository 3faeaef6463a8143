"""A plane behind HTTP in its own process, to be killed at any moment and started again."""

import asyncio
import multiprocessing
import os
import signal
import socket
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Final

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.server import Server
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.users import User

TOKEN: Final = "a-token-for-tests-only"
_processes: Final = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload([__name__])


class MortalServer:
    """The server. It keeps its port and its data across restarts."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        # It never listens. It reserves the port between two runs of the server.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._place.bind(("127.0.0.1", 0))
        self._process: multiprocessing.process.BaseProcess | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def _port(self) -> int:
        port: int = self._place.getsockname()[1]
        return port

    async def start(self) -> None:
        """Start the process; it is serving when this returns."""
        receiver, sender = _processes.Pipe(duplex=False)
        process = _processes.Process(target=_serve, args=(self._directory, self._port, sender))
        process.start()
        sender.close()
        ready = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(receiver.fileno(), ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(receiver.fileno())
        receiver.recv()
        receiver.close()
        self._process = process

    def kill(self) -> None:
        """Kill the process without a chance to clean up."""
        assert self._process is not None
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.join()
        self._process.close()
        self._process = None

    def close(self) -> None:
        """End the last process."""
        self.kill()
        self._place.close()


def _serve(directory: Path, port: int, ready: Connection) -> None:
    asyncio.run(_serving(directory, port, ready))


async def _serving(directory: Path, port: int, ready: Connection) -> None:
    environment = ExecutionEnvironment(now=lambda: datetime.now(UTC), chance=Random(os.urandom(16)))  # noqa: TID251 - a real process has a real clock
    tokens = Tokens(None, environment)
    tokens.accept(TOKEN, User("tester"))
    plane = await Plane.open(directory, Kinds(builtins.core()), environment)
    server = Server(("127.0.0.1", port), None, tokens, environment)
    server.mount("/", plane)
    await server.start()
    ready.send("serving")
    ready.close()
    await asyncio.Event().wait()
