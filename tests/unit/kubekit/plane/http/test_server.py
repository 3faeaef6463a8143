"""The listener: addresses, credentials, planes that come and go, and an orderly end."""

import asyncio
import logging
import ssl
from datetime import UTC, datetime, timedelta

import pytest

from kubekit.api.errors import Forbidden
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.interfaces import Attributes, ServerOptions
from kubekit.plane.http.messages import Response, ServerRequest
from kubekit.plane.http.server import CannotListen, Server
from kubekit.plane.plane import Plane
from kubekit.plane.registry.registry import Registry
from kubekit.plane.users import User
from tests.support.kubekit.http_builders import (
    AUTH,
    CONFIG_MAPS,
    NOW,
    QUICK,
    config_map,
    connected,
    environment,
    known_tokens,
    open_plane,
    request,
    serving,
    until,
)

PROJECT = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/p1/control-plane"


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
PATHS = (
    "/", "/api", "/apis", "/version", "/livez", "/metrics", "/openapi/v3", "/page", "/broken",
    CONFIG_MAPS, f"{CONFIG_MAPS}/a", f"{CONFIG_MAPS}?watch=1", PROJECT, "/clusters/x", "/%zz",
)  # fmt: skip


class Witness:
    """A page handler that records its calls, and answers one page."""

    def __init__(self) -> None:
        self.seen: list[tuple[Attributes, int]] = []

    def answer(self, plane, request: ServerRequest) -> Response | None:
        if request.path == "/broken":
            raise RuntimeError("a fault of our own")
        return Response(200, request.path.encode()) if request.path == "/page" else None

    def observe(self, plane, attributes: Attributes, status: int, seconds: float) -> None:
        assert seconds >= 0
        self.seen.append((attributes, status))


class LateWatches(Registry):
    """A registry whose watches start on demand."""

    def __init__(self, plane: Plane) -> None:
        super().__init__(plane.store, plane.kinds, environment())
        self.asked = False
        self.gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def watch(self, *wanted, **more):
        self.asked = True
        await self.gate
        return await super().watch(*wanted, **more)


class NoSecrets:
    """An access check: reading secrets is forbidden."""

    def check(self, plane, user: User, attributes: Attributes) -> None:
        if attributes.resource == "secrets":
            raise Forbidden(f"{user.name} may not {attributes.verb} secrets")


def server(address=("127.0.0.1", 0), tls=None, seams=None) -> Server:
    return Server(address, tls, known_tokens(), environment(), seams or ServerOptions(limits=QUICK))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "plane.example.test"])
def test_other_addresses_than_loopback_need_tls(host):
    """A token in clear text on a network is no longer secret."""
    with pytest.raises(CannotListen, match="it needs TLS"):
        server((host, 0))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_loopback_may_do_without_tls(host):
    """The address says how to reach it."""
    shown = f"[{host}]" if ":" in host else host
    assert server((host, 6443)).url == f"http://{shown}:6443"


def test_a_port_in_use_is_named(tmp_path):
    """The message says which, and what to do."""

    async def story():
        async with serving(tmp_path) as first:
            with pytest.raises(CannotListen, match=rf"port {first.port} .* in use"):
                await server(("127.0.0.1", first.port)).start()

    asyncio.run(story())


def test_an_address_of_another_machine_is_refused(tmp_path):
    """With the system's own words."""

    async def story():
        other = server(("192.0.2.1", 0), Certificates(tmp_path, NOW))
        with pytest.raises(CannotListen, match=r"cannot listen on 192\.0\.2\.1"):
            await other.start()

    asyncio.run(story())


def test_only_loopback_is_listened_on(tmp_path):
    """Other machines on the network cannot even connect."""

    async def story():
        async with serving(tmp_path) as running:
            return running.addresses

    assert {host for host, _ in asyncio.run(story())} == {"127.0.0.1"}


def test_tls_uses_a_certificate_of_the_authority(tmp_path):
    """A client that trusts our authority gets through, and one that does not hangs up."""
    now = datetime.fromtimestamp(tmp_path.stat().st_mtime, UTC)  # the TLS library reads that clock
    certificates = Certificates(tmp_path / "tls", now - timedelta(days=70))
    trusting = ssl.create_default_context(cafile=certificates.authority)

    async def story():
        async with serving(tmp_path / "plane", tls=certificates) as running:
            async with connected(running.port, trusting) as peer:
                first = (await peer.ask(request("GET", CONFIG_MAPS))).code
                assert certificates.renew(now)
                again = (await peer.ask(request("GET", CONFIG_MAPS))).code
            async with connected(running.port, trusting) as peer:
                renewed = (await peer.ask(request("GET", CONFIG_MAPS))).code
            with pytest.raises(ssl.SSLCertVerificationError):
                async with connected(running.port, ssl.create_default_context()):
                    pass
            return first, again, renewed, running.url[:8]

    assert asyncio.run(story()) == (200, 200, 200, "https://")


def test_without_credentials_every_path_is_the_same():
    """401 before anything is looked up: an unauthenticated client does not even learn what exists."""

    async def story():
        running = server(seams=ServerOptions(site=Witness(), limits=QUICK))
        await running.start()
        async with connected(running.port) as peer:
            raws = [request(m, p, b"{}").replace(AUTH, b"") for m in METHODS for p in PATHS]
            replies = [await peer.ask(raw) for raw in raws]
        await running.close()
        return replies

    replies = asyncio.run(story())
    assert {(r.code, r.document["message"]) for r in replies} == {(401, "Unauthorized")}
    assert len({r.body for r in replies}) == 1


def test_planes_are_distinguished_by_their_prefix(tmp_path):
    """What is written to one is not seen in another."""

    async def story():
        async with serving(tmp_path / "core") as running, connected(running.port) as peer:
            planes = {p: await open_plane(tmp_path / n) for p, n in _PREFIXES.items()}
            for prefix, plane in planes.items():
                running.mount(prefix, plane)
            for prefix in ("", *planes):
                body = config_map("only" + _PREFIXES.get(prefix, "core"))
                await peer.ask(request("POST", prefix + CONFIG_MAPS, body))
            lists = [await peer.ask(request("GET", p + CONFIG_MAPS)) for p in ("", *planes)]
            for prefix, plane in planes.items():
                running.unmount(prefix)
                await plane.close()
            return [[i["metadata"]["name"] for i in reply.document["items"]] for reply in lists]

    assert asyncio.run(story()) == [["onlycore"], ["onlyhub"], ["onlyp1"]]


def test_a_plane_can_be_taken_away_while_serving(tmp_path):
    """Its watches end in order, its paths are gone, the connection stays open."""

    async def story():
        async with serving(tmp_path / "core") as running:
            hub = await open_plane(tmp_path / "hub")
            running.mount("/clusters/hub", hub)
            async with connected(running.port) as watcher, connected(running.port) as peer:
                path = f"/clusters/hub{CONFIG_MAPS}"
                await watcher.send(request("GET", f"{path}?watch=1"))
                await watcher.reader.readuntil(b"\r\n\r\n")
                running.unmount("/clusters/hub")
                running.unmount("/clusters/hub")
                last = await watcher.chunk()
                after = await watcher.ask(request("GET", path))
                other = await peer.ask(request("GET", CONFIG_MAPS))
            await hub.close()
            return last, after.code, other.code

    assert asyncio.run(story()) == (b"", 404, 200)


def test_a_watch_that_starts_after_its_plane_was_unmounted_ends_at_once(tmp_path):
    """Its past took long to read; meanwhile the plane was taken away."""

    async def story():
        async with serving(tmp_path / "core") as running, connected(running.port) as watcher:
            hub = await open_plane(tmp_path / "hub")
            hub.registry = late = LateWatches(hub)
            running.mount("/clusters/hub", hub)
            await watcher.send(request("GET", f"/clusters/hub{CONFIG_MAPS}?watch=1"))
            await until(lambda: late.asked)
            running.unmount("/clusters/hub")
            late.gate.set_result(None)
            async with asyncio.timeout(5):
                reply = await watcher.reply()
            await hub.close()
            return reply.code, reply.body

    assert asyncio.run(story()) == (200, b"")


@pytest.mark.parametrize("host", ["", "a..b", "x" * 70])
def test_what_is_no_address_is_refused(tmp_path, host):
    """Nothing at all would mean every address, which must be asked for by name."""

    async def story():
        with pytest.raises(CannotListen, match="address"):
            await server((host, 0), Certificates(tmp_path, NOW)).start()

    asyncio.run(story())


def test_a_prefix_belongs_to_one_plane(tmp_path):
    """A second one is refused: it would be ambiguous which of them answers."""

    async def story():
        async with serving(tmp_path) as running:
            with pytest.raises(ValueError, match="taken by another plane"):
                running.mount("/", running.mounted("/"))

    asyncio.run(story())


def test_access_is_checked_before_anything_else(tmp_path):
    """Its refusal is the answer."""

    async def story():
        seams = ServerOptions(access=NoSecrets(), limits=QUICK)
        async with serving(tmp_path, seams) as running, connected(running.port) as peer:
            refused = await peer.ask(request("GET", "/api/v1/namespaces/default/secrets/a"))
            allowed = await peer.ask(request("GET", CONFIG_MAPS))
            return refused, allowed.code

    refused, allowed = asyncio.run(story())
    assert (refused.code, refused.document["message"]) == (403, "tester may not get secrets")
    assert allowed == 200


def test_pages_and_requests_are_observed(tmp_path):
    """Each response is observed once, with the attributes of the request and the code."""
    witness = Witness()

    async def story():
        seams = ServerOptions(site=witness, limits=QUICK)
        async with serving(tmp_path, seams) as running, connected(running.port) as peer:
            page = await peer.ask(request("GET", "/page"))
            await peer.ask(request("POST", CONFIG_MAPS, config_map("a")))
            await peer.ask(request("GET", f"{CONFIG_MAPS}/absent"))
            await peer.ask(request("GET", "/nothing"))
            await peer.ask(request("GET", CONFIG_MAPS).replace(AUTH, b""))
            return page.body

    assert asyncio.run(story()) == b"/page"
    assert [(a.verb, a.resource, a.path, code) for a, code in witness.seen] == [
        ("get", "", "/page", 200),
        ("create", "configmaps", "", 201),
        ("get", "configmaps", "", 404),
        ("get", "", "/nothing", 404),
        ("get", "", "", 401),
    ]


def test_an_internal_error_is_answered_and_logged(tmp_path, caplog):
    """The client learns that it was a server error, and nothing more; the log has the rest."""

    async def story():
        seams = ServerOptions(site=Witness(), limits=QUICK)
        async with serving(tmp_path, seams) as running, connected(running.port) as peer:
            return await peer.ask(request("GET", "/broken"))

    with caplog.at_level(logging.ERROR):
        reply = asyncio.run(story())
    assert (reply.code, reply.document["reason"]) == (500, "InternalError")
    assert "fault of our own" not in reply.body.decode()
    assert "fault of our own" in caplog.text


def test_closing_ends_watches_and_idle_connections(tmp_path):
    """Watchers see the end of the stream, so they know that nothing was lost."""

    async def story():
        async with serving(tmp_path) as running:
            async with connected(running.port) as watcher, connected(running.port) as idle:
                await watcher.send(request("GET", f"{CONFIG_MAPS}?watch=1"))
                await watcher.reader.readuntil(b"\r\n\r\n")
                await idle.ask(request("GET", CONFIG_MAPS))
                assert running.connections == 2
                await running.close()
                ends = await watcher.rest(), await idle.rest()
            await until(lambda: running.connections == 0)
            return ends

    assert asyncio.run(story()) == (b"0\r\n\r\n", b"")


def test_a_closed_server_can_be_closed_again():
    """Closing is idempotent."""

    async def story():
        running = server()
        await running.close()
        await running.start()
        await running.close()
        await running.close()

    asyncio.run(story())


_PREFIXES = {"/clusters/hub": "hub", PROJECT: "p1"}
