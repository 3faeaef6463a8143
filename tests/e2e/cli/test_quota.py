"""`compute quota`, in a project of its own."""

import pytest

from compute.api.compute import Instance
from tests.support.compute.cli_world import has_reason, make_workload, settle
from tests.support.compute.deployed_workloads import until_used
from tests.support.compute.project_objects import kubeconfig_of

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_quota_from_an_empty_project_to_one_that_is_used_up(shop, shop_transcript):
    """The use of each city, and what waits, with what it needs."""
    project = shop.variables["COMPUTE_PROJECT"]
    until_used(shop, 0)
    assert shop_transcript("quota").code == 0
    make_workload(shop.data, project, "web", "DFW", replicas=8)
    until_used(shop, 8)
    assert shop_transcript("quota", "--constrained").code == 0
    make_workload(shop.data, project, "api", "LHR", replicas=3)
    settle(shop.data, project, Instance, has_reason("QuotaExceeded"))
    until_used(shop, 10)

    assert shop_transcript("quota").code == 0
    assert shop_transcript("quota", "--city=lhr", "--constrained", "-o", "json").code == 0
    assert shop_transcript("quota", "--location", "DFW", "-o", "yaml").code == 0
    assert shop_transcript("explain", "instance/api-default-lhr-2").code == 0
    assert shop_transcript("explain", "deployment/api-default-lhr", "-o", "json").code == 0
    assert shop_transcript("explain", "workload/apu").code == 7


def test_a_city_that_is_none_is_a_sentence(transcript):
    """With the nearest; in a city that is known there may just be nothing."""
    assert transcript("quota", "--city=LHX").code == 7
    assert transcript("quota", "--city=XYZW", "-o", "json").code == 7


def test_a_viewer_of_a_project_reads_its_quota(compute, name):
    """Every user of a project may."""
    done = compute("quota", f"--kubeconfig={kubeconfig_of(compute, name)}")

    assert done.code == 0
    assert done.stdout.startswith("RESOURCE    UNIT       LIMIT")
    assert done.stderr == ""
