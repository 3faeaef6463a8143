"""Workloads with quota on machines that are Pods, from creation to repair."""

import pytest
from msgspec.structs import replace

from compute.api import names
from compute.api.compute import Instance, Workload
from compute.api.instance_spec import Container, NamedPort, Sandbox
from compute.api.quota import ResourceClaim
from kubekit.api.kinds.pods import Pod, Service
from kubekit.api.meta import ObjectMeta
from tests.e2e.federation.real_stage import MANY, PlatformStage
from tests.peers.stack.assembly import PROJECT
from tests.support.compute import builders
from tests.support.compute.user_stage import is_ready, reason_of, with_image, with_replicas

pytestmark = [pytest.mark.stack, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]


async def pods(stage: PlatformStage, city: str = "DFW") -> dict[str, Pod]:
    """The Pods in the cell of a city, by name."""
    listed = await stage.client(city.lower()).every(Pod, await stage.hub_namespace())
    return {each.metadata.name: each for each in listed.items}


def test_a_workload_is_ready_when_its_pods_are(play):
    """Each Instance is a Pod of its name that runs on a node; they go with the Workload."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy(cities=("DFW", "LHR"), replicas=2)
        for city in ("DFW", "LHR"):
            found = await pods(stage, city)
            assert set(found) == set(await stage.machines(city))
            assert {pod.status.phase for pod in found.values()} == {"Running"}
            assert all(pod.spec.node_name for pod in found.values())
        await stage.user.delete(await stage.user.get(Workload, "web", stage.namespace))
        await stage.gone(PROJECT, Workload, "web", stage.namespace)
        assert await pods(stage) == {}

    play(story)


def test_a_port_is_a_service(play):
    """The Instance's name is that of its Service, with the ports that its containers name."""

    async def story(stage: PlatformStage) -> None:
        wanted = builders.workload("web", builders.placement("home", "DFW"))
        inner = builders.instance_spec()
        port = NamedPort(name="http", port=8080)
        container = Container(name="app", image="registry.test/web:1", ports=(port,))
        runtime = replace(inner.runtime, sandbox=Sandbox(containers=(container,)))
        template = replace(wanted.spec.template, spec=replace(inner, runtime=runtime))
        metadata = ObjectMeta(name="web", namespace=stage.namespace)
        spec = replace(wanted.spec, template=template)
        await stage.user.create(replace(wanted, metadata=metadata, spec=spec))
        await stage.served("web")
        space = await stage.hub_namespace()
        service = await stage.named("dfw", Service, "web-home-dfw-0", space)
        assert [(port.name, port.port) for port in service.spec.ports] == [("http", 8080)]

    play(story)


def test_a_bad_image_is_reported_and_repaired(play):
    """The user reads why; a new image is all that is needed."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy()
        await stage.edit("web", with_image("registry.test/does-not-exist:1"))
        await stage.named(
            PROJECT,
            Instance,
            "web-home-dfw-0",
            stage.namespace,
            lambda i: reason_of(i, "Ready") == "ImageUnavailable",
        )
        await stage.edit("web", with_image("registry.test/web:3"))
        await stage.served("web")
        ((_, pod),) = (await pods(stage)).items()
        assert pod.spec.containers[0].image == "registry.test/web:3"

    play(story)


def test_a_restart_replaces_pods_and_a_change_of_scale_does_not(play):
    """What runs and is wanted is left alone."""

    async def story(stage: PlatformStage) -> None:
        await stage.deploy()
        first = {name: pod.metadata.uid for name, pod in (await pods(stage)).items()}
        await stage.edit("web", with_replicas(2))
        await stage.served("web")
        second = {name: pod.metadata.uid for name, pod in (await pods(stage)).items()}
        assert first.items() <= second.items()
        await stage.edit("web", with_image("registry.test/web:2"))
        await stage.served("web")
        third = {pod.metadata.uid for pod in (await pods(stage)).values()}
        assert len(third) == 2
        assert not third & set(second.values())

    play(story)


def test_quota_that_is_denied_and_then_freed(play):
    """What the quota does not allow waits, says so, and runs once another Workload is gone."""

    async def story(stage: PlatformStage) -> None:
        await stage.limit(1)
        try:
            await stage.deploy("one")
            await stage.create("two", ("LHR",))
            blocked = await stage.named(
                PROJECT,
                Instance,
                "two-home-lhr-0",
                stage.namespace,
                lambda i: reason_of(i, "QuotaGranted") == "QuotaExceeded",
            )
            assert not is_ready(blocked)
            assert reason_of(blocked, "Ready") == "PendingQuota"
            await stage.user.delete(await stage.user.get(Workload, "one", stage.namespace))
            await stage.served("two")
            claims = (await stage.user.every(ResourceClaim, stage.namespace)).items
            assert [c.metadata.name for c in claims] == [names.claim("two-home-lhr-0")]
        finally:
            await stage.limit(MANY)

    play(story)
