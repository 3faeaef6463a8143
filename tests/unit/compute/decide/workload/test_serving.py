"""Whether a Workload is served as it is asked for."""

from typing import Any

import msgspec
import pytest

from compute.api.compute import WorkloadDeployment
from compute.decide import overrides
from compute.decide.deployment.template import template_hash
from compute.decide.workload import placement as placing, serving
from tests.support.compute.builders import NOW, condition, instance, placement, template, workload
from tests.support.compute.federation_builders import with_meta

READY = condition("Ready")
WEB = workload("web", placement("home", "DFW", "LHR", replicas=2))


def deployments(**counts: int) -> list[WorkloadDeployment]:
    """Those that the Workload asks for, whose cells report that all is well, but for ``counts``."""
    known = dict.fromkeys(
        ("replicas", "desired_replicas", "updated_replicas", "ready_replicas"), 2
    ) | {"observed_generation": 1}
    made = placing.split(WEB, (), {"DFW", "LHR"}, NOW).create
    first, *others = (_with_status(d, known) for d in made)
    return [_with_status(first, counts), *others]


def _with_status(deployment: WorkloadDeployment, counts: dict[str, int]) -> WorkloadDeployment:
    status = msgspec.structs.replace(deployment.status, **counts)
    return msgspec.structs.replace(deployment, status=status)


def _with_spec(deployment: WorkloadDeployment, **changes: object) -> WorkloadDeployment:
    spec = msgspec.structs.replace(deployment.spec, **changes)
    return msgspec.structs.replace(deployment, spec=spec)


def test_it_is_served_when_every_deployment_says_so():
    """All are updated and ready, and none is left over."""
    assert serving.reported(WEB, deployments())


def test_a_workload_without_deployments_is_not_served():
    """Nothing that runs is nothing that works."""
    assert not serving.reported(WEB, [])


@pytest.mark.parametrize(
    "counts",
    [
        {"ready_replicas": 1},
        {"updated_replicas": 1},
        {"replicas": 3},
        {"observed_generation": 0},
        {"replicas": 1, "desired_replicas": 1, "updated_replicas": 1, "ready_replicas": 1},
        {"replicas": 3, "desired_replicas": 3, "updated_replicas": 3, "ready_replicas": 3},
    ],
    ids=["not ready", "not updated", "left over", "unheard", "too few wanted", "too many wanted"],
)
def test_one_that_does_not_say_so_is_enough(counts):
    """Every city must serve, with as many Instances as are asked for."""
    assert not serving.reported(WEB, deployments(**counts))


@pytest.mark.parametrize(
    "changes",
    [
        {"template": template("registry.test/web:2")},
        {"scale_settings": placement(replicas=3).scale_settings},
        {"city_code": "NRT"},
    ],
    ids=["template", "scale", "place"],
)
def test_a_deployment_that_is_asked_for_something_else_says_nothing(changes):
    """It is of another spec."""
    first, other = deployments()
    assert not serving.reported(WEB, [_with_spec(first, **changes), other])


def test_a_city_that_was_restarted_alone_serves():
    """Its template differs from that of the spec by its stamp only."""
    present = overrides.restarted(WEB, ("LHR",), NOW)
    stamped = overrides.template_for(present, "LHR")
    first, other = deployments()
    assert not serving.reported(present, [first, other])
    assert serving.reported(present, [first, _with_spec(other, template=stamped)])


def test_a_city_that_is_pinned_does_not_serve_the_spec():
    """However well it runs: the spec is not what it runs."""
    old = template("registry.test/web:0")
    present = overrides.pinned(WEB, {"LHR": (1, old)})
    first, other = deployments()
    assert not serving.reported(present, [first, _with_spec(other, template=old)])


def test_a_deployment_on_its_way_out_serves_nothing():
    """What it still serves is about to end."""
    first, other = deployments()
    assert not serving.reported(WEB, [with_meta(first, deletion_timestamp=NOW), other])


def test_load_may_ask_for_more_than_the_least():
    """Up to the most."""
    scale = placement(replicas=2, max_replicas=4).scale_settings
    places = (msgspec.structs.replace(WEB.spec.placements[0], scale_settings=scale),)
    elastic = workload("web", *places)
    counts = dict.fromkeys(("replicas", "desired_replicas", "updated_replicas", "ready_replicas"))
    for count, served in ((4, True), (5, False)):
        made = [
            _with_status(_with_spec(d, scale_settings=scale), dict.fromkeys(counts, count))
            for d in deployments()
        ]
        assert serving.reported(elastic, made) is served


def test_an_instance_proves_the_template_it_was_made_from():
    """For the deployment that it belongs to, and only while it is ready."""
    (first, _) = deployments()
    newest = template_hash(first.spec.template)
    proven = serving.proof(first)
    meta: dict[str, Any] = {"name": "web-home-dfw-0", "namespace": "default"}
    assert serving.proofs(instance(0, conditions=(READY,), template_hash=newest, **meta)) == (
        proven,
    )
    assert serving.proofs(instance(0, template_hash=newest, **meta)) == ()
    leaving = instance(0, conditions=(READY,), template_hash=newest, deletion_timestamp=NOW, **meta)
    assert serving.proofs(leaving) == ()
    (other,) = serving.proofs(instance(0, conditions=(READY,), template_hash="old", **meta))
    assert other != proven
