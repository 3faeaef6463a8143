"""Webhooks on loopback behind real TLS, a registry that calls them, and requests to review."""

import asyncio
import base64
import functools
import inspect
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kubekit.client.options import PLAIN_DELETE, PLAIN_WRITE
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.admission.webhooks import Webhooks, WebhookSettings
from kubekit.plane.registry import builtins
from kubekit.plane.registry.admission import Attempt
from kubekit.plane.registry.definitions import served_kinds
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.store import Store
from kubekit.plane.users import User
from tests.support.kubekit.plane_worlds import environment

Document = dict[str, Any]
Reply = Callable[[Document], Document]
Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]
MUTATING, VALIDATING = "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"
SPACE = "room"
ANN = User("ann", ("builders",), "u-1", {"team": ("red",)})
_BIRTH = datetime(2020, 1, 1, tzinfo=UTC)  # TLS compares with the machine's own clock


def pair(*names: str) -> tuple[bytes, bytes]:
    """A self-signed certificate and its key, both as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "webhooks")])
    hosts: list[x509.GeneralName] = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    hosts += [x509.DNSName(name) for name in ("localhost", *names)]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_BIRTH)
        .not_valid_after(_BIRTH + timedelta(days=365 * 50))
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return certificate.public_bytes(serialization.Encoding.PEM), secret


@dataclass
class Server:
    """A server of webhooks, one for each path. It records the requests."""

    url: str = ""
    ca_bundle: str = ""
    reviews: list[Document] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    peers: set[Any] = field(default_factory=set)
    handlers: dict[str, Handle] = field(default_factory=dict)

    def client(self, path: str) -> Document:
        return {"url": f"{self.url}/{path}", "caBundle": self.ca_bundle}

    def on(self, path: str, reply: Reply) -> Document:
        """Answer reviews at the path with the result of the function."""

        async def handle(request: web.Request) -> web.StreamResponse:
            review = msgspec.json.decode(await request.read())
            self.note(request, review)
            return web.json_response(answer(review["request"]["uid"], reply(review["request"])))

        return self.at(path, handle)

    def at(self, path: str, handle: Handle) -> Document:
        """Answer any request at the path with the function. Returns the client configuration for it."""
        self.handlers[path] = handle
        return self.client(path)

    def note(self, request: web.Request, review: Document) -> None:
        self.reviews.append(review["request"] | {"path": request.path_qs})
        self.headers.append(dict(request.headers))
        assert request.transport is not None
        self.peers.add(request.transport.get_extra_info("peername"))


def answer(uid: str, response: Document) -> Document:
    body = {"uid": uid, "allowed": True} | response
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": body}


def patch(*operations: Document) -> Document:
    text = base64.b64encode(msgspec.json.encode(list(operations))).decode()
    return {"patchType": "JSONPatch", "patch": text}


def add(path: str, value: object) -> Document:
    return {"op": "add", "path": path, "value": value}


@asynccontextmanager
async def serving(directory: Path, *names: str) -> AsyncIterator[Server]:
    """A server of webhooks on a loopback port."""
    certificate, key = pair(*names)
    file = directory / f"hooks-{id(certificate)}.pem"
    file.write_bytes(certificate + key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    server = Server(ca_bundle=base64.b64encode(certificate).decode())

    async def handle(request: web.Request) -> web.StreamResponse:
        return await server.handlers[request.match_info["path"]](request)

    app = web.Application(client_max_size=1 << 26)
    app.router.add_route("*", "/{path}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.01)
    await runner.setup()
    assert runner.server is not None
    sockets = await asyncio.get_running_loop().create_server(
        runner.server, "127.0.0.1", 0, ssl=context
    )
    server.url = f"https://127.0.0.1:{sockets.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        sockets.close()
        await runner.cleanup()


TWO_VERSIONS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "boats.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "boats", "kind": "Boat"},
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.crew",
                        "statusReplicasPath": ".status.crew",
                    },
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "crew": {"type": "integer"},
                                    "color": {"type": "string"},
                                    "sail": {
                                        "type": "object",
                                        "properties": {"size": {"type": "integer", "default": 3}},
                                    },
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {"crew": {"type": "integer"}},
                            },
                        },
                    }
                },
            }
            for name in ("v1", "v2")
        ],
    },
}


@dataclass
class World:
    """A registry on a real store, its webhooks, and the requests of tests."""

    store: Store
    registry: Registry
    webhooks: Webhooks
    surroundings: ExecutionEnvironment

    async def configure(
        self, kind: str, name: str, *hooks: Document, version: str = ""
    ) -> Document:
        """Create or replace a configuration."""
        found = self.registry.kinds.require("admissionregistration.k8s.io/v1", kind)
        metadata = {"name": name} | ({"resourceVersion": version} if version else {})
        document = {
            "apiVersion": found.resource.api_version,
            "kind": kind,
            "metadata": metadata,
            "webhooks": list(hooks),
        }
        if version:
            written = await self.registry.update(found, "", name, document, PLAIN_WRITE)
        else:
            written = await self.registry.create(found, "", document, PLAIN_WRITE)
        made: Document = msgspec.json.decode(written.record.data)
        return made

    async def remove(self, kind: str, name: str) -> None:
        found = self.registry.kinds.require("admissionregistration.k8s.io/v1", kind)
        await self.registry.delete(found, "", name, PLAIN_DELETE)

    def attempt(
        self, verb: str = "create", kind: tuple[str, str] = ("v1", "ConfigMap"), **said: Any
    ) -> Attempt:
        """A change of an object called "one"."""
        found = self.registry.kinds.require(*kind)
        namespace = said.pop("namespace", SPACE if found.resource.namespaced else "")
        name = said.pop("name", "one")
        metadata = {"name": name, "uid": "u-0"} | ({"namespace": namespace} if namespace else {})
        document = {
            "apiVersion": found.resource.api_version,
            "kind": found.resource.kind,
            "metadata": metadata | {"labels": said.pop("labels", {})},
            **said.pop("content", {}),
        }
        old = said.pop("old", None if verb == "create" else document)
        return Attempt(
            verb=verb,  # type: ignore[arg-type]  # tests name verbs as texts
            kind=found,
            namespace=namespace,
            name=name,
            document=None if verb == "delete" else document,
            old=old,
            user=ANN,
            **said,
        )


@asynccontextmanager
async def world(directory: Path, around: WebhookSettings | None = None) -> AsyncIterator[World]:
    surroundings = environment()
    store = await Store.open(directory / "store.db", surroundings, threaded=False)
    kinds = Kinds((*builtins.core(), *served_kinds.kinds_of(TWO_VERSIONS)))
    registry = Registry(store, kinds, surroundings)
    webhooks = Webhooks(registry, surroundings, around)
    webhooks.start()
    namespaces = kinds.require("v1", "Namespace")
    space = {"metadata": {"name": SPACE, "labels": {"size": "large"}}}
    try:
        if store.find(namespaces.storage, SPACE) is None:
            await registry.create(namespaces, "", space, PLAIN_WRITE)
        yield World(store, registry, webhooks, surroundings)
    finally:
        await webhooks.close()
        registry.close()
        await store.close()


def scenario(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A coroutine function that receives a `World` and a `Server`, as a test, on a real clock."""

    @functools.wraps(test)
    def run(tmp_path: Path, **parameters: object) -> None:
        asyncio.run(_within(tmp_path, test, parameters))

    own = ("there", "server")
    asked = [p for name, p in inspect.signature(test).parameters.items() if name not in own]
    place = inspect.Parameter("tmp_path", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    vars(run)["__signature__"] = inspect.Signature([place, *asked])  # what pytest looks at
    return run


async def _within(
    directory: Path, test: Callable[..., Awaitable[None]], parameters: dict[str, object]
) -> None:
    async with world(directory) as there, serving(directory) as server:
        own = {"there": there, "server": server}
        asked = inspect.signature(test).parameters
        await test(**{name: own[name] for name in own if name in asked}, **parameters)


def hook(client: Document, name: str = "one", **more: Any) -> Document:
    """A webhook for every operation on ConfigMaps and boats."""
    rule = {
        "operations": ["*"],
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "resources": ["configmaps", "boats", "boats/*"],
    }
    return {
        "name": f"{name}.example.com",
        "clientConfig": client,
        "rules": [rule | more.pop("rule", {})],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }
