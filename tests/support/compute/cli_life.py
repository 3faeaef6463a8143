"""The life of a Workload by the command line, whatever runs the platform that it talks to."""

import json
from typing import Final

from tests.support.compute.cli_runner import CommandLine

IMAGE: Final = "registry.example.test/team/web"


def live(compute: CommandLine) -> None:
    """Deploy, look, break, undo, destroy: each command works as it does on one machine."""
    assert compute("workloads").code == 0
    deployed = compute(
        "deploy", "web", "--image", f"{IMAGE}:1", "--city", "DFW,LHR", "--min", "2", "--yes"
    )
    assert deployed.code == 0, deployed

    view = json.loads(compute("status", "web", "-o", "json").stdout)
    assert (view["health"], view["ready"]) == ("Available", 4)
    assert [city["city"] for city in view["cities"]] == ["DFW", "LHR"]
    assert compute("rollout", "status", "web").code == 0
    assert compute("workloads", "-o", "name").stdout == "workload/web\n"

    broken = compute("deploy", "web", "--image", f"{IMAGE}:does-not-exist", "--yes")
    assert broken.code == 4, broken
    assert "Next:  compute rollout undo web" in broken.stderr

    history = json.loads(compute("rollout", "history", "web", "-o", "json").stdout)
    assert [each["rev"] for each in history] == [2, 1]
    undone = compute("rollout", "undo", "web", "--yes")
    assert undone.code == 0, undone
    assert compute("destroy", "web", "--yes", "--wait").code == 0
    assert compute("status", "web").code == 7
