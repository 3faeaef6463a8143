"""Replicas of management as processes, which serve metrics and webhooks on free ports."""

import asyncio
import json
import re
import ssl
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from compute.app.system_environment import system
from kubekit.client.client import Client
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from tests.peers.ports import free_ports
from tests.support.compute import managed_world
from tests.support.compute.manager_process import PATIENCE, ManagerProcess
from tests.support.kubekit.plane_process import stream

SECRET: Final = {"namespace": "default", "name": "metrics-certificate"}
"""The Secret on the core plane with the certificate of the metrics, which must be there first."""
_ADDRESS: Final = re.compile(r"msg=listening server=(\S+) address=127\.0\.0\.1:(\d+)")


class ServingReplica(ManagerProcess):
    """One process, and its addresses, which are in its log."""

    def url(self, server: str, path: str) -> str:
        return f"https://localhost:{self._port(server)}{path}"

    async def certificate(self, server: str, context: ssl.SSLContext) -> bytes:
        """The certificate that a new connection sees, as DER."""
        port = self._port(server)
        _, writer = await asyncio.open_connection("localhost", port, ssl=context)
        found: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        return found

    def _port(self, server: str) -> int:
        return int(dict(_ADDRESS.findall(self.text()))[server])


class ManagedPlanes:
    """The planes of a platform, whose managers the test starts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._clients: dict[str, HttpClient] = {}

    def client(self, context: str) -> Client:
        if context not in self._clients:
            environment = system()
            connection = load(environment, [self._kubeconfig(context)])
            self._clients[context] = HttpClient(connection, environment)
        return self._clients[context]

    def replica(self, name: str, certificates: Path) -> ServingReplica:
        """Start a replica whose webhooks have their certificate in this folder.

        That of its metrics is in `SECRET`.
        """
        (port,) = free_ports(1)
        return ServingReplica(
            self._folder / f"{name}.log",
            port,
            *("--enable-management-controllers", "--leader-elect"),
            f"--kubeconfig={self._kubeconfig('core')}",
            f"--federation-kubeconfig={self._kubeconfig('hub')}",
            f"--server-config={self._configuration(certificates)}",
        )

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()

    def _kubeconfig(self, context: str) -> Path:
        return self._folder / "contexts" / f"{context}.yaml"

    def _configuration(self, certificates: Path) -> Path:
        tls = {"certDir": str(certificates)}
        document = {
            "apiVersion": "apiserver.config.datumapis.com/v1alpha1",
            "kind": "WorkloadOperator",
            "discovery": {"mode": "milo"},
            "metricsServer": {"bindAddress": "127.0.0.1:0", "tls": {"secretRef": SECRET}},
            "webhookServer": {"host": "127.0.0.1", "port": 0, "tls": tls},
        }
        file = self._folder / "manager.yaml"
        file.write_text(json.dumps(document))
        return file


@asynccontextmanager
async def managed_planes(folder: Path) -> AsyncIterator[ManagedPlanes]:
    """The planes in a process of their own."""
    line = [sys.executable, "-m", managed_world.__name__, str(folder)]
    process = await asyncio.create_subprocess_exec(*line, stdin=PIPE, stdout=PIPE)
    planes = ManagedPlanes(folder)
    try:
        async with asyncio.timeout(PATIENCE):
            printed = await stream(process.stdout).readline()
        assert printed.decode().strip() == managed_world.READY
        yield planes
    finally:
        await planes.close()
        stream(process.stdin).close()
        await process.wait()


async def until(holds: Callable[[], Awaitable[object]], failure: str) -> None:
    """Wait until the check holds."""
    ends = asyncio.get_running_loop().time() + PATIENCE
    while not await holds():
        assert asyncio.get_running_loop().time() < ends, failure
        await asyncio.sleep(0.05)
