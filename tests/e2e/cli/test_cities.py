"""`compute cities` and `compute instance-types`, in a project of its own."""

import pytest

from compute.api.compute import Instance
from compute.decide.deployment.slots import is_ready
from tests.support.compute.cli_world import make_workload, settle

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_cities_and_what_runs_there(shop, shop_transcript):
    """The list, one city by code and one by name, and the names for other commands."""
    project = shop.variables["COMPUTE_PROJECT"]
    make_workload(shop.data, project, "web", "DFW", "LHR", replicas=2)
    settle(shop.data, project, Instance, lambda found: sum(map(is_ready, found)) == 4)

    assert shop_transcript("cities").code == 0
    assert shop_transcript("locations", "list", "-o", "name").code == 0
    assert shop_transcript("cities", "describe", "dfw").code == 0
    assert shop_transcript("cities", "describe", "Singapore", "-o", "json").code == 0


@pytest.mark.parametrize("code", ["SYD", "LHX", "Lodnon", "qqqq"])
def test_a_city_that_cannot_be_used_is_a_sentence(shop_transcript, code):
    """A city that is not offered, and words that are none, with the nearest."""
    assert shop_transcript("cities", "describe", code).code == 7


def test_all_cities_are_listed_on_request(shop):
    """Each that is not offered says so."""
    done = shop("cities", "list", "--all")

    assert done.code == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert "It is not offered to the project." in lines["SYD"]
    assert lines["DFW"].endswith("-")


def test_instance_types(shop_transcript):
    """The list, and one by a spelling of the original."""
    assert shop_transcript("instance-types").code == 0
    assert shop_transcript("instance-types", "-o", "name").code == 0
    assert shop_transcript("instance-types", "describe", "datumcloud-d1-standard-2").code == 0
    assert shop_transcript("instance-types", "describe", "d1-standard-4").code == 7


def test_instance_types_without_a_server(transcript):
    """The sizes are known all the same."""
    assert transcript("instance-types", COMPUTE_DATA="nowhere").code == 0
