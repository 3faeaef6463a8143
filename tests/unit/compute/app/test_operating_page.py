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
    """What the page says about a ConfigMap, from its heading to the next."""
    match = re.search(rf"^### [^\n]*`{name}`\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    return match[1] if match else ""


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
    """And the page names the namespace of the ConfigMap."""
    text = section(name)
    assert sorted(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == sorted(keys)
    assert f"namespace `{namespace}`" in text


def test_the_services_read_the_namespaces_of_a_world():
    """The namespaces that a world makes are those that its services read."""
    assert {machines.NAMESPACE, faults.NAMESPACE} == {SYSTEM}
    assert planes.PLATFORM == PLATFORM


@pytest.mark.parametrize(
    "key", [annotations.CUT, annotations.APPROVAL, annotations.APPROVAL_MESSAGE]
)
def test_the_annotations_of_operators_are_on_the_page(key):
    """A user without our command line can use any client."""
    assert key in PAGE


def test_defaults_of_machines_are_those_on_the_page():
    """A default that the page promises is the one in force without a ConfigMap."""
    defaults = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", section(machines.NAME), re.MULTILINE))
    written = {
        key: value.strip().strip("`") for key, value in defaults.items() if value.strip() != "none"
    }
    assert machines.parse(written) == machines.MachineSettings()
