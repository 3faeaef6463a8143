"""Commands that follow a project whose server goes away."""

import signal

import pytest
from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import Workload
from kubekit.api.meta import with_metadata, with_spec
from tests.support.compute.cli_runner import CommandLine
from tests.support.compute.project_objects import create, wanted

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_server_that_is_gone_leaves_the_result_unknown(tmp_path):
    """`wait` ends with 5: the workloads go on, and it cannot know how. `events -w` goes on trying."""
    compute = CommandLine(tmp_path, tmp_path / "world")
    assert compute("up", "--detach", "--port=0", "--cities=DFW").code == 0
    create(compute, with_metadata(wanted("held"), annotations={annotations.PAUSED: "true"}))
    create(compute, wanted("free"))
    assert compute("wait", "held", "free").code == 0
    wait = compute.start("wait", "held", "free", "--for", "paused", "--timeout", "5s")
    events = compute.start("events", "-w", "-o", "jsonl")
    assert wait.stdout is not None
    assert events.stdout is not None
    assert events.stderr is not None
    first = wait.stdout.readline()
    events.stdout.readline()
    compute("down")
    lost = events.stderr.readline()
    events.send_signal(signal.SIGINT)
    events.communicate(timeout=60)
    rest, error = wait.communicate(timeout=60)

    assert first == "workload/held is paused\n"
    assert rest == "workload/free has an unknown state: the server cannot be reached\n"
    assert error == (
        "Error: 1 of 2 workloads did not reach paused; "
        "free has an unknown state: the server cannot be reached\nNext:  compute doctor\n"
    )
    assert lost == "The server cannot be reached; trying again until Ctrl-C.\n"
    assert (wait.returncode, events.returncode) == (5, 130)


def test_a_rollout_whose_server_is_gone_has_an_unknown_result(tmp_path):
    """It says at once that the server is lost, and does not end with what it saw before."""
    compute = CommandLine(tmp_path, tmp_path / "world")
    assert compute("up", "--detach", "--port=0", "--cities=DFW").code == 0
    create(compute, with_scale(wanted("big"), 20))
    follower = compute.start("rollout", "status", "big", "--timeout", "12s")
    assert follower.stdout is not None
    assert follower.stderr is not None
    follower.stdout.readline()
    compute("down")
    lost = follower.stderr.readline()
    _, rest = follower.communicate(timeout=60)

    assert lost == "The server cannot be reached; trying again. The rollout goes on meanwhile.\n"
    assert "Error: the result of the rollout of big is not known in DFW; it goes on" in rest
    assert follower.returncode == 5


def with_scale(workload: Workload, least: int) -> Workload:
    """The Workload with so many instances in each city."""
    (placement,) = workload.spec.placements
    scale = replace(placement.scale_settings, min_replicas=least)
    return with_spec(workload, placements=(replace(placement, scale_settings=scale),))
