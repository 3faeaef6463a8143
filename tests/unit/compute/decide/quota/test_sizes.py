"""What an Instance costs."""

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api.instance_spec import (
    Container,
    InstanceResources,
    InstanceSpec,
    Sandbox,
    VirtualMachine,
    VolumeAttachment,
)
from compute.decide.quota import INSTANCE_TYPES, Size, size
from kubekit.api.kinds.pods import ResourceRequirements
from tests.support.compute.builders import instance_spec

CATALOG = Size(1000, 2048)


def spec(*limits, requests=None, kind="datumcloud/d1-standard-2") -> InstanceSpec:
    """A sandbox with one container for each of ``limits``; None is a container without any."""
    containers = tuple(
        Container(
            name=f"c{at}",
            image="registry.test/web:1",
            resources=None if limit is None else ResourceRequirements(limits=limit),
        )
        for at, limit in enumerate(limits)
    )
    plain = instance_spec()
    runtime = msgspec.structs.replace(
        plain.runtime,
        resources=InstanceResources(instance_type=kind, requests=requests or {}),
        sandbox=Sandbox(containers=containers),
    )
    return msgspec.structs.replace(plain, runtime=runtime)


FULL = {"cpu": "500m", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("given_spec", "expected"),
    [
        pytest.param(spec(None), CATALOG, id="the catalog when nothing is stated"),
        pytest.param(spec(FULL), Size(500, 1024), id="limits of the only container"),
        pytest.param(spec(FULL, FULL), Size(1000, 2048), id="limits of all containers, summed"),
        pytest.param(spec(FULL, None), CATALOG, id="one container without limits spoils the sum"),
        pytest.param(spec(FULL, {"cpu": 1}), CATALOG, id="half a size is none"),
        pytest.param(spec({"cpu": 2, "memory": 2**30}), Size(2000, 1024), id="plain numbers"),
        pytest.param(
            spec(FULL, requests={"cpu": "9", "memory": "9Gi"}),
            Size(500, 1024),
            id="limits before requests",
        ),
        pytest.param(spec(None, requests=FULL), Size(500, 1024), id="the instance's own requests"),
        pytest.param(spec(None, requests={"cpu": "9"}), CATALOG, id="half a request is none"),
        pytest.param(spec(), CATALOG, id="no container has no limits"),
        pytest.param(spec({"cpu": "a lot", "memory": "1Gi"}), CATALOG, id="nonsense is not a size"),
        pytest.param(spec(None, kind="datumcloud/other"), None, id="an unknown type has no size"),
        pytest.param(spec({"cpu": "0.0001", "memory": "1Mi"}), Size(1, 1), id="cpu rounds up"),
        pytest.param(
            spec({"cpu": "1", "memory": "2047Ki"}), Size(1000, 1), id="memory rounds down"
        ),
        pytest.param(
            spec({"cpu": "1", "memory": "1023Ki"}), Size(1000, 0), id="less than one mebibyte"
        ),
    ],
)
def test_the_size_comes_from_the_first_source_that_has_all_of_it(given_spec, expected):
    """Limits, then requests, then the catalog; each only if it is complete."""
    assert size(given_spec) == expected


def test_a_machine_is_sized_by_its_type():
    """A virtual machine has no containers to ask."""
    plain = instance_spec()
    machine = VirtualMachine(volume_attachments=(VolumeAttachment(name="root"),))
    runtime = msgspec.structs.replace(plain.runtime, sandbox=None, virtual_machine=machine)

    assert size(msgspec.structs.replace(plain, runtime=runtime)) == CATALOG


def test_the_catalog_holds_the_one_type_that_is_offered():
    """The type is as large as the quota service and the provider believe it to be."""
    assert dict(INSTANCE_TYPES) == {"datumcloud/d1-standard-2": CATALOG}


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=5))
def test_sums_are_exact(micros):
    """Adding first and rounding once never charges more than one millicore too much."""
    limits = [{"cpu": f"{m}u", "memory": f"{m}Ki"} for m in micros]
    total = sum(micros)

    assert size(spec(*limits)) == Size(-(-total // 1000), total // 1024)
