"""Every route that a plane serves: who is not known gets in nowhere, who has no rights hardly anywhere.

The routes are those of the objects that serve: kinds, the pages of the site, and every path that the
sources of the HTTP layer name. New ones fail here until they are listed in one of the tables.
"""

import ast
import asyncio
import itertools
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from compute.app import crds
from compute.app.plane_server import serving
from compute.app.system_environment import system
from kubekit.api.errors import ApiError
from kubekit.plane import http
from kubekit.plane.http import health, pages
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.content.query_parameters import NOTHING
from kubekit.plane.http.interfaces import RbacCheck, ServerOptions
from kubekit.plane.http.openapi.document_cache import documents_of
from kubekit.plane.http.openapi.operations import paths_of
from kubekit.plane.http.pages import Pages
from kubekit.plane.http.routes import parse_route, segments_of
from kubekit.plane.http.server import Server
from kubekit.plane.http.verbs import verb_of
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.users import User
from tests.support.kubekit.http_builders import (
    Peer,
    connected,
    environment,
    known_tokens,
    open_plane,
)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
WEAK = User("without-roles")

# What every authenticated user may, as in Kubernetes: discovery, health, and its own permissions.
OPEN_PAGES = (
    "/api", "/api/*", "/apis", "/apis/*", "/openapi/*", "/version", "/healthz", "/livez", "/readyz",
)  # fmt: skip
OPEN_QUESTIONS = ("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews")
# What takes a right of its own. Everything else is about objects, and takes one as well.
CLOSED_PAGES = ("/metrics", "/healthz/*", "/livez/*", "/readyz/*", "/.well-known/*", "/openid/*")
CLOSED_QUESTIONS = (
    "tokenreviews", "subjectaccessreviews", "localsubjectaccessreviews", "serviceaccounts/token",
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A method at a path, and which kind is served there; none where a page is.

    ``question`` is what is asked there, if anything is.
    """

    method: str
    path: str
    kind: str = ""
    question: str = ""


def served_places(kinds: Kinds) -> Iterator[Place]:
    """What the routes lead to and the verbs allow, out of everything that might be."""
    parts = parts_of(kinds)
    for kind in kinds:
        for path, method in itertools.product(candidates(kind, parts), METHODS):
            try:
                found = parse_route(kinds, segments_of(path))
                verb = verb_of(method, found, NOTHING)
            except ApiError:
                continue
            words = (kind.resource.plural, found.subresource) if found.virtual_kind else ()
            question = "/".join(filter(None, words))
            yield Place(method, path, kind.resource.kind, question)
            if verb == "list":
                yield Place(method, f"{path}?watch=true", kind.resource.kind)


def parts_of(kinds: Kinds) -> set[str]:
    """The names of all parts of objects that any kind has, and of some that none should."""
    described = {path.path.rpartition("/")[2] for kind in kinds for path in paths_of(kind)}
    asked = {name for kind in kinds for name in kind.virtual_subresources}
    return {*described, *asked, "finalize", "log", "exec", "proxy", "approval"} - {"{name}"}


def candidates(kind: Kind, parts: Iterable[str]) -> Iterator[str]:
    """Every path at which something of the kind might be."""
    resource = kind.resource
    root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    for watch, within in itertools.product(("", "/watch"), ("", "/namespaces/default")):
        collection = f"{root}{watch}{within}/{resource.plural}"
        yield collection
        yield f"{collection}/some"
        yield from (f"{collection}/some/{part}" for part in sorted(parts))


def _documents(kinds: Kinds) -> Iterator[str]:
    book = documents_of(kinds.members)
    yield from (*book._makers, *book._schemas, "/openapi/v3")


def _health(_: Kinds) -> Iterator[str]:
    yield from (f"/{page}" for page in health._PAGES)
    yield from (f"/{page}/{check}" for page in health._PAGES for check in health._CHECKS)


# The pages of each wing of the site.
WINGS: dict[object, Callable[[Kinds], Iterable[str]]] = {
    Pages.documents: _documents,
    Pages.version: lambda _: ["/version"],
    Pages.health: _health,
    Pages.metrics: lambda _: ["/metrics"],
    Pages.issuer: lambda _: ["/.well-known/openid-configuration", "/openid/v1/jwks"],
}


def page_paths(kinds: Kinds) -> set[str]:
    """Every page of the site."""
    return {path for wing in WINGS.values() for path in wing(kinds)}


def spelled_paths() -> set[str]:
    """Every path in the sources of the HTTP layer."""
    sources = sorted(Path(http.__file__).parent.glob("*.py"))
    trees = [ast.parse(source.read_text()) for source in sources]
    texts = {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {
        text for text in texts if text.startswith("/") and text.isprintable() and " " not in text
    }


@dataclass
class RunningServer:
    """A plane as `compute plane` serves it, and two who knock."""

    plane: Plane
    anonymous: Peer
    weak: Peer
    token: str

    async def unknown(self, place: Place) -> int:
        return await self._ask(self.anonymous, place, "")

    async def known(self, place: Place) -> int:
        return await self._ask(self.weak, place, f"Authorization: Bearer {self.token}\r\n")

    async def _ask(self, peer: Peer, place: Place, credential: str) -> int:
        head = f"{place.method} {place.path} HTTP/1.1\r\nHost: localhost\r\n{credential}"
        body = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        await peer.send(f"{head}{body}".encode())
        return (await peer.reply(bodiless=place.method == "HEAD")).code


def known_to(data: Path) -> str:
    """A token, in a folder that has nothing else yet."""
    data.mkdir(mode=0o700)
    return Tokens(data / "tokens.json", system()).issue(WEAK)


@asynccontextmanager
async def running(data: Path) -> AsyncIterator[RunningServer]:
    token = known_to(data)
    address = ("127.0.0.1", 0)
    async with serving(data, builtins.native(), address, crds.definitions()) as opened:
        context = ssl.create_default_context(cafile=data / "pki" / "ca.crt")
        port = opened.server.port
        async with connected(port, context) as anonymous, connected(port, context) as weak:
            yield RunningServer(opened.plane, anonymous, weak, token)


def inventory(kinds: Kinds) -> list[Place]:
    """Every route: all methods of the pages, and what is served of the objects."""
    paths = sorted(page_paths(kinds))
    return [*served_places(kinds), *(Place(m, path) for path in paths for m in METHODS)]


def is_open(place: Place) -> bool:
    """Whether a user without permissions may."""
    if place.kind:
        return place.question in OPEN_QUESTIONS
    return place.method in ("GET", "HEAD") and _is_in(OPEN_PAGES, place.path)


def _is_in(table: Iterable[str], path: str) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in table)


def run(data: Path, story: Callable[[RunningServer], Awaitable[None]]) -> None:
    async def scenario() -> None:
        async with running(data) as opened:
            await story(opened)

    asyncio.run(scenario())


def test_a3_an_unauthenticated_client_has_no_access(tmp_path: Path) -> None:
    """No route, no method, and no path at all is answered with anything but 401."""

    async def story(server: RunningServer) -> None:
        places = inventory(server.plane.kinds)
        places += [Place(m, path) for path in sorted(spelled_paths()) for m in METHODS]
        places += [Place("GET", path) for path in ("/", "/nowhere", "/clusters/other/api", "//")]
        accepted = [place for place in places if await server.unknown(place) != 401]

        assert accepted == []
        assert len(places) > 1000

    run(tmp_path / "data", story)


def test_a3_a_user_without_roles_may_what_the_table_says(tmp_path: Path) -> None:
    """Everything but the open routes is forbidden."""

    async def story(server: RunningServer) -> None:
        found = {place: await server.known(place) for place in inventory(server.plane.kinds)}
        forbidden = {place for place, code in found.items() if code == 403}

        assert 401 not in found.values()
        assert {place for place in found if not is_open(place)} == forbidden

    run(tmp_path / "data", story)


def test_a3_every_page_is_in_one_of_the_tables(tmp_path: Path) -> None:
    """A new wing of the site, a new page and a new question have to be placed; none is left over."""

    async def story(server: RunningServer) -> None:
        kinds = server.plane.kinds
        unplaced = [
            p for p in page_paths(kinds) if _is_in(OPEN_PAGES, p) == _is_in(CLOSED_PAGES, p)
        ]
        questions = {place.question for place in served_places(kinds)} - {""}

        assert set(pages._PAGES.values()) == set(WINGS)
        assert unplaced == []
        assert questions == {*OPEN_QUESTIONS, *CLOSED_QUESTIONS}

    run(tmp_path / "data", story)


def test_a3_no_page_is_left_out(tmp_path: Path) -> None:
    """What an administrator can read at a path that the sources spell is in the inventory."""

    async def story(server: RunningServer) -> None:
        known = {place.path for place in inventory(server.plane.kinds)}
        server.token = (tmp_path / "data" / "token").read_text().strip()
        read = {p for p in spelled_paths() if await server.known(Place("GET", p)) == 200}
        answered = [
            await server.known(Place("GET", path)) for path in page_paths(server.plane.kinds)
        ]

        assert {path.rstrip("/") for path in read} <= known
        assert {"/metrics", "/version"} <= read
        assert set(answered) == {200}

    run(tmp_path / "data", story)


@pytest.mark.parametrize("method", METHODS)
def test_a3_what_is_left_open_by_a_flag_is_three_pages(tmp_path: Path, method: str) -> None:
    """Health and version, to be read; nothing else, and not with a wrong credential."""
    open_ = {"/livez", "/readyz", "/version"}

    async def story() -> None:
        plane = await open_plane(tmp_path)
        tokens, seams = (
            known_tokens(),
            ServerOptions(site=Pages(), access=RbacCheck(), anonymous_health=True),
        )
        server = Server(("127.0.0.1", 0), None, tokens, environment(), seams)
        server.mount("/", plane)
        await server.start()
        async with connected(server.port) as peer:
            places = [p for p in inventory(plane.kinds) if p.method == method]
            client = RunningServer(plane, peer, peer, "wrong")
            answered = {place.path for place in places if await client.unknown(place) != 401}
            wrong = {await client.known(place) for place in places}
        await server.close()
        await plane.close()

        assert answered == (open_ if method in ("GET", "HEAD") else set())
        assert wrong == {401}

    asyncio.run(story())
