"""Definitions that a plane makes sure of at its start."""

import apsw
import pytest

from compute.app import crds
from kubekit.plane.plane import Plane
from kubekit.plane.registry import builtins
from kubekit.plane.registry.definitions.startup import DIGEST, DefinitionRefused
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.store.store import Store
from tests.support.compute import served_kinds
from tests.support.kubekit import virtual_time
from tests.support.kubekit.definition_builders import definition, opened, version
from tests.support.kubekit.faulty_disk import FaultyDisk
from tests.support.kubekit.plane_worlds import environment


def life(directory, definitions, story=None):
    """One life of a plane with these definitions: its definition of widgets, after the story."""

    async def live():
        world = await opened(directory, definitions)
        try:
            if story is not None:
                await story(world)
            await world.plane.rest()
            return world.definition()
        finally:
            await world.plane.close()

    return virtual_time.run(live())


def test_a_definition_is_made_once(tmp_path):
    """It is there from the first start on, and not written again."""
    first = life(tmp_path, [definition()])

    assert life(tmp_path, [definition()]) == first
    assert first["metadata"]["annotations"][DIGEST]


def test_a_definition_that_changed_is_renewed(tmp_path):
    """The kind is what the new one says; what others noted on it stays."""

    async def note(world):
        present = world.definition()
        present["metadata"]["labels"] = {"team": "blue"}
        await world.replace(present)

    life(tmp_path, [definition()], note)
    second = life(tmp_path, [definition("widgets", version(deprecated=True))])

    assert second["spec"]["versions"][0]["deprecated"] is True
    assert second["metadata"]["generation"] == 2
    assert second["metadata"]["labels"] == {"team": "blue"}


def test_what_people_change_stays_until_we_change_it(tmp_path):
    """A restart with the same definition takes nothing back."""

    async def shorten(world):
        names = world.definition()["spec"]["names"]
        await world.change(names=names | {"shortNames": ["wd"]})

    life(tmp_path, [definition()], shorten)

    assert life(tmp_path, [definition()])["spec"]["names"]["shortNames"] == ["wd"]


def test_a_definition_that_is_about_to_go_is_let_go(tmp_path):
    """It was deleted, and something holds one of its objects."""

    async def doom(world):
        await world.make("held", metadata={"finalizers": ["example.com/hold"]})
        await world.drop()

    life(tmp_path, [definition()], doom)
    found = life(tmp_path, [definition("widgets", version(deprecated=True))])

    assert "deletionTimestamp" in found["metadata"]
    assert "deprecated" not in found["spec"]["versions"][0]


def test_a_definition_that_cannot_be_is_refused(tmp_path):
    """The plane does not start without the kinds that it has to serve."""
    life(tmp_path, [definition()])

    with pytest.raises(DefinitionRefused, match=r"spec\.scope: .* field is immutable"):
        life(tmp_path, [definition(scope="Cluster")])
    assert life(tmp_path, [])["spec"]["scope"] == "Namespaced"


def test_the_given_documents_stay_as_they_are(tmp_path):
    """They may be shared between planes."""
    given = definition()
    life(tmp_path, [given])

    assert given == definition()


def test_a_full_disk_does_not_keep_people_from_reading(tmp_path, caplog):
    """A definition that cannot be written is logged, and the rest is served."""
    disk = FaultyDisk()

    async def live():
        surroundings = environment()
        store = await Store.open(tmp_path / "plane.db", surroundings, threaded=False, vfs=disk.name)
        with disk.failing(on_write=apsw.SQLITE_FULL):
            plane = await Plane.on(store, Kinds(builtins.core()), surroundings, [definition()])
        await plane.close()

    virtual_time.run(live())
    assert "definition not created" in [record.message for record in caplog.records]


def test_ours_are_served_as_definitions(tmp_path):
    """All kinds that we bring can be defined in a plane, and are the same as without."""

    async def live():
        surroundings = environment()
        plane = await Plane.open(
            tmp_path,
            builtins.native(),
            surroundings,
            threaded=False,
            definitions=crds.definitions(),
        )
        served = {(k.resource.api_version, k.resource.kind): k.schema for k in plane.kinds}
        await plane.close()
        return served

    expected = {
        (k.resource.api_version, k.resource.kind): k.schema for k in served_kinds.everything()
    }
    assert virtual_time.run(live()) == expected
