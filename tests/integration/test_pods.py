"""A cell that runs its deployments as Pods: the cell's own controllers, the provider, and a kubelet."""

from msgspec.structs import replace

from compute.api.compute import Instance, WorkloadDeployment
from compute.app import roles
from compute.controllers.cell.planes import CellPlanes, CellSettings
from compute.decide.conditions import find, is_true
from compute.decide.deployment.template import template_hash
from kubekit.api.kinds.pods import Pod
from kubekit.api.meta import with_spec
from tests.support.compute.builders import deployment, template
from tests.support.compute.kubelet import Kubelet
from tests.support.compute.pod_builders import pod_cell
from tests.support.compute.pod_kinds import staged_pods
from tests.support.compute.provider_builders import NS
from tests.support.kubekit.stage import Stage

NAME = "web-home-dfw"


async def running(stage: Stage, replicas: int = 3) -> Kubelet:
    """A cell of its own, without networks and quota, in which a deployment serves."""

    async def unreached(_):
        raise AssertionError("there are no projects")

    nodes = await pod_cell(stage)
    planes = CellPlanes(stage.role("cell"), stage.role("hub"), stage.role("project"), unreached)
    settings = CellSettings(name="dfw", networking=False, quota=False)
    stage.start(*roles.isolated_cell(planes, settings, stage.factory))
    await stage.client("dfw").create(deployment(replicas=replicas))
    await served(stage, replicas)
    return nodes


async def served(stage: Stage, replicas: int) -> WorkloadDeployment:
    """The deployment, once all of its Instances are Ready and of its template."""

    def done(found: WorkloadDeployment) -> bool:
        counts = found.status
        is_current = counts.observed_generation == found.metadata.generation
        updated, ready = counts.updated_replicas, counts.ready_replicas
        return is_current and updated == ready == counts.replicas == replicas

    return await stage.named("dfw", WorkloadDeployment, NAME, NS, done, 600.0)


async def deploy(stage: Stage, image: str) -> WorkloadDeployment:
    """The deployment, with another image."""
    client = stage.client("dfw")
    present = await client.get(WorkloadDeployment, NAME, NS)
    return await client.patch(present, with_spec(present, template=template(image)))


async def images(stage: Stage) -> list[str]:
    pods = (await stage.client("dfw").every(Pod, NS)).items
    return sorted(pod.spec.containers[0].image for pod in pods)


def test_a_deployment_is_rolled_out_scaled_and_deleted(tmp_path):
    """One Pod after the other is of the new template, and the last ones go with the deployment."""

    async def story(stage):
        await running(stage)
        await deploy(stage, "web:2")
        done = await served(stage, 3)
        assert await images(stage) == ["web:2"] * 3
        assert is_true(done.status.conditions, "Available")

        scale = replace(done.spec.scale_settings, min_replicas=1)
        await stage.client("dfw").patch(done, with_spec(done, scale_settings=scale))
        await served(stage, 1)
        assert await images(stage) == ["web:2"]

        await stage.client("dfw").delete(
            await stage.client("dfw").get(WorkloadDeployment, NAME, NS)
        )
        await stage.gone("dfw", WorkloadDeployment, NAME, NS)
        assert (await stage.client("dfw").every(Instance, NS)).items == ()
        assert await images(stage) == []

    staged_pods(tmp_path, story)


def test_a_rollout_stops_at_an_image_that_crashes_and_is_repaired(tmp_path):
    """Two Instances keep serving, however often the third runs for a moment."""

    async def story(stage):
        await running(stage)
        broken = await deploy(stage, "crashing:1")

        stuck = await stage.named(
            "dfw", Instance, f"{NAME}-2", NS, lambda i: _reason(i) == "InstanceCrashing"
        )
        assert stuck.status.controller is not None
        wanted = template_hash(broken.spec.template)
        assert stuck.status.controller.observed_template_hash == wanted
        await stage.quiet(1800.0)
        counts = (await stage.client("dfw").get(WorkloadDeployment, NAME, NS)).status
        assert (counts.updated_replicas, counts.ready_replicas, counts.replicas) == (1, 2, 3)

        await deploy(stage, "web:3")
        await served(stage, 3)
        assert await images(stage) == ["web:3"] * 3

    staged_pods(tmp_path, story)


def _reason(instance: Instance) -> str:
    ready = find(instance.status.conditions, "Ready")
    return ready.reason if ready and ready.status != "True" else ""
