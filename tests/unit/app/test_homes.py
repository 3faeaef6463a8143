"""The planes of a world, where they are served, and the kubeconfig that leads to them."""

import asyncio

import pytest
import yaml

from compute.app.environment import system
from compute.app.front import Front
from compute.app.homes import CORE, HUB, Folders, Home, Homes, database, folder
from compute.app.visitors import Visitors
from compute.plane.plane import Plane
from compute.plane.store.lock import holder

CELL, SHOP = Home("cell", "dfw"), Home("project", "shop")


@pytest.mark.parametrize(
    ("home", "prefix", "context"),
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
def test_each_plane_has_its_path_and_context(home, prefix, context):
    """A project is where the original has it; a cell is beside the hub."""
    assert (home.prefix, home.context) == (prefix, context)


@pytest.mark.parametrize(
    ("home", "serves", "lacks"),
    [
        (CORE, "projects", "workloads"),
        (HUB, "propagationpolicies", "networks"),
        (CELL, "networkbindings", "resourceclaims"),
        (SHOP, "resourceclaims", "propagationpolicies"),
    ],
)
def test_each_plane_serves_the_kinds_of_its_role(home, serves, lacks):
    """What no real plane of that role would know is not there either."""
    plurals = {each["spec"]["names"]["plural"] for each in home.definitions}
    assert serves in plurals
    assert lacks not in plurals


class Heard:
    """Somebody who is told of planes."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def opened(self, home: Home, plane: Plane) -> None:
        self.told.append(("opened", home.name))

    def closing(self, home: Home, plane: Plane) -> None:
        self.told.append(("closing", home.name))


def test_whoever_joins_hears_of_every_plane(tmp_path):
    """Of those that are open at once, of others as they come; the youngest is closed first."""

    async def story() -> list[tuple[str, str]]:
        homes, heard = Homes(Folders(tmp_path, system())), Heard()
        await homes.open(CORE)
        homes.join(heard)
        plane = await homes.open(SHOP)
        assert await homes.open(SHOP) is plane
        assert homes.find(SHOP) is homes[SHOP] is plane
        assert list(homes) == [CORE, SHOP]
        await homes.close()
        assert homes.find(SHOP) is None
        return heard.told

    assert asyncio.run(story()) == [
        ("opened", "core"),
        ("opened", "shop"),
        ("closing", "shop"),
        ("closing", "core"),
    ]


def test_nothing_is_left_of_a_plane_that_is_removed(tmp_path):
    """The folder goes with it; that of its neighbour stays, and its holder is known."""

    async def story() -> None:
        homes = Homes(Folders(tmp_path, system()))
        await homes.open(CORE)
        await homes.open(SHOP)
        assert folder(tmp_path, SHOP).is_dir()
        await homes.remove(SHOP)
        assert not folder(tmp_path, SHOP).exists()
        assert holder(database(tmp_path))
        await homes.close()

    asyncio.run(story())
    assert holder(database(tmp_path)) == ""


def test_the_kubeconfig_follows_the_planes_and_keeps_the_choice_of_its_user(tmp_path):
    """A project comes first until its user says otherwise, or the chosen plane is gone."""

    async def story() -> None:
        environment = system()
        homes = Homes(Folders(tmp_path, environment))
        await homes.open(CORE)
        front = Front(tmp_path, ("127.0.0.1", 0), environment)
        visitors = Visitors(tmp_path, front, homes)
        homes.join(visitors)
        assert not visitors.kubeconfig.exists()
        visitors.begin()
        assert _read(tmp_path)["current-context"] == "core"
        await homes.open(HUB)
        assert list(visitors.contexts) == ["core", "hub"]
        chosen = _read(tmp_path) | {"current-context": "hub"}
        visitors.kubeconfig.write_text(yaml.safe_dump(chosen))
        await homes.open(SHOP)
        assert _read(tmp_path)["current-context"] == "hub"
        assert _servers(tmp_path)["project-shop"] == front.server.url + SHOP.prefix
        visitors.kubeconfig.write_text(yaml.safe_dump(chosen | {"current-context": "gone"}))
        await homes.open(CELL)
        assert _read(tmp_path)["current-context"] == "project-shop"
        await homes.remove(SHOP)
        assert _read(tmp_path)["current-context"] == "core"
        visitors.kubeconfig.write_text("{")
        await homes.open(SHOP)
        assert _read(tmp_path)["current-context"] == "project-shop"
        await homes.close()
        await front.close()

    asyncio.run(story())


def test_the_first_project_is_where_its_user_begins(tmp_path):
    """The core stands in for a project until there is one; chosen by hand, it stays."""

    async def story() -> None:
        environment = system()
        homes = Homes(Folders(tmp_path, environment))
        await homes.open(CORE)
        front = Front(tmp_path, ("127.0.0.1", 0), environment)
        visitors = Visitors(tmp_path, front, homes)
        homes.join(visitors)
        visitors.begin()
        await homes.open(SHOP)
        assert _read(tmp_path)["current-context"] == "project-shop"
        await homes.open(Home("project", "bar"))
        assert _read(tmp_path)["current-context"] == "project-shop"
        chosen = _read(tmp_path) | {"current-context": "core"}
        visitors.kubeconfig.write_text(yaml.safe_dump(chosen))
        await homes.open(CELL)
        assert _read(tmp_path)["current-context"] == "core"
        await homes.close()
        await front.close()

    asyncio.run(story())


def _servers(data):
    return {each["name"]: each["cluster"]["server"] for each in _read(data)["clusters"]}


def _read(data):
    return yaml.safe_load((data / "kubeconfig").read_text())
