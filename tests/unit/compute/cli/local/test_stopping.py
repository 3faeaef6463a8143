"""`compute reset` and `compute down --purge`: what is deleted, and what never is."""

import asyncio

import pytest

from compute.app.planes import CORE, OpenPlanes, PlaneFolders
from compute.app.system_environment import system
from compute.cli.root import run

WRITTEN = ("accounts.key", "audit.log", "audit.log.1", "kubeconfig", "token", "up.json", "up.log")


@pytest.fixture
def world(tmp_path):
    """A world that has ended."""
    data = tmp_path / "world"

    async def story() -> None:
        planes = OpenPlanes(PlaneFolders(data, system()))
        await planes.open(CORE)
        await planes.close()

    asyncio.run(story())
    for name in WRITTEN:
        (data / name).write_text("x")
    for folder in ("pki", "planes/cells/dfw", "planes/hub", "planes/projects/demo"):
        (data / folder).mkdir(parents=True)
        (data / folder / "plane.db").write_text("x")
    return data


@pytest.mark.parametrize("command", [["reset"], ["down", "--purge"]], ids=["reset", "purge"])
def test_all_data_of_a_world_is_deleted(world, capsys, command):
    """The folder itself as well, once nothing is left in it."""
    assert run([*command, "-y", "--data", str(world)]) == 0
    assert f"Deleted all data of the world in {world}.\n" in capsys.readouterr().out
    assert not world.exists()


def test_what_no_world_wrote_stays(world, capsys):
    """Files of the user, and what a link leads to."""
    (world / "notes.txt").write_text("mine")
    (world.parent / "elsewhere").mkdir()
    (world.parent / "elsewhere" / "photo").write_text("mine")
    (world / "pki" / "plane.db").unlink()
    (world / "pki").rmdir()
    (world / "pki").symlink_to(world.parent / "elsewhere")

    assert run(["reset", "-y", "--data", str(world)]) == 0

    assert "Kept, because no world wrote it: notes.txt\n" in capsys.readouterr().out
    assert [path.name for path in world.iterdir()] == ["notes.txt"]
    assert (world.parent / "elsewhere" / "photo").read_text() == "mine"


@pytest.mark.parametrize("command", [["reset"], ["down", "--purge"]], ids=["reset", "purge"])
def test_another_folder_is_never_deleted(tmp_path, capsys, command):
    """Not even one with files of the same names."""
    for name in WRITTEN:
        (tmp_path / name).write_text("mine")
    (tmp_path / "planes").mkdir()

    assert run([*command, "-y", "--data", str(tmp_path)]) == 7

    assert capsys.readouterr().err == (f"Error: {tmp_path} holds no world; nothing was deleted\n")
    assert {path.name for path in tmp_path.iterdir()} == {*WRITTEN, "planes"}


@pytest.mark.parametrize(
    ("command", "again"),
    [(["reset"], "reset -y"), (["down", "--purge"], "down --purge -y")],
    ids=["reset", "purge"],
)
def test_without_a_terminal_it_has_to_be_confirmed(world, capsys, command, again):
    """Nothing is guessed, and nothing is deleted."""
    assert run([*command, "--data", str(world)]) == 2

    assert capsys.readouterr().err == (
        f"Error: this deletes all data of the world in {world}: confirm it with -y\n"
        f"Next:  compute {again} --data {world}\n"
    )
    assert (world / "kubeconfig").exists()


def test_a_reset_that_was_interrupted_can_be_repeated(world):
    """The core plane marks the folder as a world, so it is deleted last."""
    for name in WRITTEN:
        (world / name).unlink()

    assert run(["reset", "-y", "--data", str(world)]) == 0
    assert not world.exists()
