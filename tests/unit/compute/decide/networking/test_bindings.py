"""Which binding an interface of an Instance runs on."""

from typing import Any

import msgspec
import pytest

from compute.api.compute import Instance
from compute.api.instance_spec import LocationRef, NetworkInterface, NetworkRef
from compute.api.networking import NetworkBinding, NetworkBindingSpec
from compute.decide.networking.bindings import binding_of, deployment_of
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import NOW, instance


def on(*networks: str, at: str | None = "lab") -> Instance:
    interfaces = tuple(NetworkInterface(network=NetworkRef(name=name)) for name in networks)
    made = instance()
    location = LocationRef(name=at) if at else None
    spec = msgspec.structs.replace(made.spec, network_interfaces=interfaces, location=location)
    return msgspec.structs.replace(made, spec=spec)


def binding(number: int, network: str, at: str = "lab", **meta: Any) -> NetworkBinding:
    metadata = ObjectMeta(name=f"web-home-dfw-net-{number}", namespace="ns-1", **meta)
    spec = NetworkBindingSpec(location=LocationRef(name=at), network=NetworkRef(name=network))
    return NetworkBinding(metadata=metadata, spec=spec)


OLD, NEW = binding(0, "old"), binding(1, "new")


@pytest.mark.parametrize(
    ("networks", "interface", "expected"),
    [
        (["old"], 0, OLD),
        (["new"], 0, NEW),
        (["new", "old"], 0, NEW),
        (["new", "old"], 1, OLD),
        (["new", "new"], 1, NEW),
        (["other"], 0, None),
    ],
)
def test_a_binding_is_matched_by_its_network_and_not_by_its_number(networks, interface, expected):
    """The number may be that of a binding which Instances of the old template run on."""
    assert binding_of(on(*networks), interface, [OLD, NEW]) == expected


def test_a_binding_is_of_the_location_that_the_instance_is_at():
    """An Instance that names no Location takes what there is."""
    elsewhere, here = binding(0, "new", at="old-lab"), binding(1, "new")
    assert binding_of(on("new"), 0, [elsewhere, here]) == here
    assert binding_of(on("new", at="old-lab"), 0, [elsewhere, here]) == elsewhere
    assert binding_of(on("new", at=None), 0, [elsewhere, here]) == elsewhere


def test_a_binding_that_is_to_go_is_the_last_choice():
    """It serves while there is no other."""
    going = binding(0, "new", deletion_timestamp=NOW)
    assert binding_of(on("new"), 0, [going, NEW]) == NEW
    assert binding_of(on("new"), 0, [going]) == going


@pytest.mark.parametrize(
    ("name", "deployment"), [("web-home-dfw-net-3", "web-home-dfw"), ("strange", "")]
)
def test_the_deployment_of_a_binding_is_in_its_name(name, deployment):
    """A binding with another kind of name belongs to none."""
    made = binding(0, "new")
    named = msgspec.structs.replace(made, metadata=ObjectMeta(name=name, namespace="ns-1"))
    assert deployment_of(named) == deployment
