"""`compute scale`: other numbers of instances, on a running world."""

import json

import pytest

from tests.support.compute.deployed_workloads import GOOD, deployed, until_used

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def spread(shop):
    """A Workload with two placements: DFW and LHR, and SIN."""
    deployed(shop, "web", "--city=DFW,LHR", f"--image={GOOD}", revision=1)
    deployed(shop, "web", "--placement=far", "--city=SIN", revision=2)
    return shop


@pytest.fixture
def web(spread):
    """The same with one instance in each city, whatever an earlier test made of it."""
    done = spread("scale", "web", "--min=1", "--max=0", "--yes", "--wait")
    assert done.code == 0, done
    until_used(spread, 3)
    return spread


def test_before_and_after_in_each_city(web, shop_transcript):
    """All placements, then one by its name and one by its cities; the same again changes nothing."""
    assert shop_transcript("scale", "web", "--min", "2").code == 0
    assert shop_transcript("scale", "web", "--placement", "far", "--min", "1").code == 0
    assert shop_transcript("scale", "web", "--city", "LHR,DFW", "--min=1").code == 0
    assert shop_transcript("scale", "web", "--min=1").code == 0
    done = web("scale", "web", "--min=2", "--placement=far", "--wait")
    assert done.code == 0
    assert "Rollout complete in " in done.stderr


@pytest.mark.usefixtures("web")
def test_scaling_by_load(shop_transcript):
    """With a maximum the number follows the load, until the maximum is 0."""
    load = ("--min=1", "--max=3", "--cpu-percent=70")
    assert shop_transcript("scale", "web", "--placement=far", *load).code == 0
    assert shop_transcript("scale", "web", "--placement=far", "--max=0").code == 0


@pytest.mark.usefixtures("web")
def test_mistakes(shop_transcript):
    """Each names the flag, and what to give in its place. Nothing is changed."""
    assert shop_transcript("scale", "web").code == 2
    assert shop_transcript("scale", "web", "--min", "0").code == 2
    assert shop_transcript("scale", "web", "--min", "three").code == 2
    assert shop_transcript("scale", "web", "--max", "5").code == 2
    assert shop_transcript("scale", "web", "--min=5", "--max=3", "--cpu-percent=70").code == 2
    assert shop_transcript("scale", "web", "--memory-percent", "70").code == 2
    assert shop_transcript("scale", "web", "--placement", "fra", "--min", "2").code == 2
    assert shop_transcript("scale", "web", "--city", "DFW", "--min", "2").code == 2
    assert shop_transcript("scale", "web", "--city", "DWF", "--min", "2").code == 2
    assert shop_transcript("scale", "wbe", "--min", "2").code == 7


@pytest.mark.usefixtures("web")
def test_too_little_quota(shop_transcript):
    """It says what fits. Without a terminal nothing is changed, unless -y says so."""
    assert shop_transcript("scale", "web", "--min", "30").code == 6
    assert shop_transcript("scale", "web", "--min", "30", "-o", "json").code == 6


def test_a_person_is_asked(web):
    """No is the default where the quota is too small, and yes where it is not."""
    with web.terminal("scale", "web", "--min", "30") as terminal:
        screen = terminal.until(r"^Some instances will wait for quota\. Scale\? \[y/N\]:")
        terminal.type("\n")
        assert terminal.ended() == 0
    assert "The quota is too small: needs 87 more instances" in screen
    assert terminal.text().endswith("Aborted: nothing was changed.")

    with web.terminal("scale", "web", "--min", "2", "--placement", "default") as terminal:
        terminal.until(r"^Scale\? \[Y/n\]:")
        terminal.type("y\n")
        assert terminal.ended() == 0
    assert "workload/web scaled" in terminal.text()


def test_the_view_is_the_json(web):
    done = web("scale", "web", "--placement=far", "--max=2", "--cpu-percent=50", "-o", "json")
    view = json.loads(done.stdout)
    far = next(city for city in view["cities"] if city["placement"] == "far")

    assert view["written"]
    assert (far["after"]["maximum"], far["after"]["cpuPercent"]) == (2, 50)
