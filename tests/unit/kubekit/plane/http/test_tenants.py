"""Every path of a server: unauthenticated clients, and users with access to one plane only."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given

from kubekit.client.options import PLAIN_WRITE
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.interfaces import RbacCheck
from kubekit.plane.http.openapi.operations import paths_of
from kubekit.plane.http.pages import Pages
from kubekit.plane.identity.service_accounts import issuer_of
from kubekit.plane.plane import Plane
from kubekit.plane.users import MASTERS, User
from tests.support.kubekit.access_builders import AccessWorld, rule, user
from tests.support.kubekit.http_builders import Peer, Reply
from tests.support.kubekit.identity_builders import MAPS, IdentityWorld, house, new_plane, run

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
PAGES = (
    "/", "/api", "/apis", "/api/v1", "/apis/apps", "/openapi/v2", "/openapi/v3", "/version",
    "/livez", "/livez/ping", "/readyz", "/healthz", "/metrics", "/metrics/slis", "/openid/v1/jwks",
    "/.well-known/openid-configuration", "/debug/pprof", "/logs", "/configz", "/x", "//api",
    "/api%2Fv1", "/%61pi/v1/secrets", "/apis/x/y/z", "/api/v1/namespaces/default/secrets/../x",
)  # fmt: skip
# What every authenticated user may do: discovery, and reviews of its own permissions.
FOR_ALL = ("/api", "/apis", "/openapi", "/version", "/livez", "/readyz", "/healthz")
ABOUT_ONESELF = ("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews")


def inventory(plane: Plane) -> Iterator[tuple[str, str]]:
    """Every method at every path: of each kind and its parts, of pages, and of what is not there."""
    kinds = [path.path for kind in plane.kinds for path in paths_of(kind)]
    named = [path.format(namespace="default", name="a") for path in kinds]
    watched = [path.replace("/v1/", "/v1/watch/", 1) for path in named]
    for path in (*named, *watched, *PAGES):
        yield from ((method, path) for method in METHODS)


async def asked(peer: Peer, method: str, path: str, token: str = "") -> Reply:
    credential = f"Authorization: Bearer {token}\r\n" if token else ""
    await peer.send(f"{method} {path} HTTP/1.1\r\nHost: a\r\n{credential}\r\n".encode())
    return await peer.reply(bodiless=method == "HEAD")


def test_a3_without_credentials_every_path_is_closed(tmp_path):
    """At each path and method, existing or not: the only response is 401."""

    async def story():
        async with house(tmp_path, RbacCheck(), site=Pages()) as here, here.peer() as peer:
            return {(await asked(peer, *path)).code for path in inventory(here.plane)}

    assert run(story()) == {401}


def test_a3_without_rights_only_what_is_for_all_is_open(tmp_path):
    """A route that is open to every user has to be listed here."""

    async def story():
        async with house(tmp_path, RbacCheck(), site=Pages()) as here, here.peer() as peer:
            token = here.tokens.issue(User("weak"))
            return {path: (await asked(peer, *path, token)).code for path in inventory(here.plane)}

    codes = run(story())
    opened = {path for path, code in codes.items() if code not in (403, 404, 405)}
    asking = {path for method, path in opened if method == "POST"}
    assert {path.rpartition("/")[2] for path in asking} == {*ABOUT_ONESELF}
    assert {method for method, _ in opened} == {"GET", "POST"}
    assert opened >= {("GET", path) for path in FOR_ALL if path != "/openapi"}
    pages = {path for method, path in opened if method == "GET"}
    assert all(path.startswith(FOR_ALL) and path.count("/") <= 3 for path in pages)


@asynccontextmanager
async def tenants(here: IdentityWorld) -> AsyncIterator[None]:
    """Two planes of one server, a and b, with objects of these names; bob has rights in a."""
    planes = {}
    for seed, name in enumerate("ab"):
        environment = ExecutionEnvironment(here.clock, Random(seed))
        plane = planes[name] = await new_plane(here.directory / name, environment)
        here.server.mount(f"/clusters/{name}", plane)
        configs = plane.kinds.require("v1", "ConfigMap")
        for number in range(3):
            document = {"metadata": {"name": f"{name}{number}"}}
            await plane.registry.create(configs, "default", document, PLAIN_WRITE)
    await AccessWorld(planes["a"].registry, None).give(user("bob"), rule("*", "configmaps"))  # type: ignore[arg-type]  # it is not called
    try:
        yield
    finally:
        for name, plane in planes.items():
            here.server.unmount(f"/clusters/{name}")
            await plane.close()


async def reply_to(here: IdentityWorld, path: str, who: User) -> Reply:
    async with here.peer() as peer:
        return await asked(peer, "GET", path, here.tokens.issue(who))


BOB = User("bob")
AROUND = (
    f"/clusters/b{MAPS}",
    f"/clusters/b{MAPS}/b0",
    f"/clusters/b{MAPS}?watch=1",
    f"/clusters/a/clusters/b{MAPS}",
    f"/clusters/a/../b{MAPS}",
    f"/clusters/a%2F..%2Fb{MAPS}",
    f"/clusters/a/..%2Fb{MAPS}",
    f"/clusters/%62{MAPS}",
    f"/clusters//b{MAPS}",
    f"/Clusters/b{MAPS}",
    f"//clusters/b{MAPS}",
    f"/clusters/b/{MAPS}",
    "/clusters/a/api/v1/namespaces/..%2F..%2F..%2Fb/configmaps/b0",
)


@pytest.mark.parametrize("path", AROUND)
def test_t1_permissions_in_one_plane_are_none_in_another(tmp_path, path):
    """Whatever way is written around the prefix, the plane that answers asks its own rules."""

    async def story():
        async with house(tmp_path, RbacCheck(), site=Pages()) as here, tenants(here):
            home = await reply_to(here, f"/clusters/a{MAPS}", BOB)
            return home.code, (await reply_to(here, path, BOB)).code

    home, away = run(story())
    assert home == 200
    assert away in (400, 403, 404)


def test_t1_a_continue_token_of_one_plane_reveals_nothing_in_another(tmp_path):
    """A continue token holds a key and a revision, no objects: another plane shows its own."""

    async def story():
        async with house(tmp_path, RbacCheck()) as here, tenants(here):
            root = User("root", (MASTERS,))
            first = await reply_to(here, f"/clusters/a{MAPS}?limit=1", root)
            rest = f"{MAPS}?limit=1&continue={first.document['metadata']['continue']}"
            home = await reply_to(here, f"/clusters/a{rest}", root)
            away = await reply_to(here, f"/clusters/b{rest}", root)
            return home, away, await reply_to(here, f"/clusters/b{rest}", BOB)

    home, away, by_bob = run(story())
    assert [item["metadata"]["name"] for item in home.document["items"]] == ["a1"]
    assert b"a1" not in away.body
    assert b"a2" not in away.body
    assert by_bob.code == 403


SEGMENT = st.text(min_size=1, max_size=5).filter(lambda text: "/" not in text)
PREFIX = st.lists(SEGMENT, max_size=3).map(lambda parts: "/" + "/".join(parts))


@given(PREFIX, PREFIX)
def test_t2_no_two_planes_have_one_issuer(one, other):
    """What a token says of its plane fits no other one."""
    assume(one != other)
    assert issuer_of(one) != issuer_of(other)
