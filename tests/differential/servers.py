"""The two servers that scripts run on: our plane in this process, and one that the environment names."""

import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from yarl import URL

from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.server import Server as PlaneServer
from kubekit.plane.plane import Plane
from kubekit.plane.registry.definitions.served_kinds import kinds_of
from kubekit.plane.users import User
from tests.contract import kinds
from tests.contract.http_transport import environment
from tests.contract.servers import named_server
from tests.differential.asks import Sent
from tests.support.compute import served_kinds

_PATIENCE = aiohttp.ClientTimeout(total=60)
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, as it came."""

    status: int
    media: str
    warnings: tuple[str, ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers requests. ``lasting`` is one that outlives the run."""

    name: str
    url: str
    session: aiohttp.ClientSession
    lasting: bool = False

    async def ask(self, sent: Sent) -> Answer:
        url = URL(self.url + sent.target, encoded=True)
        skipped = () if "Content-Type" in sent.headers else ("Content-Type",)
        async with self.session.request(
            sent.method,
            url,
            data=sent.body,
            headers=sent.headers,
            skip_auto_headers=skipped,
            allow_redirects=False,
        ) as response:
            body = await response.read()
            warnings = tuple(response.headers.getall("Warning", ()))
            media = response.headers.get("Content-Type", "")
            return Answer(response.status, media, warnings, body)


@asynccontextmanager
async def ours(directory: Path) -> AsyncIterator[Server]:
    """Our plane, over TLS on a loopback port of this process."""
    around = environment()
    certificates = Certificates(directory / "pki", around.now())
    tokens = Tokens(None, around)
    token = tokens.issue(User("kubernetes-admin", ("system:masters",)))
    server = PlaneServer(("127.0.0.1", 0), certificates, tokens, around)
    own = (kind for crd in (kinds.widget_crd(), kinds.gadget_crd()) for kind in kinds_of(crd))
    plane = await Plane.open(directory / "data", served_kinds.everything().with_kinds(own), around)
    try:
        server.mount("/", plane)
        await server.start()
        context = ssl.create_default_context(cafile=str(certificates.authority))
        headers = {"Authorization": f"Bearer {token}"}
        async with _session(context, headers) as session:
            yield Server("ours", server.url, session)
        await server.close()
    finally:
        await plane.close()


@asynccontextmanager
async def named(directory: Path) -> AsyncIterator[Server]:
    """The server that CONTRACT_SERVER names, with the CRDs of the suite and ours applied to it."""
    async with named_server(directory):
        context = ssl.create_default_context(cafile=os.environ.get("CONTRACT_CA"))
        if "CONTRACT_CERT" in os.environ:
            context.load_cert_chain(os.environ["CONTRACT_CERT"], os.environ["CONTRACT_KEY"])
        token = os.environ.get("CONTRACT_TOKEN")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with _session(context, headers) as session:
            url = os.environ["CONTRACT_SERVER"]
            yield Server("real", url, session, "CONTRACT_DISPOSABLE" not in os.environ)


def _session(context: ssl.SSLContext, headers: dict[str, str]) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(ssl=context, limit=_AT_ONCE)
    return aiohttp.ClientSession(
        connector=connector, headers=headers | {"User-Agent": "differential"}, timeout=_PATIENCE
    )
