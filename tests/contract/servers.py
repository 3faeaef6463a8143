"""The servers that the suite runs against: two of ours, or one that the caller names.

CONTRACT_SERVER       its URL; then neither of ours is used
CONTRACT_CA           the file of its certificate authority
CONTRACT_TOKEN        a bearer token, or
CONTRACT_CERT, _KEY   the files of a client certificate
CONTRACT_ETCD         the URL of its etcd, for the tests that need old versions forgotten
CONTRACT_CONTROLLERS  set if garbage collector and namespace controller run beside it
"""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from kubekit.api.errors import NotFound, TooManyRequests
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.resource import Resource
from kubekit.client.options import EVERYTHING, PLAIN_WRITE
from kubekit.client.transport import Document, ResourceLocation, Transport
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.server import Server
from kubekit.plane.local import LocalTransport
from kubekit.plane.plane import Plane
from kubekit.plane.registry.definitions.served_kinds import kinds_of
from kubekit.plane.users import User
from tests.contract import kinds
from tests.contract.http_transport import Address, HttpTransport, environment, named
from tests.support.compute import served_kinds

_ROOT = Path(__file__).parents[2]
_CRD = CustomResourceDefinition.RESOURCE
_MARK = "contract.datumapis.com/digest"


Forget = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ContractServer:
    """A server under test.

    ``forget`` compacts all versions up to a given one, ``remind`` sends bookmarks at once; both are
    absent for a server without these.
    """

    transport: Transport
    forget: Forget | None
    remind: Callable[[], None] | None = None


@asynccontextmanager
async def local(directory: Path) -> AsyncIterator[ContractServer]:
    """A plane of this process, without a socket."""
    async with _plane(directory) as plane:
        yield ContractServer(LocalTransport(plane), _forgetting(plane), plane.registry.bookmark)


@asynccontextmanager
async def http(directory: Path) -> AsyncIterator[ContractServer]:
    """A plane served over TLS, on a loopback port."""
    around = environment()
    certificates = Certificates(directory / "pki", around.now())
    tokens = Tokens(None, around)
    token = tokens.issue(User("contract", ("system:masters",)))
    server = Server(("127.0.0.1", 0), certificates, tokens, around)
    async with _plane(directory) as plane:
        server.mount("/", plane)
        await server.start()
        address = Address(server.url, certificates.authority, token)
        try:
            async with HttpTransport(address) as transport:
                yield ContractServer(transport, _forgetting(plane), plane.registry.bookmark)
        finally:
            await server.close()


@asynccontextmanager
async def _plane(directory: Path) -> AsyncIterator[Plane]:
    own = (kind for crd in (kinds.widget_crd(), kinds.gadget_crd()) for kind in kinds_of(crd))
    plane = await Plane.open(
        directory / "data", served_kinds.everything().with_kinds(own), environment()
    )
    try:
        yield plane
    finally:
        await plane.close()


def _forgetting(plane: Plane) -> Callable[[str], Awaitable[None]]:
    async def forget(version: str) -> None:
        await plane.store.compact(int(version))

    return forget


@asynccontextmanager
async def named_server(_directory: Path) -> AsyncIterator[ContractServer]:
    """The server that the environment names, with our CRDs applied to it."""
    async with HttpTransport(named(os.environ)) as transport:
        # All at once: the server takes a second to serve a new kind.
        crds = (kinds.widget_crd(), kinds.gadget_crd(), *our_crds())
        await asyncio.gather(*(_apply(transport, crd) for crd in crds))
        etcd = os.environ.get("CONTRACT_ETCD")
        if not etcd:
            yield ContractServer(transport, None)
            return
        async with HttpTransport(Address(etcd)) as store:
            yield ContractServer(transport, _compaction(store))


def our_crds() -> list[Document]:
    """The CRDs that we publish."""
    files = sorted(_ROOT.glob("config/*/crd/*_*.yaml"))
    return [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]


async def _apply(transport: Transport, crd: Document) -> None:
    """Make the server serve this CRD as it is now, and wait until it does.

    A CRD that is there already is left alone: writing it would make the server begin anew.
    """
    place = ResourceLocation(_CRD, "", crd["metadata"]["name"])
    crd = _marked(crd)
    try:
        present = await transport.get(place)
    except NotFound:
        await transport.create(ResourceLocation(_CRD), crd, PLAIN_WRITE)
    else:
        if present["metadata"].get("annotations", {}).get(_MARK) == _mark(crd):
            return
        version = present["metadata"]["resourceVersion"]
        renewed = crd | {"metadata": crd["metadata"] | {"resourceVersion": version}}
        await transport.update(place, renewed, PLAIN_WRITE)
    await _served(transport, crd)


def _marked(crd: Document) -> Document:
    digest = hashlib.sha256(repr(crd["spec"]).encode()).hexdigest()
    metadata = crd["metadata"]
    notes = metadata.get("annotations", {}) | {_MARK: digest}
    return crd | {"metadata": metadata | {"annotations": notes}}


def _mark(crd: Document) -> str:
    mark: str = crd["metadata"]["annotations"][_MARK]
    return mark


async def _served(transport: Transport, crd: Document) -> None:
    """Wait until the kind answers. A server says nothing when it has got that far."""
    spec = crd["spec"]
    resource = Resource(
        group=spec["group"],
        version=spec["versions"][0]["name"],
        kind=spec["names"]["kind"],
        plural=spec["names"]["plural"],
    )
    for _ in range(100):
        try:
            await transport.list(ResourceLocation(resource), EVERYTHING)
        except (NotFound, TooManyRequests):
            await asyncio.sleep(0.1)
        else:
            return
    raise AssertionError(f"{resource.plural} are not served")


def _compaction(etcd: HttpTransport) -> Callable[[str], Awaitable[None]]:
    async def forget(version: str) -> None:
        body = etcd.encoded({"revision": version, "physical": True})
        await etcd.call("POST", "/v3/kv/compaction", body=body)

    return forget
