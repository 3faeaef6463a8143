"""A Workload and the networks that its template names."""

import msgspec

from compute.api.compute import Workload, WorkloadDeployment
from compute.api.instance_spec import NetworkInterface, NetworkRef
from compute.api.networking import Network
from kubekit.plane.registry.kinds import Kinds
from tests.support.compute.builders import placement, template
from tests.support.compute.workload_builders import (
    BOTH,
    PROJECT,
    availability,
    available,
    binding,
    changed,
    deployment_names,
    fresh,
    network,
    reports,
    run_story,
)
from tests.support.kubekit import stage as stages
from tests.support.kubekit.stage import Stage


def on(*networks: str, image: str = "registry.test/web:1"):
    """A template with an interface on each of these; a slash is after a namespace."""
    refs = [NetworkRef(name=n.rpartition("/")[2], namespace=n.rpartition("/")[0]) for n in networks]
    interfaces = tuple(NetworkInterface(network=ref) for ref in refs)
    made = template(image)
    spec = msgspec.structs.replace(made.spec, network_interfaces=interfaces)
    return msgspec.structs.replace(made, spec=spec)


def test_nothing_is_placed_before_its_networks_exist(tmp_path):
    """The missing ones are reported, and the Workload continues when they exist."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH, template=on("default", "back")))
        seen = await stage.seen(PROJECT, made, lambda w: w.status.conditions)
        assert availability(seen)[:2] == ("False", "NetworkNotFound")
        assert "networks not found: back" in availability(seen)[2]
        assert await deployment_names(stage) == []
        await stage.rest()
        await stage.client(PROJECT).create(network("back"))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2, seconds=0.1)

    run_story(tmp_path, story)


def test_w3_missing_networks_are_named_in_order(tmp_path):
    """So that the message is the same in every reconcile pass."""

    async def story(stage: Stage) -> None:
        missing = on("zeta", "default", "alpha", "zeta", "attic/alpha")
        made = await stage.client(PROJECT).create(fresh(BOTH, template=missing))
        seen = await stage.seen(PROJECT, made, lambda w: w.status.conditions)
        assert "networks not found: alpha, attic/alpha, zeta (" in availability(seen)[2]

    run_story(tmp_path, story)


def test_w2_a_workload_continues_without_a_network_that_vanished(tmp_path):
    """What runs is still available, is still counted, and the loss is reported beside it."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        await reports(stage, "web-home-dfw", ready=2)
        await reports(stage, "web-home-lhr", ready=2)
        await stage.client(PROJECT).delete(await stage.seen(PROJECT, network()))
        seen = await stage.seen(PROJECT, made, lambda w: "not found" in availability(w)[2])
        assert availability(seen)[:2] == ("True", "AvailablePlacementFound")
        await reports(stage, "web-home-dfw", ready=1)
        seen = await stage.seen(PROJECT, made, lambda w: w.status.ready_replicas == 3)
        assert available(seen)
        assert {c.observed_generation for c in seen.status.conditions} == {1}
        assert await deployment_names(stage) == ["web-home-dfw", "web-home-lhr"]

    run_story(tmp_path, story)


def test_a_template_on_a_missing_network_is_held_back(tmp_path):
    """Instances of it could not start; scaling and removed placements are still applied."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        spec = {"template": on("back"), "placements": [placement("home", "DFW", replicas=5)]}
        await changed(stage, Workload, "web", {"spec": spec})
        got = await stage.named(
            PROJECT,
            WorkloadDeployment,
            "web-home-dfw",
            true=lambda d: d.spec.scale_settings.min_replicas == 5,
        )
        assert got.spec.template == fresh().spec.template
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 1)
        await stage.client(PROJECT).create(network("back"))
        await stage.named(
            PROJECT,
            WorkloadDeployment,
            "web-home-dfw",
            true=lambda d: d.spec.template == on("back"),
        )

    run_story(tmp_path, story)


def test_w4_without_networking_networks_are_not_read(tmp_path):
    """There is no controller that creates any."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH, template=on("nowhere")))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        assert Network not in [i.kind for i in stage.role("projects").sole().informers]

    run_story(tmp_path, story, networking=False)


def test_w4_a_project_that_does_not_serve_networks_lacks_none(tmp_path, monkeypatch):
    """A kind that is not served stops nothing."""
    kinds = Kinds(tuple(k for k in stages.every_kind() if k.resource.kind != "Network"))
    monkeypatch.setattr(stages, "every_kind", lambda: kinds)

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)

    run_story(tmp_path, story, neighbours=[binding("DFW"), binding("LHR")])
