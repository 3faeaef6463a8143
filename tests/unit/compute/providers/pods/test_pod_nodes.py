"""Nodes that fail: never do two machines of one Instance run at once."""

from kubekit.api.kinds.nodes import ClusterNode
from tests.support.compute.pod_builders import pod_cell, pod_instance, pod_of
from tests.support.compute.pod_kinds import staged_pods
from tests.support.compute.provider_builders import live, message, seen, start, status_and_reason


def test_an_instance_of_a_lost_node_waits_for_it(tmp_path):
    """The Pod may still run there. When the node is back and has stopped it, it is started again."""

    async def story(stage):
        nodes = await pod_cell(stage, nodes=["node-1", "node-2"])
        await start(stage, pod_instance())
        await seen(stage)

        await nodes.lose("node-1")
        lost = await seen(stage, available="NodeNotReady")
        assert message(lost) == (
            "The node node-1 does not report: Kubelet stopped posting node status.; whether the "
            "instance still runs there is unknown, and it is started again once its Pod is gone"
        )
        assert status_and_reason(lost, "Programmed") == ("True", "Programmed")
        assert await stage.quiet(3600.0) == []
        assert len(nodes.placed) == 1

        await nodes.restore("node-1")
        await stage.until(lambda: _placed(nodes, 2))
        await seen(stage)

    staged_pods(tmp_path, story)


def test_an_instance_of_a_removed_node_is_started_elsewhere(tmp_path):
    """By removing the node an operator says that it is off."""

    async def story(stage):
        nodes = await pod_cell(stage, nodes=["node-1", "node-2"])
        await start(stage, pod_instance())
        await seen(stage)
        await nodes.lose("node-1")
        await seen(stage, available="NodeNotReady")

        await nodes.remove("node-1")

        await seen(stage)
        assert (await pod_of(stage)).spec.node_name == "node-2"
        assert [node for _, node in nodes.placed] == ["node-1", "node-2"]

    staged_pods(tmp_path, story)


def test_a_node_that_is_not_ready_for_a_moment_costs_nothing_but_a_report(tmp_path):
    """Its Pods stay, and are available again as soon as it is ready."""

    async def story(stage):
        nodes = await pod_cell(stage)
        await start(stage, pod_instance())
        before = await seen(stage)
        pod = await pod_of(stage)

        await nodes.report("node-1", "False", "container runtime is down")
        down = await seen(stage, available="NodeNotReady")
        assert "The node node-1 is not ready: container runtime is down" in message(down)
        await nodes.report("node-1", "True")

        after = await seen(stage)
        assert (await pod_of(stage)).metadata.uid == pod.metadata.uid
        assert after.status.network_interfaces == before.status.network_interfaces

    staged_pods(tmp_path, story)


def test_a_report_of_a_node_that_says_nothing_new_writes_nothing(tmp_path):
    """A kubelet reports its node every few minutes."""

    async def story(stage):
        nodes = await pod_cell(stage)
        await start(stage, pod_instance())
        await seen(stage)
        await stage.rest()
        instance = await live(stage)

        await nodes.report("node-1", "True", "kubelet is posting ready status")
        await stage.rest()

        assert await live(stage) == instance
        assert len((await stage.client("dfw").every(ClusterNode)).items) == 1

    staged_pods(tmp_path, story)


async def _placed(nodes, count):
    return len(nodes.placed) == count
