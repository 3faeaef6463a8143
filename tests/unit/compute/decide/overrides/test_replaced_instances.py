"""Single Instances that a user asks to replace."""

import json

import pytest

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide import overrides
from compute.decide.overrides import replaced_instances
from kubekit.api.meta import with_metadata
from tests.support.compute.builders import NOW, placement, workload

WEB = workload(
    "web", placement("home", "DFW", "LHR", replicas=2), placement("away", "SIN", max_replicas=3)
)
AT_NOON, A_SECOND_LATER = "2026-06-01T12:00:00Z", "2026-06-01T12:00:01Z"


def noted(text: str) -> Workload:
    return with_metadata(WEB, annotations={annotations.REPLACED_INSTANCES: text})


def requests(present: Workload) -> dict[str, str]:
    found: dict[str, str] = json.loads(present.metadata.annotations[annotations.REPLACED_INSTANCES])
    return found


def test_a_request_is_a_stamp_of_the_instance():
    """Another request for the same Instance has a later stamp; those of others stay."""
    once = overrides.replaced(WEB, ("web-home-dfw-0",), NOW)
    assert requests(once) == {"web-home-dfw-0": AT_NOON}
    again = overrides.replaced(once, ("web-home-dfw-0", "web-away-sin-2"), NOW)
    assert requests(again) == {"web-home-dfw-0": A_SECOND_LATER, "web-away-sin-2": AT_NOON}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("web-home-dfw-0", True),
        ("web-home-lhr-1", True),
        ("web-home-dfw-2", False),
        ("web-away-sin-2", True),
        ("web-away-sin-3", False),
        ("web-away-dfw-0", False),
        ("api-home-dfw-0", False),
        ("web-home-dfw", False),
        ("web-home-dfw-00", False),
        ("", False),
    ],
)
def test_which_instances_can_be_replaced(name, expected):
    """Those of a slot that the spec has, or that it may scale to."""
    assert overrides.can_be_replaced(WEB, name) is expected
    assert bool(overrides.replaced(WEB, (name,), NOW).metadata.annotations) is expected


def test_requests_for_instances_that_are_gone_are_dropped():
    """The annotation does not grow with every Instance that there ever was."""
    present = noted(json.dumps({"web-home-dfw-9": AT_NOON, "web-home-lhr-0": AT_NOON}))
    got = overrides.replaced(present, ("web-home-dfw-0",), NOW)
    assert requests(got) == {"web-home-dfw-0": AT_NOON, "web-home-lhr-0": AT_NOON}


def test_each_deployment_gets_the_requests_for_its_own_instances():
    """So a request in one city changes no deployment of another."""
    present = overrides.replaced(WEB, ("web-home-dfw-1", "web-home-dfw-0", "web-home-lhr-0"), NOW)
    assert replaced_instances.by_deployment(present) == {
        "web-home-dfw": f'{{"web-home-dfw-0":"{AT_NOON}","web-home-dfw-1":"{AT_NOON}"}}',
        "web-home-lhr": f'{{"web-home-lhr-0":"{AT_NOON}"}}',
    }


@pytest.mark.parametrize("text", ["", "{", "[]", '{"web-home-dfw-0":1}', '{"web":"x","-0":"x"}'])
def test_an_unreadable_request_is_ignored(text):
    """It replaces nothing, and stops nothing."""
    assert replaced_instances.by_deployment(noted(text)) == {}
    assert overrides.pruned(noted(text)).metadata.annotations == {}
