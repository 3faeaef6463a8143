"""The stack itself, without a controller of ours: what Karmada does with our kinds."""

import json
import signal

import msgspec
import pytest

from compute.api import labels, names
from compute.api.compute import WorkloadDeployment, WorkloadDeploymentStatus
from compute.api.karmada import (
    ClusterAffinity,
    ClusterPlacement,
    MemberCluster,
    PropagationPolicy,
    PropagationSpec,
    ResourceSelector,
)
from compute.decide.conditions import status_of
from kubekit.api.errors import Conflict, Forbidden
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.kinds.pods import Pod
from kubekit.api.meta import LabelSelector, ObjectMeta
from tests.e2e.federation.real_stage import RealStage
from tests.support.compute import builders

pytestmark = [pytest.mark.stack, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]

CITY = {labels.TOPOLOGY_CITY_CODE: "DFW"}
UNPROPAGATED = {labels.SKIP_PROPAGATION: "true"}


def policy(namespace: str) -> PropagationPolicy:
    """Deployments of the city, to the cells of the city."""
    resource = WorkloadDeployment.RESOURCE
    selector = ResourceSelector(
        api_version=resource.api_version,
        kind=resource.kind,
        label_selector=LabelSelector(match_labels=CITY),
    )
    affinity = ClusterAffinity(label_selector=LabelSelector(match_labels=CITY))
    spec = PropagationSpec(
        resource_selectors=(selector,), placement=ClusterPlacement(cluster_affinity=affinity)
    )
    metadata = ObjectMeta(name=names.policy("DFW"), namespace=namespace)
    return PropagationPolicy(metadata=metadata, spec=spec)


async def propagate(stage: RealStage) -> WorkloadDeployment:
    """A deployment on the hub whose copy is in its cell."""
    hub = stage.client("hub")
    await hub.create(Namespace(metadata=ObjectMeta(name=stage.namespace)))
    made = builders.deployment(name="web", namespace=stage.namespace, uid="", generation=0)
    labelled = msgspec.structs.replace(made.metadata, labels=CITY)
    await hub.create(msgspec.structs.replace(made, metadata=labelled))
    await hub.create(policy(stage.namespace))
    return await stage.named("dfw", WorkloadDeployment, "web", stage.namespace)


async def report(stage: RealStage, replicas: int) -> None:
    """Write a status as the cell does."""
    cell = stage.client("dfw")

    async def written() -> bool:
        copy = await cell.get(WorkloadDeployment, "web", stage.namespace)
        status = WorkloadDeploymentStatus(
            observed_generation=copy.metadata.generation, replicas=replicas
        )
        try:
            await cell.patch_status(copy, msgspec.structs.replace(copy, status=status))
        except Conflict:  # Karmada labels its copies a moment after it has made them
            return False
        return True

    await stage.until(written, what="the status of a cell")


def test_cells_are_members_of_the_hub(on_stack):
    """Each is ready, and says which city it serves."""

    async def story(stage: RealStage) -> None:
        clusters = (await stage.client("hub").every(MemberCluster)).items
        cities = {c.metadata.name: c.metadata.labels[labels.TOPOLOGY_CITY_CODE] for c in clusters}
        assert cities == {cell: cell.upper() for cell in stage.stack.cells}
        assert {status_of(c.status.conditions, "Ready") for c in clusters} == {"True"}

    on_stack(story)


def test_a_deployment_goes_to_the_cell_of_its_city(on_stack):
    """To no other; its status comes back through the interpreter; its deletion follows."""

    async def story(stage: RealStage) -> None:
        await propagate(stage)
        others = [cell for cell in stage.stack.cells if cell != "dfw"]
        assert [
            await stage.client(cell).find(WorkloadDeployment, "web", stage.namespace)
            for cell in others
        ] == [None] * len(others)

        await report(stage, 3)
        seen = await stage.named(
            "hub", WorkloadDeployment, "web", stage.namespace, lambda d: d.status.replicas == 3
        )
        assert seen.status.observed_generation == seen.metadata.generation

        await stage.client("hub").delete(seen)
        await stage.gone("dfw", WorkloadDeployment, "web", stage.namespace)

    on_stack(story)


def test_namespaces_of_the_hub_are_in_every_cell(on_stack):
    """Unless the hub is asked not to send one from its creation on."""

    async def story(stage: RealStage) -> None:
        hub, kept = stage.client("hub"), f"{stage.namespace}-kept"
        await hub.create(Namespace(metadata=ObjectMeta(name=kept, labels=UNPROPAGATED)))
        await hub.create(Namespace(metadata=ObjectMeta(name=stage.namespace)))
        for cell in stage.stack.cells:
            await stage.named(cell, Namespace, stage.namespace, "")
            assert await stage.client(cell).find(Namespace, kept) is None

    on_stack(story)


def test_a_pod_of_a_cell_runs(on_stack):
    """The scheduler binds it, kwok plays the kubelet; an image that is missing keeps it waiting."""

    async def story(stage: RealStage) -> None:
        cell = stage.client("dfw")
        await cell.create(Namespace(metadata=ObjectMeta(name=stage.namespace)))
        async with stage.stack.admin("dfw") as admin:
            for name in ("present", "does-not-exist"):
                container = {"name": "web", "image": f"registry.test/{name}:1"}
                path = f"/api/v1/namespaces/{stage.namespace}/pods"
                metadata = {"name": name}
                await admin.create(
                    path, {"metadata": metadata, "spec": {"containers": [container]}}
                )
        await stage.named(
            "dfw", Pod, "present", stage.namespace, lambda p: p.status.phase == "Running"
        )
        missing = await stage.named(
            "dfw", Pod, "does-not-exist", stage.namespace, lambda p: p.status.container_statuses
        )
        (shown,) = missing.status.container_statuses
        assert shown.state.waiting is not None
        assert shown.state.waiting.reason == "ImagePullBackOff"
        for name in ("present", "does-not-exist"):
            await cell.delete(await cell.get(Pod, name, stage.namespace))
            await stage.gone("dfw", Pod, name, stage.namespace)

    on_stack(story)


def test_a_service_account_has_the_rights_it_was_given(on_stack, tmp_path):
    """A token is for one plane; what it asks for is in the audit log, with what was refused."""

    async def story(stage: RealStage) -> None:
        namespace, stack = stage.namespace, stage.stack
        async with stack.admin("project") as admin:
            accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
            await admin.create(accounts, {"metadata": {"name": "limited"}})
            token = await admin.token("limited", namespace)
        access = stack.access("project", token)
        async with stack.client_of(access.write(tmp_path / "limited")) as limited:
            with pytest.raises(Forbidden):
                await limited.get(ConfigMap, "any", namespace)
        user = f"system:serviceaccount:{namespace}:limited"
        lines = stack.audit_log("project").read_text().splitlines()
        (entry,) = [e for e in map(json.loads, lines) if e["user"]["username"] == user]
        assert (entry["verb"], entry["responseStatus"]["code"]) == ("get", 403)

    on_stack(story)


@pytest.mark.parametrize("name", ["dfw-kube-apiserver", "karmada-controller-manager"])
def test_a_program_that_is_killed_and_started_again(on_stack, name):
    """What happened meanwhile is caught up with."""

    async def story(stage: RealStage) -> None:
        await propagate(stage)
        stage.stack.kill(name)
        on_hub = await stage.client("hub").get(WorkloadDeployment, "web", stage.namespace)
        await stage.client("hub").delete(on_hub)
        stage.stack.start(name)
        await stage.gone("dfw", WorkloadDeployment, "web", stage.namespace)
        await stage.named(
            "hub",
            MemberCluster,
            "dfw",
            "",
            lambda c: status_of(c.status.conditions, "Ready") == "True",
        )

    on_stack(story)


def test_a_program_beside_the_stack(on_stack, running_stack):
    """It has the environment that it is given, and its own log; it is stopped by its name."""
    running_stack.run(
        "beside", ["sh", "-c", "echo $WORD; exec tail -f /dev/null"], {"WORD": "hello"}
    )

    async def story(stage: RealStage) -> None:
        async def spoken() -> bool:
            return bool(running_stack.log("beside").read_text() == "hello\n")

        await stage.until(spoken)

    on_stack(story)
    running_stack.send("beside", signal.SIGSTOP)
    running_stack.kill("beside")
    with pytest.raises(Exception, match="beside does not run; there are etcd, "):
        running_stack.stop("beside")
