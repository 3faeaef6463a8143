"""`compute reset` and `compute down --purge` of a running world, with their question on a terminal."""

import pytest

from tests.support.compute.cli_runner import CommandLine

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_running_world_is_stopped_before_its_data_is_deleted(tmp_path):
    """No is the default; after yes, neither a process nor a file is left."""
    compute = CommandLine(tmp_path, tmp_path / "world")
    assert compute("up", "--detach", "--port=0", "--cities=DFW").code == 0
    try:
        refused = compute("reset")
        assert refused.code == 2
        assert "which is running (process " in refused.stderr
        with compute.terminal("reset", columns=300) as terminal:
            terminal.until(
                r"Delete all data of the world in .*running \(process \d+\)\? \[y/N\]:", 30
            )
            terminal.type("\r")
            terminal.until("^Nothing was deleted.$")
            assert terminal.ended() == 0
        assert compute("up", "status").code == 0
        with compute.terminal("down", "--purge", columns=300) as terminal:
            terminal.until(r"\[y/N\]:", 30)
            terminal.type("y\r")
            terminal.until("^Stopping process")
            terminal.until("^Deleted all data of the world in")
            assert terminal.ended() == 0
        assert not compute.data.exists()
        assert compute("reset", "-y").code == 7
    finally:
        compute("down")
