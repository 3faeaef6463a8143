"""Everything that goes wrong, in one world: each command names the cause in words a newcomer understands.

The world is this module's own, since cells are cut off and removed in it.
"""

from collections.abc import Iterator

import pytest

from compute.api.compute import Instance, WorkloadDeployment
from compute.api.karmada import MemberCluster
from compute.app.planes import PLATFORM
from kubekit.client.client import Client
from tests.e2e.cli.conftest import new_transcript
from tests.support.compute.cli_runner import CommandLine
from tests.support.compute.cli_world import (
    configure,
    has_reason,
    in_plane,
    make_project,
    settle,
)

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]

CITIES = ("DFW", "IAD", "LHR", "SIN")
IMAGES = {"missing": "does-not-exist:1", "crashing": "crash:1", "misconfigured": "misconfigured:1"}
# What each Workload shows: the reason, and the code of `rollout status` after a second.
FAILURES = {
    "missing": ("ImageUnavailable", 4),
    "crashing": ("InstanceCrashing", 4),
    "misconfigured": ("ConfigurationError", 4),
    "greedy": ("QuotaExceeded", 6),
    "unconnected": ("NetworkFailedToCreate", 6),
    "cut": ("CellUnreachable", 5),
    "homeless": ("NoCellForCity", 6),
}


@pytest.fixture(scope="module")
def troubles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """A world in which each Workload has another trouble, named after it."""
    home = tmp_path_factory.mktemp("troubles")
    compute = CommandLine(home, home / "world")
    started = compute(
        "up", "--detach", "--port=0", f"--cities={','.join(CITIES)}", "--cell-timeout=5s"
    )
    assert started.code == 0, started
    try:
        _break(compute)
        yield compute
    finally:
        compute("down")


def _break(compute: CommandLine) -> None:
    """Deploy everything that cannot run, and wait until the platform has noticed."""
    data = compute.data
    configure(data, "cell-dfw", "network-faults", {"failNetworks": "faulty"})
    assert compute("networks", "create", "faulty").code == 0
    for name, image in IMAGES.items():
        _deploy(compute, name, "DFW", image=image)
    _deploy(compute, "unconnected", "DFW", "--network=faulty")
    _deploy(compute, "homeless", "IAD", wait=True)
    _deploy(compute, "cut", "LHR", wait=True)
    _deploy(compute, "greedy", "SIN", "--min=20")
    assert compute("cell", "cut", "LHR").code == 0
    _remove_cell(compute, "iad")
    _deploy(compute, "cut", "LHR", image="web:2")
    for name in ("missing", "crashing", "misconfigured", "greedy"):
        settle(data, "demo", Instance, has_reason(FAILURES[name][0]))
    for name in ("unconnected", "cut", "homeless"):
        settle(data, "demo", WorkloadDeployment, has_reason(FAILURES[name][0]))
    for name in IMAGES:  # until waiting is known not to help
        assert compute("rollout", "status", name).code == 4


def _deploy(
    compute: CommandLine,
    name: str,
    city: str,
    *flags: str,
    image: str = "web:1",
    wait: bool = False,
) -> None:
    image = f"--image=registry.example.test/team/{image}"
    detach = [] if wait else ["--detach"]
    done = compute("deploy", name, image, f"--city={city}", "--yes", *detach, *flags)
    assert done.code == 0, done


def _remove_cell(compute: CommandLine, cell: str) -> None:
    async def remove(hub: Client) -> None:
        await hub.delete(await hub.get(MemberCluster, cell))

    in_plane(compute.data, "hub", remove)


@pytest.fixture
def transcript(troubles, request):
    recorded = new_transcript(troubles, request)
    yield recorded
    recorded.check()


@pytest.mark.parametrize("name", FAILURES)
def test_every_command_names_the_cause(transcript, name):
    """Which city, why, who acts and what to type: the same in each command, and the code is right."""
    reason, code = FAILURES[name]
    instance = {"greedy": "sin-5", "cut": "lhr-0", "homeless": "iad-0"}.get(name, "dfw-0")

    followed = transcript("rollout", "status", name, "--timeout", "30s" if code == 4 else "1s")
    transcript("status", name)
    transcript("instances", "describe", f"{name}-default-{instance}")
    explained = transcript("explain", f"workload/{name}")
    examined = transcript("doctor", name)

    assert followed.code == code
    assert examined.code == 1
    for run in transcript.runs:
        assert run.code in {0, 1, 7, code}
    assert reason in explained.stdout


def test_all_are_listed_with_their_cause(transcript):
    assert transcript("status").code == 0


def test_a_project_without_access_learns_what_to_do(troubles, transcript):
    configure(troubles.data, "core", "entitlements", {"approval": "Manual"}, namespace=PLATFORM)
    make_project(troubles.data, "pending")

    assert transcript("access", COMPUTE_PROJECT="pending").code == 0
    deployed = transcript(
        "deploy", "web", "--image=web:1", "--city=DFW", "--yes", COMPUTE_PROJECT="pending"
    )
    assert deployed.code == 10
    assert (
        transcript("access", "request", "--message", "a demo", COMPUTE_PROJECT="pending").code == 12
    )
    assert transcript("status", COMPUTE_PROJECT="pending").code == 0
    deployed = transcript(
        "deploy", "web", "--image=web:1", "--city=DFW", "--yes", COMPUTE_PROJECT="pending"
    )
    assert deployed.code == 12
