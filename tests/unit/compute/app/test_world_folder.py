"""The folder of a world, and how other commands name it."""

import asyncio

import pytest

from compute.app.planes import CORE, OpenPlanes, PlaneFolders
from compute.app.system_environment import system
from compute.app.world_folder import ENVIRONMENT, WorldFolder
from compute.cli.root import run


@pytest.mark.parametrize(
    "line",
    [["up", "status"], ["cell", "cut", "DFW"], ["cell", "heal", "DFW"]],
    ids=" ".join,
)
def test_the_folder_may_be_named_at_the_end(tmp_path, capsys, line):
    """What follows a subcommand counts, whatever was said before it."""
    named = [line[0], "--data", str(tmp_path / "other"), *line[1:], "--data", str(tmp_path)]

    assert run(named) == 5
    assert capsys.readouterr().err == (
        f"Error: the world in {tmp_path} is not running\n"
        f"Next:  compute up --detach --data {tmp_path}\n"
    )


def test_a_command_names_its_folder_unless_it_is_the_default(tmp_path, monkeypatch):
    """What is printed can be typed as it stands, from any folder."""
    folder = WorldFolder(tmp_path / "my world")
    assert folder.command("down") == f"compute down --data '{tmp_path}/my world'"

    monkeypatch.setenv(ENVIRONMENT, str(folder.data))
    assert folder.command("down") == "compute down"


def test_a_starting_world_is_reported_as_such(tmp_path, capsys):
    """The error of a command that comes too early does not say to start another world."""

    async def story() -> int:
        planes = OpenPlanes(PlaneFolders(tmp_path, system()))
        await planes.open(CORE)
        code = await asyncio.to_thread(run, ["up", "status", f"--data={tmp_path}"])
        await planes.close()
        return code

    assert asyncio.run(story()) == 3
    assert "is still starting; try again in a moment" in capsys.readouterr().err
