"""A Workload disappears last, after everything that was created from it."""

import pytest

from compute.api import finalizers
from compute.api.compute import Workload, WorkloadDeployment
from kubekit.api.errors import Forbidden
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.client.options import DeleteOptions
from kubekit.plane.registry.admission import Attempt
from tests.support.compute.federation_builders import with_meta
from tests.support.compute.workload_builders import (
    BOTH,
    PROJECT,
    changed,
    deployment_names,
    fresh,
    reports,
    run_story,
)
from tests.support.kubekit.stage import Stage

HELD = {"metadata": {"finalizers": [finalizers.FEDERATOR]}}
FREE = {"metadata": {"finalizers": None}}


async def placed(stage: Stage) -> Workload:
    """A Workload with deployments that have the federator's finalizer."""
    made = await stage.client(PROJECT).create(fresh(BOTH))
    await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
    for name in ("web-home-dfw", "web-home-lhr"):
        await changed(stage, WorkloadDeployment, name, HELD)
    await stage.rest()
    return await stage.seen(PROJECT, made)


@pytest.mark.parametrize("propagation", ["Background", "Foreground", "Orphan"])
def test_a_workload_is_released_after_its_deployments(tmp_path, propagation):
    """With every propagation policy: no running instance is left behind."""

    async def story(stage: Stage) -> None:
        made = await placed(stage)
        client = stage.client(PROJECT)
        await client.delete(made, DeleteOptions(propagation=propagation))
        for name in ("web-home-dfw", "web-home-lhr"):
            await stage.named(PROJECT, WorkloadDeployment, name, true=lambda d: d.deleting)
        await changed(stage, WorkloadDeployment, "web-home-dfw", FREE)
        await stage.rest()
        seen = await stage.seen(PROJECT, made, lambda w: w.status.deployments == 1)
        assert seen.deleting
        await changed(stage, WorkloadDeployment, "web-home-lhr", FREE)
        await stage.gone(PROJECT, Workload, "web", "default", seconds=1)
        await stage.rest()
        kept = (await client.list(ConfigMap, "default")).items
        assert len(kept) == (propagation == "Orphan")  # the history, as the user wished
        assert await stage.quiet() == []

    run_story(tmp_path, story)


def test_deleting_deployments_are_still_counted(tmp_path):
    """The status shows the progress."""

    async def story(stage: Stage) -> None:
        made = await placed(stage)
        await reports(stage, "web-home-lhr", ready=2)
        await stage.client(PROJECT).delete(await stage.seen(PROJECT, made))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-lhr", true=lambda d: d.deleting)
        await reports(stage, "web-home-lhr", ready=1)
        await stage.seen(PROJECT, made, lambda w: w.status.ready_replicas == 1)

    run_story(tmp_path, story)


def test_a_workload_that_is_deleted_at_once_leaves_nothing(tmp_path):
    """Whether it is deleted before the first reconcile pass or during one."""

    async def story(stage: Stage) -> None:
        client = stage.client(PROJECT)
        await client.delete(await client.create(fresh(BOTH)))
        await stage.gone(PROJECT, Workload, "web", "default")
        await stage.rest()
        assert await deployment_names(stage) == []
        assert (await client.list(ConfigMap, "default")).items == ()

    run_story(tmp_path, story)


def test_a_workload_of_the_same_name_starts_over(tmp_path):
    """It waits for the deployments of the first, and has a history of its own."""

    async def story(stage: Stage) -> None:
        first = await placed(stage)
        client = stage.client(PROJECT)
        await changed(stage, Workload, "web", FREE)  # an impatient user
        await client.delete(await stage.seen(PROJECT, first))
        await stage.gone(PROJECT, Workload, "web", "default")
        second = await client.create(fresh(BOTH))
        await stage.rest()
        seen = await stage.seen(PROJECT, second)
        assert seen.status.deployments == 0
        for name in ("web-home-dfw", "web-home-lhr"):
            await changed(stage, WorkloadDeployment, name, FREE)
        await stage.seen(PROJECT, second, lambda w: w.status.deployments == 2)
        got = await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        assert got.spec.workload_ref.uid == second.metadata.uid

    run_story(tmp_path, story)


def test_a_namespace_can_be_deleted_at_any_moment(tmp_path):
    """Everything in it is deleted, in any order."""

    async def story(stage: Stage) -> None:
        client = stage.client(PROJECT)
        space = await client.create(Namespace(metadata=ObjectMeta(name="lab")))
        await client.create(with_meta(fresh(BOTH), namespace="lab"))
        await stage.rest()
        await client.delete(space)
        await stage.gone(PROJECT, Namespace, "lab", seconds=600)
        assert (await client.list(Workload)).items == ()

    run_story(tmp_path, story)


def test_a_deployment_that_the_cache_does_not_show_is_found(tmp_path):
    """The finalizer is removed only after a live read shows that nothing is left."""

    async def story(stage: Stage) -> None:
        made = await placed(stage)
        deployments = stage.role("projects").sole().informers.of(WorkloadDeployment).cache
        for name in ("web-home-dfw", "web-home-lhr"):
            deployments.drop("default", name)
        await stage.client(PROJECT).delete(made)
        for name in ("web-home-dfw", "web-home-lhr"):
            await stage.named(PROJECT, WorkloadDeployment, name, true=lambda d: d.deleting)
        assert await stage.client(PROJECT).find(Workload, "web", "default") is not None
        for name in ("web-home-dfw", "web-home-lhr"):
            await changed(stage, WorkloadDeployment, name, FREE)
        await stage.gone(PROJECT, Workload, "web", "default")

    run_story(tmp_path, story)


def test_a_deletion_in_the_cache_alone_deletes_nothing(tmp_path):
    """A server that was restored from a backup may still have the Workload."""

    async def story(stage: Stage) -> None:
        made = await placed(stage)
        workloads = stage.role("projects").sole().informers.of(Workload).cache
        workloads.put(with_meta(made, deletion_timestamp=made.metadata.creation_timestamp))
        await reports(stage, "web-home-dfw", ready=1)
        await stage.rest()
        got = await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        assert not got.deleting

    run_story(tmp_path, story)


def test_a_refused_delete_is_retried(tmp_path):
    """The others are deleted meanwhile."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)

        def refuse(attempt: Attempt) -> None:
            if attempt.name == "web-home-dfw" and attempt.verb == "delete":
                raise Forbidden("not now")

        judges = stage.planes[PROJECT].registry.admission.validating
        judges.append(refuse)
        await stage.client(PROJECT).delete(made)
        await stage.gone(PROJECT, WorkloadDeployment, "web-home-lhr", "default")
        judges.remove(refuse)
        await stage.gone(PROJECT, Workload, "web", "default", seconds=600)

    run_story(tmp_path, story)
