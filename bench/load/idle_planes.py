"""Idle planes behind one listener.

python -m bench.load.idle_planes PLANES SECONDS     prints how much CPU they took, as JSON
"""

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import uvloop

from bench.load.servers import cpu, resident
from compute.app import crds
from compute.app.process import tune_interpreter
from compute.app.system_environment import system
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.interfaces import ServerOptions
from kubekit.plane.http.pages import Pages
from kubekit.plane.http.server import Server
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins


async def main(planes: int, seconds: float) -> None:
    """Open them, wait until they are idle, and measure the CPU time of the process."""
    environment = system()
    with tempfile.TemporaryDirectory(prefix="bench-idle-") as name:
        folder = Path(name)
        certificates = Certificates(folder / "pki", environment.now())
        tokens = Tokens(None, environment)
        seams = ServerOptions(site=Pages())
        server = Server(("127.0.0.1", 0), certificates, tokens, environment, seams)
        async with AsyncExitStack() as stack:
            for number in range(planes):
                plane = await Plane.open(
                    folder / str(number),
                    builtins.native(),
                    environment,
                    definitions=crds.definitions(),
                )
                stack.push_async_callback(plane.close)
                server.mount(f"/clusters/{number}", plane)
            await server.start()
            stack.push_async_callback(server.close)
            tune_interpreter()
            await asyncio.sleep(1)
            print(msgspec.json.encode(await _spent(planes, seconds)).decode())


async def _spent(planes: int, seconds: float) -> dict[str, object]:
    before = cpu("self")
    await asyncio.sleep(seconds)
    percent = 100 * (cpu("self") - before) / seconds
    return {"percent": percent, "notes": f"{resident('self') / planes / 1e6:.2g} MB for each"}


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), float(sys.argv[2])))
