r"""Our plane behind aiohttp's server instead of our own, to compare the two.

    .venv/bin/python bench/aiohttp_plane.py --data DIR --port N
    .venv/bin/python bench/plane.py --only create,get,status --peer https://127.0.0.1:N \
        --token "$(cat DIR/token)" --ca DIR/pki/ca.crt

Only the shared layers remain: the same registry, the same handler, TLS and tokens. Watches are not
served, since this measures the cost of a request.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvloop
from aiohttp import web

from compute.app import crds
from compute.app.process import tune_interpreter
from compute.app.system_environment import system
from kubekit.plane.http.application import Application
from kubekit.plane.http.authentication.authenticator import Authenticator
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import LOOPBACK, Certificates
from kubekit.plane.http.connection.slices import slices
from kubekit.plane.http.interfaces import ServerOptions
from kubekit.plane.http.messages import Response, SegmentedBody, ServerRequest
from kubekit.plane.http.pages import Pages
from kubekit.plane.plane import Plane
from kubekit.plane.private_files import write_private
from kubekit.plane.registry import builtins
from kubekit.plane.users import User


async def main(data: Path, port: int) -> None:
    """Serve until interrupted."""
    environment = system()
    plane = await Plane.open(data, builtins.native(), environment, definitions=crds.definitions())
    tokens = Tokens(data / "tokens.json", environment)
    write_private(data / "token", tokens.issue(User("admin")).encode())
    certificates = Certificates(data / "pki", environment.now(), LOOPBACK)
    application = Application(
        Authenticator(tokens, environment), environment, ServerOptions(site=Pages())
    )
    application.mount("/", plane)
    runner = web.ServerRunner(web.Server(_handler(application)))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=certificates.context).start()
    tune_interpreter()
    print(f"aiohttp serves {data} on port {port}", flush=True)
    await asyncio.Event().wait()


def _handler(application: Application) -> Callable[[web.BaseRequest], Awaitable[web.Response]]:
    async def handle(incoming: web.BaseRequest) -> web.Response:
        path, _, query = incoming.raw_path.partition("?")
        headers = {name.lower(): value for name, value in incoming.headers.items()}
        request = ServerRequest(incoming.method, path, query, headers, await incoming.read())
        answer = application.handle(request)
        response = answer if isinstance(answer, Response) else await answer
        assert isinstance(response.body, bytes | SegmentedBody), "a watch"
        body = b"".join(slices(response.body, 1 << 20))
        return web.Response(status=response.status, body=body, content_type=response.content_type)

    return handle


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    uvloop.run(main(options.data, options.port))
