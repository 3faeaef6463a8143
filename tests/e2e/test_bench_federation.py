"""bench/federation.py as it is typed, as short as it can be."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, with all that it prints."""
    return subprocess.run(
        [sys.executable, "bench/federation.py", *arguments],
        cwd=_ROOT, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip


@pytest.mark.e2e
@pytest.mark.peer
@pytest.mark.slow
@pytest.mark.long
def test_deliveries_are_measured_on_both_engines(tmp_path):
    """Every part is found in the file; what is beside Karmada is in the tables."""
    file = tmp_path / "found.json"
    done = bench("--quick", "--only", "latencies,rest,lives", "--json", str(file))
    assert done.returncode == 0, done.stderr + done.stdout
    found = json.loads(file.read_text())
    assert (found["karmada"]["failed"], found["embedded"]["failed"]) == ("", "")
    for engine in ("karmada", "embedded"):
        hops = found[engine]["alone"]["hops"] | found[engine]["managed"]["hops"]
        assert len(hops) == 7
        assert all(0 < hop["p50"] <= hop["p99"] for hop in hops.values())
        assert {"management", "dfw-manager"} < found[engine]["rest"]["usage"].keys()
    assert found["karmada"]["rest"]["writes"] == {}
    assert found["karmada"]["life"]["requests"]["project create workloaddeployments 201"] == 1
    for text in ("a Workload's life", "engine alone: hub to cell", "writes at rest"):
        assert text in done.stdout


@pytest.mark.e2e
@pytest.mark.slow
def test_an_unknown_part_is_named():
    """A misspelt part is refused before anything is started."""
    done = bench("--only", "latencies,naps")
    assert done.returncode == 2
    assert "there is no naps" in done.stderr
