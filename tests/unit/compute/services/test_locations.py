"""Locations in cells, and the cities that projects may use."""

import msgspec
import pytest

from compute.api import labels
from compute.api.karmada import ClusterStatus, MemberCluster as Member
from compute.api.networking import Location, LocationBinding, LocationProvider, LocationSpec
from compute.api.resource_manager import Project
from compute.app.links import Link, linked_client
from compute.decide.conditions import find
from compute.services import locations
from compute.services.offers import offers
from kubekit.api.meta import ConditionStatus, ObjectMeta
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import condition
from tests.support.compute.service_builders import PLANES, member, planes, project
from tests.support.kubekit.stage import Stage, staged


async def started(stage: Stage) -> None:
    stage.start(*locations.controllers(planes(stage), stage.factory))
    await stage.client("core").create(project())


def said(of: Location | LocationBinding, kind: str) -> tuple[str, str]:
    found = find(of.status.conditions, kind)
    return (found.status, found.reason) if found else ("", "")


async def answered(stage: Stage, name: str, status: ConditionStatus) -> None:
    """The engine says whether the cell answers."""
    hub = stage.client("hub")
    known = await hub.get(Member, name)
    reported = ClusterStatus(conditions=(condition("Ready", status, "ClusterReady"),))
    await hub.patch_status(known, msgspec.structs.replace(known, status=reported))


async def available(stage: Stage, name: str, word: tuple[str, str]) -> LocationBinding:
    def there(found: LocationBinding) -> bool:
        return said(found, "Available") == word

    return await stage.named("shop", LocationBinding, name, "", there)


def test_a_cell_has_a_location_for_its_city(tmp_path):
    """It says where the cell is, is ready, and is restored when it is changed."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await stage.client("hub").create(member(region="us-south"))
        made = await stage.named(
            "cell-dfw", Location, "dfw", "", lambda one: said(one, "Ready") == ("True", "Ready")
        )
        assert made.spec.topology == {
            labels.TOPOLOGY_CITY_CODE: "DFW",
            labels.TOPOLOGY_REGION: "us-south",
            labels.TOPOLOGY_COUNTRY: "US",
            labels.TOPOLOGY_LATITUDE: "32.78",
            labels.TOPOLOGY_LONGITUDE: "-96.80",
        }
        wrong = msgspec.structs.replace(made.spec, topology={labels.TOPOLOGY_CITY_CODE: "LHR"})
        await stage.client("cell-dfw").patch(made, msgspec.structs.replace(made, spec=wrong))
        await stage.rest()
        assert (await stage.client("cell-dfw").get(Location, "dfw")).spec == made.spec
        await stage.client("cell-dfw").delete(made)
        await stage.rest()
        await stage.client("cell-dfw").get(Location, "dfw")
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_cell_that_changes_its_city_changes_its_location(tmp_path):
    """The old one goes; one that users manage themselves stays."""

    async def story(stage: Stage) -> None:
        await started(stage)
        hub, cell = stage.client("hub"), stage.client("cell-dfw")
        own = LocationSpec(
            location_class_name="self-managed", provider=LocationProvider(), topology={}
        )
        await cell.create(Location(metadata=ObjectMeta(name="attic"), spec=own))
        made = await hub.create(member())
        await stage.named("cell-dfw", Location, "dfw", "")
        meta = msgspec.structs.replace(made.metadata, labels={labels.TOPOLOGY_CITY_CODE: "IAD"})
        moved = await hub.patch(made, msgspec.structs.replace(made, metadata=meta))
        await stage.gone("cell-dfw", Location, "dfw")
        await stage.named("cell-dfw", Location, "iad", "")
        none = msgspec.structs.replace(moved.metadata, labels={})
        await hub.patch(moved, msgspec.structs.replace(moved, metadata=none))
        await stage.gone("cell-dfw", Location, "iad")
        await stage.gone("shop", LocationBinding, "iad")
        await cell.get(Location, "attic")

    staged(tmp_path, story, *PLANES)


def test_a_cell_that_the_hub_does_not_know_keeps_what_it_has(tmp_path):
    """A hub that lost a Cluster does not take the ground from under a cell that runs."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await stage.client("hub").create(member())
        await stage.named("cell-dfw", Location, "dfw", "")
        await stage.client("hub").delete(await stage.client("hub").get(Member, "cell-dfw"))
        await stage.rest()
        await stage.client("cell-dfw").get(Location, "dfw")

    staged(tmp_path, story, *PLANES)


def test_a_cell_that_was_cut_off_gets_its_location_when_it_is_back(tmp_path):
    """Others do not wait for it."""

    async def story(stage: Stage) -> None:
        link = Link("cell-dfw")
        cell = linked_client(await stage.plane("cell-dfw"), "compute", link)
        await stage.role("cells").engage(cluster_name("cell-dfw"), cell)
        await started(stage)
        await stage.rest()
        link.cut()
        await stage.client("hub").create(member())
        await stage.named("shop", LocationBinding, "dfw", "")
        link.heal()
        await stage.named("cell-dfw", Location, "dfw", "", seconds=120)

    staged(tmp_path, story, *PLANES[:3])


def test_a_project_may_use_the_cities_that_have_cells(tmp_path):
    """There is a binding with name and place for each, available while a cell of it answers."""

    async def story(stage: Stage) -> None:
        await started(stage)
        stage.start(*locations.controllers(planes(stage), stage.factory))
        for name in ("cell-dfw", "cell-dfw2"):
            await stage.client("hub").create(member(name))
        made = await available(stage, "dfw", ("Unknown", "Pending"))
        assert (made.spec.display_name, made.spec.location_ref.name) == ("Dallas", "dfw")
        await answered(stage, "cell-dfw", "True")
        await available(stage, "dfw", ("True", "Ready"))
        await answered(stage, "cell-dfw", "Unknown")
        await available(stage, "dfw", ("Unknown", "Pending"))
        await answered(stage, "cell-dfw2", "False")
        await available(stage, "dfw", ("False", "CellUnreachable"))
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_city_whose_last_cell_is_gone_is_not_offered_any_more(tmp_path):
    """One that users created by hand stays."""

    async def story(stage: Stage) -> None:
        await started(stage)
        hub = stage.client("hub")
        await hub.create(member())
        made = await stage.named("shop", LocationBinding, "dfw", "")
        spec = msgspec.structs.replace(made.spec, location_class_name="self-managed")
        own = LocationBinding(metadata=ObjectMeta(name="attic"), spec=spec)
        await stage.client("shop").create(own)
        await hub.delete(await hub.get(Member, "cell-dfw"))
        await stage.gone("shop", LocationBinding, "dfw")
        await stage.rest()
        await stage.client("shop").get(LocationBinding, "attic")
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_project_that_goes_is_offered_nothing_new(tmp_path):
    """What was deleted there stays so."""

    async def story(stage: Stage) -> None:
        held = project()
        meta = msgspec.structs.replace(held.metadata, finalizers=("example.com/held",))
        core = stage.client("core")
        await core.create(msgspec.structs.replace(held, metadata=meta))
        await core.delete(await core.get(Project, "shop"))
        stage.start(*locations.controllers(planes(stage), stage.factory))
        await stage.client("hub").create(member())
        await stage.rest()
        assert (await stage.client("shop").every(LocationBinding)).items == ()

    staged(tmp_path, story, *PLANES)


@pytest.mark.parametrize(("city", "name"), [("SIN", "Singapore"), ("XQZ", "XQZ")])
def test_a_city_without_a_name_is_called_by_its_code(city, name):
    """A cell may be anywhere, also where the table has nothing."""
    found = offers([member(city=city), member("nowhere", city="")])
    assert [offer.binding.spec.display_name for offer in found.values()] == [name]
