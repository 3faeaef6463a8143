"""`compute rollout pause` and `resume`: changes held back in a city, on a running world."""

import json

import pytest

from tests.support.compute.deployed_workloads import BETTER, GOOD, deployed, wait_for_revision

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def web(shop):
    """A Workload that serves in two cities."""
    deployed(shop, "web", "--city=DFW,LHR", f"--image={GOOD}", revision=1)
    return shop


def test_one_city_waits(web, shop_transcript):
    """The other city takes the new image; the status says that this one is paused, and not blocked."""
    assert shop_transcript("rollout", "pause", "web", "--city", "LHR").code == 0
    assert shop_transcript("rollout", "pause", "web", "--city", "LHR").code == 0
    held = web("deploy", "web", f"--image={BETTER}", "--yes")
    assert held.code == 3
    assert "Next:  compute rollout resume web" in held.stderr
    wait_for_revision(web, "web", 2)

    assert shop_transcript("status", "web").code == 0
    assert shop_transcript("rollout", "status", "web", "--no-watch").code == 3
    done = web("rollout", "resume", "web", "--city=LHR", "--wait")
    assert done.code == 0
    assert done.stdout.startswith("workload/web resumed in LHR\n")
    assert shop_transcript("rollout", "resume", "web", "--city", "LHR").code == 0


@pytest.mark.usefixtures("web")
def test_all_cities_wait(shop_transcript):
    """Pausing all includes those that are paused; resuming one leaves the others."""
    assert shop_transcript("rollout", "pause", "web").code == 0
    assert shop_transcript("rollout", "pause", "web", "--city=DFW").code == 0
    assert shop_transcript("rollout", "resume", "web", "--city=DFW").code == 0
    assert shop_transcript("rollout", "promote", "web").code == 0
    assert shop_transcript("rollout", "resume", "web").code == 0


@pytest.mark.usefixtures("web")
def test_mistakes(shop_transcript):
    """Nothing is paused by a typing error."""
    assert shop_transcript("rollout", "pause", "web", "--city", "DWF").code == 2
    assert shop_transcript("rollout", "pause", "wbe").code == 7
    assert shop_transcript("rollout", "resume", "wbe").code == 7
    assert shop_transcript("rollout", "pause", "web", "--city", "").code == 2


def test_the_view_is_the_json(web):
    paused = json.loads(web("rollout", "pause", "web", "--city=LHR", "-o", "json").stdout)
    resumed = json.loads(web("rollout", "resume", "web", "-o", "json").stdout)

    assert (paused["pausedCities"], paused["changedCities"]) == (["LHR"], ["LHR"])
    assert (resumed["pausedCities"], resumed["changedCities"]) == ([], ["LHR"])
