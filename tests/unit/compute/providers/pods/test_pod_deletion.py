"""The deletion of an Instance: it waits until its Pod and its Service are gone."""

from typing import Any

from compute.api import finalizers, labels
from compute.api.compute import Instance
from compute.providers import pods
from kubekit.api.kinds.network_policies import NetworkPolicy
from kubekit.api.kinds.pods import Pod, Service
from kubekit.api.meta import with_metadata
from kubekit.client.options import DeleteOptions
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from tests.support.compute.pod_builders import (
    WEB_PORT,
    foreign_pod,
    pod_cell,
    pod_instance,
    pod_of,
    service_of,
    with_policy,
)
from tests.support.compute.pod_kinds import staged_pods
from tests.support.compute.provider_builders import NS, live, message, name, seen, start
from tests.support.kubekit.deaf import listener


def test_a_deletion_waits_for_the_pod(tmp_path):
    """Until the kubelet has confirmed that it has stopped, the finalizer stays, and so the quota."""

    async def story(stage):
        await pod_cell(stage, stop=20.0)
        await start(stage, with_policy(pod_instance(ports=(WEB_PORT,))))
        await seen(stage)
        client = stage.client("dfw")

        await client.delete(await live(stage))
        stopping = await seen(stage, available="Stopping")

        assert message(stopping) == "The Pod is being stopped"
        assert stopping.metadata.finalizers == (finalizers.PODS,)
        await stage.gone("dfw", Service, name(), NS, 5.0)
        assert await client.find(Instance, name(), NS) is not None
        assert await client.find(NetworkPolicy, name(), NS) is not None  # it may still serve
        began = stage.environment.now()
        await stage.gone("dfw", Instance, name(), NS)
        assert await client.find(NetworkPolicy, name(), NS) is None
        assert await client.find(Pod, name(), NS) is None
        assert (stage.environment.now() - began).total_seconds() > 15

    staged_pods(tmp_path, story)


def test_a_deletion_that_waits_for_a_lost_node_says_so(tmp_path):
    """What runs there may still run: the slot is not freed."""

    async def story(stage):
        nodes = await pod_cell(stage, nodes=["node-1", "node-2"])
        await start(stage, pod_instance())
        await seen(stage)
        await nodes.lose("node-1")
        await stage.client("dfw").delete(await live(stage))

        stopping = await seen(stage, available="Stopping")
        assert message(stopping) == (
            "The Pod is being stopped; "
            "The node node-1 does not report: Kubelet stopped posting node status."
        )
        await stage.quiet(3600.0)
        assert (await live(stage)).metadata.finalizers == (finalizers.PODS,)
        await nodes.remove("node-1")
        await stage.gone("dfw", Instance, name(), NS)

    staged_pods(tmp_path, story)


def test_an_orphaning_deletion_stops_the_pod_too(tmp_path):
    """The garbage collector takes the owner away; the label still says whose it is."""

    async def story(stage):
        await pod_cell(stage)
        await start(stage, pod_instance())
        await seen(stage)
        pod = await pod_of(stage)
        await stage.client("dfw").patch(pod, with_metadata(pod, owner_references=()))

        orphaning = DeleteOptions(propagation="Orphan")
        await stage.client("dfw").delete(await live(stage), orphaning)

        await stage.gone("dfw", Pod, name(), NS)
        await stage.gone("dfw", Instance, name(), NS)

    staged_pods(tmp_path, story)


def test_a_deleted_instance_leaves_the_pods_of_others_alone(tmp_path):
    """It never had a Pod: the name was taken."""

    async def story(stage):
        await pod_cell(stage)
        await stage.client("dfw").create(foreign_pod())
        await start(stage, pod_instance())
        await seen(stage, available="NameTaken")

        await stage.client("dfw").delete(await live(stage))

        await stage.gone("dfw", Instance, name(), NS)
        assert (await pod_of(stage)).spec.containers[0].name == "other"

    staged_pods(tmp_path, story)


def test_the_objects_of_an_earlier_instance_go_first(tmp_path):
    """A Pod of the same name and another uid is deleted, and then the Instance gets its own."""

    async def story(stage):
        nodes = await pod_cell(stage)
        earlier: dict[str, Any] = {"labels": {labels.INSTANCE_UID: "an-earlier-one"}}
        old = await stage.client("dfw").create(foreign_pod(**earlier))
        service = Service(metadata=foreign_pod(**earlier).metadata)
        await stage.client("dfw").create(service)

        await start(stage, pod_instance(ports=(WEB_PORT,)))

        done = await seen(stage)
        pod = await pod_of(stage)
        assert pod.metadata.uid != old.metadata.uid
        assert pod.metadata.labels[labels.INSTANCE_UID] == done.metadata.uid
        assert (await service_of(stage)).spec.selector == {labels.INSTANCE_UID: done.metadata.uid}
        assert len(nodes.placed) == 2

    staged_pods(tmp_path, story)


def test_a_pod_of_a_later_instance_is_not_taken_for_one_of_an_earlier(tmp_path):
    """A cache that stands still shows the earlier Instance; the Pod is of the later one."""

    async def story(stage):
        await pod_cell(stage)
        role = stage.role("late")
        ear, client = listener(await stage.plane("dfw"))
        await role.engage(cluster_name("dfw"), client)
        factory = ControllerFactory(stage.environment, Metrics(), "late")
        stage.start(*pods.controllers(role, factory))
        await start(stage, pod_instance())
        first = await seen(stage)
        ear.stop(Instance)
        await stage.client("dfw").delete(first)
        await stage.gone("dfw", Instance, name(), NS)

        await start(stage, pod_instance())
        second = await seen(stage)
        pod = await pod_of(stage)
        await stage.quiet(120.0)

        assert pod.metadata.owner_references[0].uid == second.metadata.uid
        assert (await pod_of(stage)).metadata.uid == pod.metadata.uid

    staged_pods(tmp_path, story)


def test_an_instance_without_our_finalizer_is_left_to_others(tmp_path):
    """It had no Pod yet when it was deleted."""

    async def story(stage):
        await pod_cell(stage)
        waiting = with_metadata(pod_instance(gates=("Quota",)), finalizers=("test/holds",))
        await start(stage, waiting)
        await stage.client("dfw").delete(await live(stage))
        assert await stage.quiet(60.0) == []

    staged_pods(tmp_path, story)


def test_a_pod_whose_label_was_removed_is_still_the_instances(tmp_path):
    """Caches that are limited to labelled Pods lack it; it is neither doubled nor forgotten."""

    async def story(stage):
        limited = stage.role("limited", pods.CELL_SELECTORS)
        await pod_cell(stage, provider=limited)
        await stage.engage("limited", "dfw")
        await start(stage, pod_instance())
        await seen(stage)
        pod = await pod_of(stage)

        await stage.client("dfw").patch(pod, with_metadata(pod, labels={}))
        await stage.rest(120.0)
        same = await pod_of(stage)
        assert same.metadata.uid == pod.metadata.uid
        await stage.client("dfw").delete(await live(stage))

        await stage.gone("dfw", Pod, name(), NS)
        await stage.gone("dfw", Instance, name(), NS)

    staged_pods(tmp_path, story)
