"""Many planes behind one listener, each with parents that wait.

python bench/controllers/planes.py FOLDER PLANES PARENTS    prints ``ready``, and serves until a signal stops it
"""

import asyncio
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import uvloop
import yaml

from bench.controllers.parents import Parent, definition, parent
from compute.app.kubeconfig import kubeconfig
from compute.app.process import tune_interpreter
from compute.app.system_environment import system
from kubekit.client.options import PLAIN_WRITE
from kubekit.client.transport import ResourceLocation
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.interfaces import ServerOptions
from kubekit.plane.http.pages import Pages
from kubekit.plane.http.server import Server
from kubekit.plane.local import LocalTransport
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins
from kubekit.plane.users import MASTERS, User


async def main(folder: Path, planes: int, parents: int) -> None:
    environment = system()
    certificates = Certificates(folder / "pki", environment.now())
    tokens = Tokens(None, environment)
    token = tokens.issue(User("bench", (MASTERS,)))
    server = Server(
        ("127.0.0.1", 0), certificates, tokens, environment, ServerOptions(site=Pages())
    )
    async with AsyncExitStack() as stack:
        for number in range(planes):
            plane = await Plane.open(
                folder / f"p{number}", builtins.native(), environment, definitions=[definition()]
            )
            stack.push_async_callback(plane.close)
            await _fill(plane, parents)
            server.mount(f"/clusters/p{number}", plane)
        await server.start()
        stack.push_async_callback(server.close)
        config = kubeconfig(server.url, certificates.authority.read_bytes(), token)
        (folder / "kubeconfig").write_text(_contexts(yaml.safe_load(config), planes))
        tune_interpreter()
        stopped = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
        print("ready", flush=True)
        await stopped.wait()


async def _fill(plane: Plane, parents: int) -> None:
    door, place = LocalTransport(plane), ResourceLocation(Parent.RESOURCE, "default")
    await asyncio.gather(
        *(door.create(place, parent("default", f"x{n}"), PLAIN_WRITE) for n in range(parents))
    )


def _contexts(config: dict[str, Any], planes: int) -> str:
    """The same kubeconfig with a cluster and a context for each plane."""
    [cluster], [user] = config["clusters"], config["users"]
    names = [f"p{number}" for number in range(planes)]
    server = cluster["cluster"]["server"]
    config["clusters"] = [
        {"name": name, "cluster": cluster["cluster"] | {"server": f"{server}/clusters/{name}"}}
        for name in names
    ]
    config["contexts"] = [
        {"name": name, "context": {"cluster": name, "user": user["name"]}} for name in names
    ]
    config["current-context"] = names[0]
    return yaml.safe_dump(config)


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
