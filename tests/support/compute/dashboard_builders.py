"""A project with Workloads in every state that the dashboard shows, without a server."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from typing import Any

import msgspec

from compute.api import labels, names
from compute.api.compute import (
    Instance,
    InstanceStatus,
    Workload,
    WorkloadDeployment,
    WorkloadDeploymentSpec,
    WorkloadDeploymentStatus,
    WorkloadRef,
    WorkloadStatus,
)
from compute.api.instance_spec import InstanceController
from compute.cli.exits import Failure
from compute.cli.look.dashboard.state import DashboardState
from compute.decide.deployment.template import template_hash
from compute.views.changes import UndoStepView, UndoView
from compute.views.reading import ProjectObjects
from kubekit.api.errors import Forbidden
from kubekit.api.meta import Condition, ObjectMeta
from tests.support.compute.builders import NOW, condition, instance_spec, placement, workload

CREATED = NOW - timedelta(hours=5)
LATELY = NOW - timedelta(minutes=3)
BROKEN_IMAGE = condition(
    "Ready", "False", "ImageUnavailable",
    "The image registry.test/shop/cart:9 cannot be pulled: there is no such image", since=LATELY,
)  # fmt: skip
SILENT = condition(
    "Available", "Unknown", "CellUnreachable", "Cell sin has not reported for 50s",
    since=NOW - timedelta(seconds=50),
)  # fmt: skip
STARTING = condition("Ready", "False", "ProgrammingInProgress", "Setting it up", since=NOW)
READY = condition("Ready", since=CREATED)


class Fleet:
    """Collects the objects of a project."""

    def __init__(self) -> None:
        self.workloads: list[Workload] = []
        self.deployments: list[WorkloadDeployment] = []
        self.instances: list[Instance] = []

    def add(self, name: str, *cities: str, replicas: int = 1, **meta: Any) -> None:
        """A Workload that runs in these cities as it should."""
        made = workload(name, placement("default", *cities, replicas=replicas))
        status = WorkloadStatus(observed_generation=1, conditions=(condition("Available"),))
        known: dict[str, Any] = {"creation_timestamp": CREATED, **meta}
        metadata = msgspec.structs.replace(made.metadata, **known)
        self.workloads.append(msgspec.structs.replace(made, metadata=metadata, status=status))
        for city in cities:
            self._city(name, city, replicas, (READY,) * replicas)

    def change(self, name: str, city: str, *said: Condition, lost: bool = False) -> None:
        """Let the Instances in a city report these conditions, one each; or let its cell be silent."""
        owner = names.deployment(name, "default", city)
        self.deployments = [d for d in self.deployments if d.metadata.name != owner]
        here = [i for i in self.instances if i.metadata.labels[labels.DEPLOYMENT_NAME] == owner]
        self.instances = [i for i in self.instances if i not in here]
        self._city(name, city, len(said), said, lost=lost)

    def objects(self) -> ProjectObjects:
        return ProjectObjects(tuple(self.workloads), tuple(self.deployments), tuple(self.instances))

    def _city(
        self,
        name: str,
        city: str,
        replicas: int,
        said: tuple[Condition, ...],
        *,
        lost: bool = False,
    ) -> None:
        ready = sum(each.status == "True" for each in said)
        owner = names.deployment(name, "default", city)
        of = next(w for w in self.workloads if w.metadata.name == name)
        scale = msgspec.structs.replace(of.spec.placements[0].scale_settings, min_replicas=replicas)
        self.deployments.append(
            WorkloadDeployment(
                metadata=ObjectMeta(
                    name=owner, namespace="default", uid=f"uid-{owner}", creation_timestamp=CREATED
                ),
                spec=WorkloadDeploymentSpec(
                    workload_ref=WorkloadRef(name=name, uid=of.metadata.uid),
                    placement_name="default",
                    city_code=city,
                    template=of.spec.template,
                    scale_settings=scale,
                ),
                status=WorkloadDeploymentStatus(
                    conditions=(SILENT,) if lost else (condition("Available"),),
                    observed_generation=1,
                    desired_replicas=replicas,
                    replicas=replicas,
                    updated_replicas=replicas,
                    ready_replicas=ready,
                ),
            )
        )
        self.instances += [self._instance(of, owner, city, i, c) for i, c in enumerate(said)]

    def _instance(
        self, of: Workload, owner: str, city: str, ordinal: int, said: Condition
    ) -> Instance:
        known = {
            labels.DEPLOYMENT_NAME: owner,
            labels.WORKLOAD_NAME: of.metadata.name,
            labels.CITY_CODE: city,
        }
        controller = InstanceController(template_hash=template_hash(of.spec.template))
        return Instance(
            metadata=ObjectMeta(
                name=names.instance(owner, ordinal),
                namespace="default",
                creation_timestamp=CREATED,
                labels=known,
            ),
            spec=msgspec.structs.replace(instance_spec(), controller=controller),
            status=InstanceStatus(conditions=(said,)),
        )


def fleet() -> Fleet:
    """Three Workloads: `web` runs, `cart` cannot, and `search` is silent in one city."""
    made = Fleet()
    made.add("web", "DFW", "LHR", "SIN", replicas=2)
    made.add("cart", "DFW", "LHR", replicas=2)
    made.change("cart", "DFW", BROKEN_IMAGE, BROKEN_IMAGE)
    made.change("cart", "LHR", READY, STARTING)
    made.add("search", "DFW", "SIN", replicas=1)
    made.change("search", "SIN", READY, lost=True)
    return made


class PlannedStates:
    """A source whose states a test puts in; at the end of a refusal it raises."""

    def __init__(self, *states: DashboardState) -> None:
        self._queue: asyncio.Queue[DashboardState | None] = asyncio.Queue()
        for state in states:
            self.put(state)

    def put(self, state: DashboardState) -> None:
        self._queue.put_nowait(state)

    def refuse(self) -> None:
        self._queue.put_nowait(None)

    async def states(self) -> AsyncGenerator[DashboardState, None]:
        while True:
            state = await self._queue.get()
            if state is None:
                raise Forbidden("the token was revoked")
            yield state


def state(
    of: Fleet | None = None, at: datetime = NOW, lost_since: datetime | None = None
) -> DashboardState:
    return DashboardState((of or fleet()).objects(), at, lost_since)


class RecordedActions:
    """Actions that are written down. ``failure`` is raised by the next one."""

    def __init__(self) -> None:
        self.done: list[tuple[str, ...]] = []
        self.failure: Exception | None = None

    async def restart(self, name: str) -> str:
        return self._do("restart", name)

    async def planned_undo(self, name: str) -> UndoView:
        self._fail()
        if name == "web":
            raise Failure(
                "web cannot be undone: revision 1 is the first: there is nothing before it",
                next_step="compute rollout history web",
            )
        return UndoView(
            name=name,
            namespace="default",
            steps=(
                UndoStepView(
                    cities=("DFW", "LHR"),
                    revision=8,
                    timestamp="2026-06-01T11:00:00Z",
                    actor="ana",
                    image="registry.test/shop/cart:8",
                    changes=("image: registry.test/shop/cart:9 → registry.test/shop/cart:8",),
                ),
            ),
            unchanged_cities=(),
            paused_cities=("LHR",),
            written=False,
        )

    async def undo(self, name: str, revision: int) -> str:
        return self._do("undo", name, str(revision))

    async def pause_or_resume(self, name: str) -> str:
        return self._do("pause", name)

    async def scale(self, name: str, count: int) -> str:
        return self._do("scale", name, str(count))

    async def description(self, name: str) -> list[str]:
        self._fail()
        return [f"Workload   {name}", "Health     \x1b[31mUnavailable\x1b[0m: DFW failed"]

    async def events(self, name: str) -> list[str]:
        self._fail()
        return []

    def _do(self, *words: str) -> str:
        self._fail()
        self.done.append(words)
        return " ".join(words)

    def _fail(self) -> None:
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
