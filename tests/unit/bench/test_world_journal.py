"""What a journal makes of the changes it hears."""

from typing import Any, cast

import msgspec
import pytest

from bench.load.world.journal import Journal
from compute.app.planes import HUB, PlaneRef
from kubekit.plane.plane import Plane
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record
from tests.support.kubekit.virtual_time import run

CELL, PROJECT = PlaneRef("cell", "dfw"), PlaneRef("project", "shop")
GATED = {"controller": {"schedulingGates": [{"name": "Quota"}]}}


class Stage:
    """Planes of which nothing is there but what they tell a journal."""

    def __init__(self, **wanted: int) -> None:
        self.journal = Journal()
        self._listeners: dict[PlaneRef, Any] = {}
        for home in (CELL, HUB, PROJECT):
            self._home = home
            self.journal.opened(home, cast("Plane", self))
        self.journal.reset(wanted)

    @property
    def store(self) -> "Stage":
        return self

    def listen(self, listener: Any) -> None:
        self._listeners[self._home] = listener

    def tell(self, home: PlaneRef, resource: str, name: str, document: Any, change: str) -> None:
        record = Record(f"default/{name}", 1, msgspec.json.encode(document))
        event = ChangeEvent(ChangeType(change), record, None)
        self._listeners[home](f"compute.datumapis.com/{resource}", event)

    def instance(
        self, home: PlaneRef, *true: str, spec: Any = None, change: str = "MODIFIED"
    ) -> None:
        said = [{"type": kind, "status": "True"} for kind in true]
        document = {"spec": spec or {}, "status": {"conditions": said}}
        self.tell(home, "instances", "w0-all-dfw-0", document, change)

    def workload(self, count: int, change: str = "MODIFIED") -> None:
        kinds = ("desired", "ready", "updated", "current")
        counts = {f"{kind}Replicas": count for kind in kinds} | {"replicas": count}
        status = {"observedGeneration": 1, **counts}
        document = {"metadata": {"generation": 1}, "status": status}
        self.tell(PROJECT, "workloads", "w0", document, change)


def ready_everywhere(stage: Stage) -> None:
    stage.workload(0, "ADDED")
    stage.instance(CELL, change="ADDED", spec=GATED)
    stage.instance(CELL, "Programmed")
    stage.instance(CELL, "Programmed", "Ready")
    stage.instance(HUB, "Ready")
    stage.instance(PROJECT, "Ready")


def test_an_instance_arrives_when_its_project_shows_it_ready():
    """Neither its cell's word nor the hub's is the end of its way."""

    async def story() -> None:
        stage = Stage(w0=1)
        stage.workload(0, "ADDED")
        stage.instance(CELL, change="ADDED", spec=GATED)
        stage.instance(CELL, "Programmed", "Ready")
        stage.instance(HUB, "Ready")
        with pytest.raises(TimeoutError):
            await stage.journal.shown(1.0)
        stage.instance(PROJECT, "Ready")
        await stage.journal.shown(1.0)
        assert stage.journal.arrived == 1

    run(story())


def test_a_gate_that_is_closed_is_not_granted():
    """An Instance is granted with the first word that no longer has the gate Quota."""
    stage = Stage(w0=1)
    stage.workload(0, "ADDED")
    stage.instance(CELL, change="ADDED", spec=GATED)
    stage.instance(CELL, "QuotaGranted", spec=GATED)
    assert not stage.journal.hops()["granted"]
    stage.instance(CELL, "QuotaGranted")
    assert len(stage.journal.hops()["granted"]) == 1


def test_what_is_left_of_the_instance_before_does_not_count():
    """While a new Instance is not Ready, a copy that still says so is its predecessor's."""
    stage = Stage(w0=1)
    ready_everywhere(stage)
    stage.journal.reset({"w0": 1})
    stage.workload(1)
    stage.instance(CELL, change="ADDED", spec=GATED)
    stage.instance(HUB, "Ready")
    stage.instance(PROJECT, "Ready")
    assert stage.journal.arrived == 0
    assert not stage.journal.hops()["all"]


def test_an_instance_that_begins_anew_has_not_arrived():
    """One that is replaced while others are still awaited has to come again."""
    stage = Stage(w0=1)
    ready_everywhere(stage)
    assert stage.journal.arrived == 1
    stage.instance(CELL, change="ADDED", spec=GATED)
    assert stage.journal.arrived == 0


def test_what_was_served_before_is_forgotten():
    """A Workload that served before something began does not serve it already."""

    async def story() -> None:
        stage = Stage(w0=1)
        stage.workload(1)
        await stage.journal.served(1.0)
        stage.journal.reset({"w0": 1})
        with pytest.raises(TimeoutError):
            await stage.journal.served(1.0)

    run(story())


def test_a_workload_can_cease_to_serve():
    """Only its latest word counts, and counters that differ from what is wanted are no service."""

    async def story() -> None:
        stage = Stage(w0=2)
        stage.workload(2)
        stage.workload(1)
        with pytest.raises(TimeoutError):
            await stage.journal.served(1.0)

    run(story())


def test_everything_is_gone_with_the_last_workload():
    """Deletion ends with the deletion of the Workload, not with the wish for it."""

    async def story() -> None:
        stage = Stage(w0=1)
        stage.workload(1)
        with pytest.raises(TimeoutError):
            await stage.journal.gone(1.0)
        stage.workload(0, "DELETED")
        await stage.journal.gone(1.0)

    run(story())


def test_arrivals_of_before_are_forgotten():
    """What is about to come is counted from nothing."""

    async def story() -> None:
        stage = Stage(w0=1)
        ready_everywhere(stage)
        stage.journal.reset({"w0": 1})
        with pytest.raises(TimeoutError):
            await stage.journal.shown(1.0)

    run(story())


def test_writes_are_counted_by_role_and_resource():
    """Heartbeats are counted too, but are no work."""
    stage = Stage(w0=1)
    ready_everywhere(stage)
    leases = ChangeEvent(ChangeType.MODIFIED, Record("a/b", 1, b"{}"), None)
    stage._listeners[HUB]("coordination.k8s.io/leases", leases)
    assert stage.journal.writes["cell", "compute.datumapis.com/instances"] == 3
    assert stage.journal.writes["hub", "coordination.k8s.io/leases"] == 1
    assert stage.journal.work == 6
