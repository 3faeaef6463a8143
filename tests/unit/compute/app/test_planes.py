"""The planes of a world, where they are served, and the kubeconfig that leads to them."""

import asyncio
from contextlib import asynccontextmanager

import pytest
import yaml

from compute.app.planes import CORE, HUB, OpenPlanes, PlaneFolders, PlaneRef, core_directory, folder
from compute.app.system_environment import system
from compute.app.world_kubeconfig import WorldKubeconfig
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.identity.identities import authenticated
from kubekit.plane.plane import Plane
from kubekit.plane.server import PlaneServer
from kubekit.plane.users import User

CELL, SHOP, BAR = PlaneRef("cell", "dfw"), PlaneRef("project", "shop"), PlaneRef("project", "bar")


@pytest.mark.parametrize(
    ("ref", "prefix", "context"),
    [
        (CORE, "/", "core"),
        (HUB, "/clusters/hub", "hub"),
        (CELL, "/clusters/dfw", "cell-dfw"),
        (
            SHOP,
            "/apis/resourcemanager.miloapis.com/v1alpha1/projects/shop/control-plane",
            "project-shop",
        ),
    ],
)
def test_each_plane_has_its_path_and_context(ref, prefix, context):
    """A project is where the original has it; a cell is beside the hub."""
    assert (ref.prefix, ref.context) == (prefix, context)


@pytest.mark.parametrize(
    ("ref", "serves", "lacks"),
    [
        (CORE, "projects", "workloads"),
        (HUB, "propagationpolicies", "networks"),
        (CELL, "networkbindings", "resourceclaims"),
        (SHOP, "resourceclaims", "propagationpolicies"),
    ],
)
def test_each_plane_serves_the_kinds_of_its_role(ref, serves, lacks):
    """What no real plane of that role would know is not there either."""
    plurals = {each["spec"]["names"]["plural"] for each in ref.definitions}
    assert serves in plurals
    assert lacks not in plurals


class Recorded:
    """An observer that records its notifications."""

    def __init__(self) -> None:
        self.notified: list[tuple[str, str]] = []

    def opened(self, ref: PlaneRef, plane: Plane) -> None:
        self.notified.append(("opened", ref.name))

    def closing(self, ref: PlaneRef, plane: Plane) -> None:
        self.notified.append(("closing", ref.name))


def test_an_observer_is_notified_of_every_plane(tmp_path):
    """Of those that are open at once, of others as they come; the youngest is closed first."""

    async def story() -> list[tuple[str, str]]:
        planes, observer = OpenPlanes(PlaneFolders(tmp_path, system())), Recorded()
        await planes.open(CORE)
        planes.join(observer)
        plane = await planes.open(SHOP)
        assert await planes.open(SHOP) is plane
        assert planes.find(SHOP) is planes[SHOP] is plane
        assert list(planes) == [CORE, SHOP]
        await planes.close()
        assert planes.find(SHOP) is None
        return observer.notified

    assert asyncio.run(story()) == [
        ("opened", "core"),
        ("opened", "shop"),
        ("closing", "shop"),
        ("closing", "core"),
    ]


def test_nothing_is_left_of_a_plane_that_is_removed(tmp_path):
    """The folder goes with it; that of its neighbour stays, and its holder is known."""

    async def story() -> None:
        planes = OpenPlanes(PlaneFolders(tmp_path, system()))
        await planes.open(CORE)
        await planes.open(SHOP)
        assert folder(tmp_path, SHOP).is_dir()
        await planes.remove(SHOP)
        assert not folder(tmp_path, SHOP).exists()
        assert core_directory(tmp_path).process()
        await planes.close()

    asyncio.run(story())
    assert core_directory(tmp_path).process() == ""


def test_the_kubeconfig_follows_the_planes_and_keeps_the_choice_of_its_user(tmp_path):
    """The current context is a project, unless the user chooses another one that exists."""

    async def story() -> None:
        environment = system()
        planes = OpenPlanes(PlaneFolders(tmp_path, environment))
        await planes.open(CORE)
        server = PlaneServer(tmp_path, ("127.0.0.1", 0), environment)
        kubeconfig = WorldKubeconfig(tmp_path, server, planes)
        planes.join(kubeconfig)
        assert not kubeconfig.file.exists()
        kubeconfig.start()
        assert _read(tmp_path)["current-context"] == "core"
        await planes.open(HUB)
        assert kubeconfig.contexts == ["core", "hub"]
        chosen = _read(tmp_path) | {"current-context": "hub"}
        kubeconfig.file.write_text(yaml.safe_dump(chosen))
        await planes.open(SHOP)
        assert _read(tmp_path)["current-context"] == "hub"
        assert _servers(tmp_path)["project-shop"] == server.url + SHOP.prefix
        kubeconfig.file.write_text(yaml.safe_dump(chosen | {"current-context": "gone"}))
        await planes.open(CELL)
        assert _read(tmp_path)["current-context"] == "project-shop"
        await planes.remove(SHOP)
        assert _read(tmp_path)["current-context"] == "core"
        kubeconfig.file.write_text("{")
        await planes.open(SHOP)
        assert _read(tmp_path)["current-context"] == "project-shop"
        await planes.close()
        await server.close()

    asyncio.run(story())


def test_the_first_project_becomes_the_current_context(tmp_path):
    """The core stands in for a project until there is one; chosen by hand, it stays."""

    async def story() -> None:
        environment = system()
        planes = OpenPlanes(PlaneFolders(tmp_path, environment))
        await planes.open(CORE)
        server = PlaneServer(tmp_path, ("127.0.0.1", 0), environment)
        kubeconfig = WorldKubeconfig(tmp_path, server, planes)
        planes.join(kubeconfig)
        kubeconfig.start()
        await planes.open(SHOP)
        assert _read(tmp_path)["current-context"] == "project-shop"
        await planes.open(BAR)
        assert _read(tmp_path)["current-context"] == "project-shop"
        chosen = _read(tmp_path) | {"current-context": "core"}
        kubeconfig.file.write_text(yaml.safe_dump(chosen))
        await planes.open(CELL)
        assert _read(tmp_path)["current-context"] == "core"
        await planes.close()
        await server.close()

    asyncio.run(story())


def test_each_project_has_a_user_of_its_own_beside_the_administrator(tmp_path):
    """A token opens one project, but for the administrator's; and the file says which token that is."""

    async def story() -> None:
        async with _served(tmp_path) as (planes, server, kubeconfig):
            await planes.open(SHOP)
            kubeconfig.start()
            assert kubeconfig.contexts == ["core", "project-shop", "admin-project-shop"]
            users = {each["name"]: each["context"]["user"] for each in _read(tmp_path)["contexts"]}
            assert users == {
                "core": "administrator",
                "project-shop": "project-shop",
                "admin-project-shop": "administrator",
            }
            tokens = _tokens(tmp_path)
            assert tokens["administrator"] == server.token
            assert server.tokens.user_of(f"Bearer {tokens['project-shop']}") == SHOP.user
            text = kubeconfig.file.read_text()
            assert 'user "administrator" may do everything in every plane' in text
            assert _servers(tmp_path)["project-shop"] == server.url + SHOP.prefix

    asyncio.run(story())
    secret = folder(tmp_path, SHOP) / "token"
    assert {f.stat().st_mode & 0o077 for f in (secret, tmp_path / "kubeconfig")} == {0}


def test_the_user_of_a_project_has_no_rights_elsewhere(tmp_path):
    """It administers its own plane; others let it ask what every user may, and no more."""

    async def story() -> None:
        planes = OpenPlanes(PlaneFolders(tmp_path, system()))
        own, *others = [await planes.open(ref) for ref in (SHOP, BAR, CORE, HUB, CELL)]
        shop = authenticated(User("project:shop:admin"))
        write = Attributes(verb="create", group="compute.datumapis.com", resource="workloads")
        assert own.access.decide(shop, write).allowed
        read = [Attributes(verb="list", resource=name) for name in ("secrets", "configmaps")]
        for plane in others:
            assert not any(plane.access.decide(shop, each).allowed for each in (write, *read))
            assert plane.access.decide(shop, Attributes(verb="get", path="/apis")).allowed
            assert not plane.access.decide(shop, Attributes(verb="get", path="/metrics")).allowed
        await planes.close()

    asyncio.run(story())


def test_the_token_of_a_project_outlives_a_restart_and_ends_with_the_project(tmp_path):
    """A project of the same name has another one, and the old one is refused in between, too."""

    async def first() -> str:
        async with _served(tmp_path) as (planes, _, kubeconfig):
            await planes.open(SHOP)
            kubeconfig.start()
            kubeconfig.stop()
            return str(_tokens(tmp_path)["project-shop"])

    async def second(token: str) -> None:
        async with _served(tmp_path) as (planes, server, kubeconfig):
            await planes.open(SHOP)
            kubeconfig.start()
            assert _tokens(tmp_path)["project-shop"] == token
            await planes.remove(SHOP)
            assert server.tokens.user_of(f"Bearer {token}") is None
            await planes.open(SHOP)
            assert _tokens(tmp_path)["project-shop"] != token
            assert server.tokens.user_of(f"Bearer {token}") is None

    asyncio.run(second(asyncio.run(first())))


def test_the_token_of_a_project_that_went_before_the_server_listened_is_refused(tmp_path):
    """Its user is not let in, whether or not another project has the name."""

    async def story() -> None:
        async with _served(tmp_path) as (planes, server, kubeconfig):
            await planes.open(SHOP)
            await planes.remove(SHOP)
            assert server.tokens.names() == {"admin", "project:shop:admin"}
            kubeconfig.start()
            assert server.tokens.names() == {"admin"}

    asyncio.run(story())


@asynccontextmanager
async def _served(data):
    """The planes of a world, with the core open, and what lets people in."""
    environment = system()
    planes = OpenPlanes(PlaneFolders(data, environment))
    await planes.open(CORE)
    server = PlaneServer(data, ("127.0.0.1", 0), environment)
    kubeconfig = WorldKubeconfig(data, server, planes)
    planes.join(kubeconfig)
    yield planes, server, kubeconfig
    await planes.close()
    await server.close()


def _tokens(data):
    return {each["name"]: each["user"]["token"] for each in _read(data)["users"]}


def _servers(data):
    return {each["name"]: each["cluster"]["server"] for each in _read(data)["clusters"]}


def _read(data):
    return yaml.safe_load((data / "kubeconfig").read_text())
