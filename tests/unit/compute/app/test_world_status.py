"""What `compute up status` prints about a world."""

from datetime import timedelta

import msgspec
import pytest

from compute.api.karmada import ClusterSpec, MemberCluster
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec, ProjectStatus
from compute.app.planes import PlaneRef
from compute.app.world_folder import WorldFolder
from compute.app.world_status import (
    PartStatus,
    PlaneLoad,
    StuckObject,
    WorldStatus,
    _cell,
    _late,
    _project,
)
from compute.cli.local.world_screen import _lines
from kubekit.api.meta import ObjectMeta, with_status
from tests.support.compute.builders import NOW, condition, instance

WAITS = condition("Ready", "False", "NetworkNotFound", "there is no network x", since=NOW)
STUCK = StuckObject(
    project="shop",
    kind="Instance",
    name="default/web-home-dfw-0",
    since="2026-06-01T12:00:00Z",
    why="not Ready; NetworkNotFound: there is no network x",
    next="kubectl --context admin-project-shop --namespace default describe instance web-home-dfw-0",
)


def status(*stuck: StuckObject, version: str = "1.0") -> WorldStatus:
    return WorldStatus(
        version=version,
        command_version="1.0",
        url="https://127.0.0.1:7443",
        pid=7,
        started="2026-06-01T12:00:00Z",
        data="/world",
        cells=(PartStatus(name="dfw", city="DFW", ready=True, state="Ready"),),
        projects=(PartStatus(name="shop", city="", ready=True, state="Ready"),),
        cpu=0.125,
        memory_bytes=100 * 2**20,
        planes=(PlaneLoad(plane="hub", writes=12, bytes=2**20),),
        stuck=stuck,
    )


def shown(tmp_path, current: WorldStatus) -> list[str]:
    return list(_lines(WorldFolder(tmp_path), current))


def test_a_world_that_is_well_is_shown_in_rows(tmp_path):
    """Cells, projects, load, and that nothing is stuck."""
    assert shown(tmp_path, status())[1:] == [
        "Version 1.0",
        "",
        "cell     dfw          DFW    Ready",
        "project  shop                Ready",
        "load     process             12.5% of a processor since the start, 100 MiB of memory",
        "load     hub                 12 writes, 1.0 MiB on disk",
        "stuck    nothing",
    ]


@pytest.mark.parametrize(("runs", "said"), [("0.9", "Version 0.9; "), ("", "Version unknown; ")])
def test_a_world_of_another_version_names_the_commands_to_update_it(tmp_path, runs, said):
    """It keeps running the version that it was started with."""
    line = shown(tmp_path, status(version=runs))[1]
    assert line.startswith(said + "this command has version 1.0: `compute down")


def test_what_is_stuck_is_shown_with_a_command(tmp_path):
    """Ten of them; the rest is counted."""
    lines = shown(tmp_path, status(*[STUCK] * 12))
    assert sum(line.startswith("stuck    shop") for line in lines) == 10
    assert lines[-2].strip() == STUCK.next
    assert lines[-1].endswith("and 2 more; `-o json` lists them all")


def test_an_instance_that_is_not_ready_for_minutes_is_stuck():
    """With its reason, and the command in the administrator's context of its project."""
    waiting = instance(namespace="default", conditions=(WAITS,))
    ref = PlaneRef("project", "shop")
    assert _late(ref, [waiting], "Ready", NOW + timedelta(minutes=6)) == [STUCK]
    assert _late(ref, [waiting], "Ready", NOW + timedelta(minutes=4)) == []


def test_a_cell_has_the_state_of_its_cluster_on_the_hub(tmp_path):
    """Nothing yet, that it answers, or since when it does not."""
    new = MemberCluster(metadata=ObjectMeta(name="dfw"), spec=ClusterSpec(sync_mode="Push"))
    silent = condition("Ready", "Unknown", "ClusterStatusUnknown", "it has not answered")
    for conditions, state in (
        ((), "no report yet"),
        ((condition("Ready", "True", "ClusterReady"),), "Ready"),
        ((silent,), "it has not answered"),
    ):
        cluster = with_status(new, conditions=conditions)
        assert _cell(WorldFolder(tmp_path), cluster).state == state


def test_a_deleted_project_shows_what_it_waits_for():
    """With the message of its own condition."""
    owner = ProjectOwnerRef(kind="Organization", name="acme")
    going = Project(
        metadata=ObjectMeta(name="shop", deletion_timestamp=NOW),
        spec=ProjectSpec(owner_ref=owner),
        status=ProjectStatus(conditions=(condition("Ready", "False", "X", "Waiting for dfw"),)),
    )
    assert _project(going).state == "being deleted. Waiting for dfw"
    bare = msgspec.structs.replace(going, status=ProjectStatus())
    assert _project(bare).state == "being deleted"
