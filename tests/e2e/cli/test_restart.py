"""`compute restart`: new instances of the same template, on a running world."""

import json

import pytest

from compute.api import labels
from compute.api.compute import Instance
from kubekit.client.options import ListOptions
from tests.support.compute.cli_world import in_plane
from tests.support.compute.deployed_workloads import GOOD, deployed

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def web(shop):
    """A Workload that serves in two cities."""
    deployed(shop, "web", "--city=DFW,LHR", f"--image={GOOD}", revision=1)
    return shop


def hashes(shop, workload: str = "web") -> dict[str, str]:
    """The template of each instance."""
    chosen = ListOptions(label_selector=f"{labels.WORKLOAD_NAME}={workload}")

    async def read(client) -> dict[str, str]:
        found = (await client.every(Instance, "default", chosen)).items
        return {i.metadata.name: i.spec.controller.template_hash for i in found}

    return in_plane(shop.data, f"project-{shop.variables['COMPUTE_PROJECT']}", read)


def test_one_city_is_restarted(shop, shop_transcript):
    """The instances of the other city stay, and so does the revision."""
    deployed(shop, "twin", "--city=DFW,LHR", f"--image={GOOD}", revision=1)
    before = hashes(shop, "twin")
    done = shop("restart", "twin", "--city", "LHR")
    after = hashes(shop, "twin")

    assert done.code == 0
    assert done.stdout.startswith("workload/twin restarted in LHR\n")
    assert {name for name in before if before[name] != after[name]} == {"twin-default-lhr-0"}
    assert shop_transcript("rollout", "history", "twin").code == 0


def test_everything_is_restarted(web, shop_transcript):
    """It is a revision; a script gets the name alone."""
    before = hashes(web)

    assert shop_transcript("restart", "web", "-o", "name").code == 0
    assert not set(before.values()) & set(hashes(web).values())
    assert shop_transcript("rollout", "restart", "web", "--no-wait").code == 0


def test_one_instance_is_replaced(web):
    """It comes back ready, of the same template."""
    assert web("rollout", "status", "web").code == 0
    before = hashes(web)
    done = web("restart", "web", "--instance", "web-default-dfw-0")

    assert done.code == 0
    assert done.stdout == "instance/web-default-dfw-0 is being replaced\n"
    assert done.stderr.splitlines()[-1].endswith("   web-default-dfw-0   Available")
    assert hashes(web) == before


def test_a_paused_city_waits(web, shop_transcript):
    """The restart is noted there, and continues when the city is resumed."""
    assert web("rollout", "pause", "web", "--city=DFW").code == 0

    assert shop_transcript("restart", "web", "--city=DFW", "--no-wait").code == 0
    assert web("rollout", "resume", "web", "--wait").code == 0


@pytest.mark.usefixtures("web")
def test_mistakes(shop_transcript):
    """Near names are suggested."""
    assert shop_transcript("restart", "web", "--city", "LRH").code == 2
    assert shop_transcript("restart", "web", "--instance", "web-default-lhr-9").code == 7
    assert shop_transcript("restart", "web", "--instance", "other").code == 7
    both = ("--city=LHR", "--instance=web-default-lhr-0")
    assert shop_transcript("restart", "web", *both).code == 2
    assert shop_transcript("restart", "wbe").code == 7


def test_the_view_is_the_json(web):
    view = json.loads(web("restart", "web", "--city=LHR", "-o", "json").stdout)

    assert (view["name"], view["cities"], view["pausedCities"]) == ("web", ["LHR"], [])
