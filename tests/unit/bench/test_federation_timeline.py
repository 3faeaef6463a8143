"""The stages of Workloads and deployments, from watch events."""

import asyncio

import pytest

from bench.load.federation.timeline import Stage, Timeline
from compute.api.compute import Workload, WorkloadDeployment
from kubekit.client.transport import Document
from tests.support.kubekit.virtual_time import run


def deployment(name: str = "web-all-dfw", ready: int = 0) -> Document:
    return {"metadata": {"name": name}, "status": {"readyReplicas": ready}}


def workload(available: str) -> Document:
    conditions = [{"type": "Progressing", "status": "True"}]
    conditions.append({"type": "Available", "status": available})
    return {"metadata": {"name": "web"}, "status": {"conditions": conditions}}


def reached(timeline: Timeline) -> set[Stage]:
    return {stage for stage in Stage if timeline.times(stage)}


def test_each_plane_has_its_own_stages():
    timeline = Timeline()
    for plane in ("project", "hub", "dfw"):
        timeline.saw(plane, WorkloadDeployment, "ADDED", deployment())
    assert reached(timeline) == {Stage.IN_PROJECT, Stage.ON_HUB, Stage.IN_CELL}
    for plane in ("dfw", "hub", "project"):
        timeline.saw(plane, WorkloadDeployment, "MODIFIED", deployment(ready=1))
    times = [timeline.times(stage)["web-all-dfw"] for stage in Stage if timeline.times(stage)]
    assert times == sorted(times)
    for plane in ("project", "hub", "dfw"):
        timeline.saw(plane, WorkloadDeployment, "DELETED", deployment(ready=1))
    assert {Stage.GONE_FROM_PROJECT, Stage.GONE_FROM_HUB, Stage.GONE_FROM_CELL} < reached(timeline)


def test_a_workload_is_accepted_available_and_gone():
    timeline = Timeline()
    timeline.saw("project", Workload, "ADDED", {"metadata": {"name": "web"}})
    timeline.saw("project", Workload, "MODIFIED", workload("False"))
    assert reached(timeline) == {Stage.ACCEPTED}
    timeline.saw("project", Workload, "MODIFIED", workload("True"))
    assert reached(timeline) == {Stage.ACCEPTED, Stage.AVAILABLE}
    timeline.saw("project", Workload, "DELETED", workload("True"))
    assert reached(timeline) == {Stage.ACCEPTED, Stage.AVAILABLE, Stage.GONE}


def test_the_first_event_of_a_stage_counts():
    """A watch that is opened again lists everything once more."""
    timeline = Timeline()
    arrived = []
    timeline.arrived = lambda cell, document: arrived.append((cell, document["metadata"]["name"]))
    timeline.saw("hub", WorkloadDeployment, "ADDED", deployment())
    timeline.saw("dfw", WorkloadDeployment, "ADDED", deployment())
    first = timeline.times(Stage.IN_CELL)["web-all-dfw"]
    timeline.saw("dfw", WorkloadDeployment, "ADDED", deployment())
    assert timeline.times(Stage.IN_CELL) == {"web-all-dfw": first}
    assert arrived == [("dfw", "web-all-dfw")]


def test_it_waits_for_the_last_of_all():
    async def main() -> None:
        timeline = Timeline()
        waiting = asyncio.create_task(timeline.reached(Stage.ON_HUB, ["a", "b"], 10.0))
        for name in ("a", "b"):
            await asyncio.sleep(1.0)
            assert not waiting.done()
            timeline.saw("hub", WorkloadDeployment, "ADDED", deployment(name))
        assert await waiting == timeline.times(Stage.ON_HUB)["b"]

    run(main())


def test_what_is_late_is_named():
    async def main() -> None:
        timeline = Timeline()
        timeline.saw("hub", WorkloadDeployment, "ADDED", deployment("a"))
        late = r"1 of 2 are not 'deployment on the hub' after 9 s: b"
        with pytest.raises(TimeoutError, match=late):
            await timeline.reached(Stage.ON_HUB, ["a", "b"], 9.0)

    run(main())
