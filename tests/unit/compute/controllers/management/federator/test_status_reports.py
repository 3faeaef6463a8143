"""The status of a deployment on the hub is shown in its project."""

from datetime import timedelta

import msgspec

from compute.api import karmada
from compute.api.compute import WorkloadDeployment, WorkloadDeploymentStatus
from compute.api.karmada_work import ResourceBinding, ResourceBindingSpec, TemplateRef
from compute.controllers.management.federator import controller as federator
from kubekit.api.meta import Condition, ObjectMeta
from tests.support.compute.builders import condition
from tests.support.compute.management_builders import CELL, WEB, ManagementWorld, set_up
from tests.support.kubekit.plane_worlds import START

AVAILABLE = condition("Available", "True", "StableInstanceFound")
DATA = condition("ReferencedDataReady", "False", "SourceNotFound")
FEDERATED = (WEB, "Normal", "Federated")
AVAILABLE_ONCE = ((WEB, "Normal", "CityAvailable"), ("web", "Normal", "CityAvailable"))
STUCK = ("web", "Warning", "CityStuck")


def _available(deployment: WorkloadDeployment) -> Condition | None:
    return next((c for c in deployment.status.conditions if c.type == "Available"), None)


def _because(reason: str):
    return lambda d: (available := _available(d)) is not None and available.reason == reason


def test_the_cells_report_reaches_the_project(tmp_path):
    """The hub's status is written to the project at once, and then nothing is written."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.report(AVAILABLE, replicas=2, ready_replicas=1, desired_replicas=2)

        seen = await on.project(lambda d: d.status.ready_replicas == 1)
        assert seen.status == (await on.copy()).status
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_the_projects_own_conditions_are_kept(tmp_path):
    """Referenced data are resolved in the project, so the hub has no condition of it."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.copy()
        await on.stage.rest()
        shown = await on.project()
        status = msgspec.structs.replace(shown.status, conditions=(DATA,))
        desired = msgspec.structs.replace(shown, status=status)
        await on.stage.client("shop").patch_status(shown, desired)
        await on.report(AVAILABLE, ready_replicas=1)

        seen = await on.project(_because("StableInstanceFound"))
        assert DATA in seen.status.conditions

    set_up(tmp_path, story)


def test_an_edit_of_the_status_is_reverted(tmp_path):
    """The project's status equals the hub's."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.report(AVAILABLE, ready_replicas=1)
        seen = await on.project(lambda d: d.status.ready_replicas == 1)
        status = WorkloadDeploymentStatus(ready_replicas=9)
        wrong = msgspec.structs.replace(seen, status=status)
        await on.stage.client("shop").patch_status(seen, wrong)

        await on.project(lambda d: d.status == seen.status)

    set_up(tmp_path, story)


def test_a_city_without_a_cell_is_reported(tmp_path):
    """It is reported that nothing runs, whatever an earlier cell reported; until there is one."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.report(AVAILABLE, replicas=2, ready_replicas=2)
        await on.bind(refused="0/3 clusters are available")

        seen = await on.project(_because("NoCellForCity"))
        available = _available(seen)
        assert available is not None
        assert available.message == "No cell serves DFW: 0/3 clusters are available"
        assert seen.status.ready_replicas == 0
        await on.reported(FEDERATED, *AVAILABLE_ONCE, (WEB, "Warning", "NoCellForCity"), STUCK)
        await on.bind(CELL)
        await on.project(_because("StableInstanceFound"))

    set_up(tmp_path, story)


def test_a_city_whose_only_cell_is_unreachable_is_reported_with_the_time(tmp_path):
    """There is a cell, so the city is not without one; that is reported as soon as it is known."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.cell("True", START)
        await on.deploy()
        await on.bind(refused="0/1 clusters are available")
        await on.project(_because("NoCellForCity"))
        await on.cell("Unknown", START + timedelta(seconds=45))
        seen = await on.project(_because("CellUnreachable"))
        available = _available(seen)
        assert available is not None
        assert available.status == "False"
        assert available.message.startswith(
            "Cell cell-dfw is unreachable; the hub noticed it at 2026-01-01T00:00:45Z;"
        )
        await on.cell("True", START + timedelta(seconds=90))
        await on.project(_because("NoCellForCity"))

    set_up(tmp_path, story)


def test_an_unreachable_cell_is_not_taken_for_ready(tmp_path):
    """Unknown since the last renewal of the lease; the counts stay."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.report(AVAILABLE, replicas=2, ready_replicas=2)
        await on.cell("True", START)
        await on.bind(CELL)
        await on.project(_because("StableInstanceFound"))
        await on.lease(START + timedelta(seconds=5))
        await on.cell("Unknown", START + timedelta(seconds=45))

        seen = await on.project(_because("CellUnreachable"))
        available = _available(seen)
        assert available is not None
        assert available.status == "Unknown"
        assert "cell-dfw has not reported since 2026-01-01T00:00:05Z" in available.message
        assert seen.status.ready_replicas == 2
        await on.reported(FEDERATED, *AVAILABLE_ONCE, (WEB, "Warning", "CellUnreachable"), STUCK)
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_a_cell_that_is_ready_again_is_believed_again(tmp_path):
    """Its last status is shown as soon as its Cluster is Ready."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.report(AVAILABLE, ready_replicas=2)
        await on.cell("False", START)
        await on.bind(CELL)
        await on.project(_because("CellUnreachable"))
        await on.cell("True", START + timedelta(seconds=60))

        await on.project(_because("StableInstanceFound"))

    set_up(tmp_path, story)


def test_without_a_lease_only_what_the_hub_noticed_is_known(tmp_path):
    """An engine that connects to its cells, as Karmada in push mode, has no lease of them.

    It finds a cell unreachable half a minute after the last report, whose time is not recorded.
    """

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.cell("Unknown", START + timedelta(seconds=45))
        await on.bind(CELL)

        seen = await on.project(_because("CellUnreachable"))
        available = _available(seen)
        assert available is not None
        assert available.message.startswith(
            "Cell cell-dfw is unreachable; the hub noticed it at 2026-01-01T00:00:45Z;"
        )
        assert "not reported since" not in available.message

    set_up(tmp_path, story)


def test_a_lease_that_is_still_renewed_changes_nothing(tmp_path):
    """The message is the same in every reconcile pass."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.lease(START + timedelta(hours=1))
        await on.cell("Unknown", START + timedelta(seconds=45))
        await on.bind(CELL)

        seen = await on.project(_because("CellUnreachable"))
        available = _available(seen)
        assert available is not None
        assert available.message.startswith(
            "Cell cell-dfw is unreachable; the hub noticed it at 2026-01-01T00:00:45Z;"
        )
        assert "not reported since" not in available.message

    set_up(tmp_path, story)


def test_a_lease_that_was_never_renewed_is_ignored(tmp_path):
    """The time of the Ready condition is kept."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.lease(None)
        await on.cell("Unknown", START + timedelta(seconds=45))
        await on.bind(CELL)

        seen = await on.project(_because("CellUnreachable"))
        available = _available(seen)
        assert available is not None
        assert "2026-01-01T00:00:45Z" in available.message

    set_up(tmp_path, story)


def test_a_binding_of_another_kind_is_ignored(tmp_path):
    """The hub has other kinds too."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.bind(CELL)
        await on.stage.rest()
        before = on.passes("federator")
        resource = TemplateRef(
            api_version="v1", kind="ConfigMap", namespace=on.hub_namespace, name=WEB
        )
        meta = ObjectMeta(name=f"{WEB}-configmap", namespace=on.hub_namespace)
        spec = ResourceBindingSpec(resource=resource)
        await on.stage.client("hub").create(ResourceBinding(metadata=meta, spec=spec))
        await on.stage.rest()

        assert on.passes("federator") == before

    set_up(tmp_path, story)


def test_a_clusters_heartbeat_requeues_nothing(tmp_path):
    """Only Ready matters: a heartbeat costs no reconcile pass."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.cell("True", START)
        await on.bind(CELL)
        await on.stage.rest()
        before = on.passes("federator")
        client = on.stage.client("hub")
        for nodes in range(5):
            found = await client.get(karmada.MemberCluster, CELL)
            summary = karmada.NodeSummary(total_num=nodes)
            status = msgspec.structs.replace(found.status, node_summary=summary)
            await client.patch_status(found, msgspec.structs.replace(found, status=status))
        await on.stage.rest()

        assert on.passes("federator") == before

    set_up(tmp_path, story)


def test_a_binding_of_an_earlier_deployment_is_ignored(tmp_path):
    """It is of another object of the same name, and will be deleted."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.report(AVAILABLE, ready_replicas=2)
        await on.cell("Unknown", START)
        await on.bind(CELL)
        await on.project(_because("CellUnreachable"))
        await on.stage.client("hub").delete(await on.copy())
        await on.copy(lambda c: c.status.ready_replicas == 0)

        await on.project(lambda d: _available(d) is None)

    set_up(tmp_path, story)


def test_a_cell_that_never_reported_is_not_called_unreachable(tmp_path):
    """Neither is an unknown cell, nor one of an undecided binding."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.bind("cell-unknown")
        await on.report(AVAILABLE, ready_replicas=2)
        await on.project(_because("StableInstanceFound"))
        await on.bind()
        await on.stage.rest()

        assert _because("StableInstanceFound")(await on.project())

    set_up(tmp_path, story)
