"""A server with users by certificate, token and service account, and a clock that tests move.

TLS compares certificates with the machine's clock, so the test clock starts with the real time, which
is the creation time of a new folder.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from kubekit.api.errors import Forbidden
from kubekit.client.options import PLAIN_WRITE
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import Certificates, ClientPair
from kubekit.plane.http.interfaces import Attributes, ServerOptions
from kubekit.plane.http.limits import Limits
from kubekit.plane.http.server import Server
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.ownership import meta_of
from kubekit.plane.users import User
from tests.support.kubekit.http_builders import Peer, Reply, connected

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = "/apis/authentication.k8s.io/v1/tokenreviews"
MAPS = "/api/v1/namespaces/default/configmaps"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
QUICK = Limits(tick=0.01, drain_time=0.5)
ADMIN = User("admin", ("admins",))


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **span: float) -> None:
        self.now += timedelta(**span)


class Allowing:
    """An authorizer that allows everything except impersonation, of which only some."""

    def __init__(self, allowed: Iterable[tuple[str, str]] = ()) -> None:
        self.allowed = set(allowed)
        self.asked: list[tuple[str, Attributes]] = []

    def check(self, plane: object, user: User, attributes: Attributes) -> None:
        self.asked.append((user.name, attributes))
        what = attributes.resource, attributes.name
        if attributes.verb == "impersonate" and what not in self.allowed:
            raise Forbidden(f"{user.name} may not impersonate {what}")


@dataclass
class IdentityWorld:
    """The server, its clock and its credentials."""

    directory: Path
    server: Server
    plane: Plane
    tokens: Tokens
    certificates: Certificates
    clock: Clock
    trust: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        self.trust = ssl.create_default_context(cafile=self.certificates.authority)

    def context(self, pair: ClientPair) -> ssl.SSLContext:
        """The TLS context of a client with a certificate."""
        file = self.directory / f"client-{len(list(self.directory.iterdir()))}.pem"
        file.write_bytes(pair.certificate + pair.key)
        context = ssl.create_default_context(cafile=self.certificates.authority)
        context.load_cert_chain(file)
        return context

    def client(self, name: str, groups: Sequence[str] = (), **span: float) -> ClientPair:
        life = timedelta(**span) if span else timedelta(days=1)
        return self.certificates.issue_client(name, groups, life, self.clock.now)

    @asynccontextmanager
    async def peer(self, context: ssl.SSLContext | None = None) -> AsyncIterator[Peer]:
        async with connected(self.server.port, context or self.trust) as peer:
            yield peer

    async def ask(self, raw: bytes, context: ssl.SSLContext | None = None) -> Reply:
        async with self.peer(context) as peer:
            return await peer.ask(raw)

    async def who(self, *headers: str, context: ssl.SSLContext | None = None) -> Reply:
        """The user that the server recognizes, from a SelfSubjectReview."""
        return await self.ask(post(WHO, {}, *headers), context)

    async def make(self, kind: str, name: str, namespace: str = "default") -> str:
        """The uid of a new object."""
        found = self.plane.kinds.require("v1", kind)
        document = {"metadata": {"name": name}}
        written = await self.plane.registry.create(found, namespace, document, PLAIN_WRITE)
        return meta_of(written.record).uid

    async def token(self, name: str = "robot", **spec: object) -> str:
        """A token of a service account, requested through the API."""
        header = f"Authorization: Bearer {self.tokens.issue(ADMIN)}"
        reply = await self.ask(post(f"{ACCOUNTS}/{name}/token", {"spec": spec}, header))
        assert reply.code == 201, reply.document
        token: str = reply.document["status"]["token"]
        return token


@asynccontextmanager
async def house(directory: Path, access: Any = None, **more: Any) -> AsyncIterator[IdentityWorld]:
    """A server with TLS and one plane at its root."""
    clock = Clock(made_at(directory))
    environment = ExecutionEnvironment(now=clock, chance=Random(1))
    certificates = Certificates(directory / "pki", clock.now)
    tokens = Tokens(directory / "tokens.json", environment)
    seams = ServerOptions(access=access or Allowing(), limits=QUICK, **more)
    server = Server(("127.0.0.1", 0), certificates, tokens, environment, seams)
    plane = await new_plane(directory / "plane", environment)
    server.mount("/", plane)
    await server.start()
    try:
        yield IdentityWorld(directory, server, plane, tokens, certificates, clock)
    finally:
        await server.close()
        await plane.close()


def made_at(directory: Path) -> datetime:
    return datetime.fromtimestamp(directory.stat().st_mtime, UTC)


async def new_plane(directory: Path, environment: ExecutionEnvironment) -> Plane:
    kinds = Kinds((*builtins.core(), *builtins.access(), *builtins.reviews()))
    return await Plane.open(directory, kinds, environment, threaded=False)


def post(path: str, document: object, *headers: str) -> bytes:
    return raw_post(path, msgspec.json.encode(document), *(header.encode() for header in headers))


def raw_post(path: str, body: bytes, *headers: bytes) -> bytes:
    """A request without credentials of its own, in bytes that are not parsed."""
    lines = [f"POST {path} HTTP/1.1".encode(), b"Host: localhost", *headers]
    lines += [b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def user_in(reply: Reply) -> dict[str, Any]:
    assert reply.code == 201, reply.document
    found: dict[str, Any] = reply.document["status"]["userInfo"]
    return found


def run(story: Any) -> Any:
    return asyncio.run(story)
