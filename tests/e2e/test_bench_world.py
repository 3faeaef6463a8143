"""bench/world.py as it is typed, on the smallest worlds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.load.world import peer

_ROOT = Path(__file__).parents[2]
_SHORT = ["--rest", "0.1", "--seconds", "0.1", "--touches", "20"]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, with all that it prints."""
    return subprocess.run(
        [sys.executable, "bench/world.py", *arguments],
        cwd=_ROOT, capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip


@pytest.mark.e2e
@pytest.mark.slow
def test_a_world_is_measured_from_start_to_end(tmp_path):
    """Every phase is found in the file and in the table, and the growth in pictures."""
    file = tmp_path / "found.json"
    arguments = ["--sizes", "2", "--cities", "2", "--json", str(file), "--pictures", str(tmp_path)]
    done = bench(*arguments, *_SHORT, "--folder", str(tmp_path))
    assert done.returncode == 0, done.stderr
    (world,) = json.loads(file.read_text())["worlds"]
    assert (world["instances"], world["cities"], world["failed"]) == (2, 2, "")
    assert all(world[phase] for phase in ("growing", "rest", "status", "restarting", "deleting"))
    assert "2 Instances, 2 cities" in done.stdout
    assert {each.name for each in tmp_path.glob("*.svg")} == {
        "world-instances.svg",
        "world-cities.svg",
    }


@pytest.mark.e2e
@pytest.mark.slow
def test_a_phase_that_does_not_end_in_time_is_reported(tmp_path):
    """What was not reached within the patience is reported, and the command fails."""
    done = bench("--sizes", "2", "--cities", "1", "--patience", "0.001", "--folder", str(tmp_path))
    assert done.returncode == 1
    assert "growing did not end within 0.001 s: 0 of 2 Instances were Ready" in done.stdout


def test_an_unknown_phase_is_named():
    """A misspelt part is refused before anything is started."""
    done = bench("--only", "restarting,naps")
    assert done.returncode == 2
    assert "there is no naps" in done.stderr


@pytest.mark.peer
@pytest.mark.slow
def test_pods_come_and_go(tmp_path):
    """The peer is measured by the time its Pods take and the CPU that its own programs use."""
    if reason := peer.absent():
        (pytest.fail if os.environ.get("REQUIRE_PEERS") else pytest.skip)(reason)
    pods = peer.measured(tmp_path, 3)
    assert pods.count == 3
    assert min(pods.growing, pods.growing_cpu, pods.deleting, pods.deleting_cpu) > 0
