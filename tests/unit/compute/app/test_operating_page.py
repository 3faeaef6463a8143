"""The operators' page names exactly the settings that the code knows."""

import re
from pathlib import Path

import pytest

from compute.api import annotations
from compute.app.planes import PLATFORM, SYSTEM
from compute.decide import entitlement
from compute.providers import settings as machines
from compute.services import entitlements, planes
from compute.services.network import faults

PAGE = (Path(__file__).parents[4] / "docs/operating.md").read_text()


def section(name: str) -> str:
    """What the page says of a ConfigMap, from its heading to the next."""
    found = re.search(rf"^### [^\n]*`{name}`\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


@pytest.mark.parametrize(
    ("name", "namespace", "keys"),
    [
        (machines.NAME, SYSTEM, machines.KEYS),
        (faults.NAME, SYSTEM, faults.KEYS),
        (entitlements.SETTINGS, PLATFORM, entitlement.KEYS),
    ],
    ids=["machines", "networks", "entitlements"],
)
def test_every_key_of_a_configmap_is_on_the_page_and_no_other(name, namespace, keys):
    """And the page says where the ConfigMap is looked for."""
    told = section(name)
    assert sorted(re.findall(r"^\| `(\w+)` \|", told, re.MULTILINE)) == sorted(keys)
    assert f"namespace `{namespace}`" in told


def test_the_services_look_where_a_world_keeps_settings():
    """The namespaces that a world makes are those that its services read."""
    assert {machines.NAMESPACE, faults.NAMESPACE} == {SYSTEM}
    assert planes.PLATFORM == PLATFORM


@pytest.mark.parametrize(
    "key", [annotations.CUT, annotations.APPROVAL, annotations.APPROVAL_MESSAGE]
)
def test_the_annotations_of_operators_are_on_the_page(key):
    """Whoever has no command line of ours can use any client."""
    assert key in PAGE


def test_defaults_of_machines_are_those_on_the_page():
    """A default that the page promises is the one in force without a ConfigMap."""
    told = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", section(machines.NAME), re.MULTILINE))
    written = {
        key: value.strip().strip("`") for key, value in told.items() if value.strip() != "none"
    }
    assert machines.parse(written) == machines.MachineSettings()
