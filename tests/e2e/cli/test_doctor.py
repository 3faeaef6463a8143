"""`compute doctor`: on a healthy world, with faults that are planted, and without a server."""

import json
import os
import signal
from collections.abc import Callable

import pytest

from compute.api import annotations
from compute.api.compute import Instance, Workload
from compute.api.networking import Network
from compute.decide.doctor import Check
from kubekit.api.meta import with_metadata
from kubekit.client.client import Client
from tests.e2e.cli.conftest import new_transcript
from tests.support.compute.cli_runner import CommandLine
from tests.support.compute.cli_world import (
    has_reason,
    in_plane,
    make_project,
    make_workload,
    settle,
)
from tests.support.compute.deployed_workloads import GOOD, deployed

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PROJECT = "doctor"
STAMP = "2026-06-01T12:00:00Z"


@pytest.fixture
def web(shop, name):
    """A workload that runs in two cities."""
    deployed(shop, name, "--image", GOOD, "--city", "DFW,LHR", revision=1)
    yield name
    assert shop("destroy", name, "--yes", "--wait").code == 0


def edit(shop: CommandLine, name: str, change: Callable[[Workload], Workload]) -> None:
    async def edited(client: Client) -> None:
        workload = await client.get(Workload, name, "default")
        await client.patch(workload, change(workload))

    in_plane(shop.data, f"project-{PROJECT}", edited)


def both_have_reason(reason: str) -> Callable[[tuple[Instance, ...]], bool]:
    fits = has_reason(reason)
    return lambda instances: len(instances) > 1 and all(fits((each,)) for each in instances)


def known_annotations(shop: CommandLine, name: str) -> dict[str, str]:
    async def read(client: Client) -> dict[str, str]:
        return (await client.get(Workload, name, "default")).metadata.annotations

    return in_plane(shop.data, f"project-{PROJECT}", read)


def test_a_healthy_workload(shop_transcript, web):
    """All checks of it are shown, with what each found."""
    shop_transcript.replace[web] = "web"

    assert shop_transcript("doctor", web).code == 0
    assert shop_transcript("doctor", web, "-o", "yaml").code == 0


def test_a_healthy_project(shop, web):
    """Every section is there, and nothing failed; a log or a cell of other tests may be worth a warning."""
    done = shop("doctor")
    view = json.loads(shop("doctor", "-o", "json").stdout)
    checked = {check["check"] for check in view["checks"]}
    lines = [json.loads(line) for line in shop("doctor", "-o", "jsonl").stdout.splitlines()]

    assert done.code == 0, done
    assert f"Workload {web}: 13 checks passed" in done.stdout
    for heading in ("Connection", "Project", "Platform on this machine"):
        assert f"\n{heading}\n" in f"\n{done.stdout}"
    assert view["failed"] == 0
    assert set(Check) - checked == {"exists", "deletion"}
    assert [line["check"] for line in lines] == [check["check"] for check in view["checks"]]


def test_an_image_that_cannot_be_pulled(shop, shop_transcript, name):
    """The cause, how many instances it concerns, and what to type."""
    shop_transcript.replace[name] = "web"
    make_workload(shop.data, PROJECT, name, "DFW", "LHR", image="registry.test/does-not-exist:1")
    settle(shop.data, PROJECT, Instance, both_have_reason("ImageUnavailable"))
    with shop.terminal("doctor", name, columns=80) as terminal:
        screen = terminal.until(r"^\d+ checks: ")
        assert terminal.ended() == 1

    assert shop_transcript("doctor", name).code == 1
    assert "FAIL  images" in screen
    assert max(map(len, screen.splitlines())) <= 80
    assert shop("destroy", name, "--yes", "--wait").code == 0


def test_annotations_without_an_effect_are_repaired(shop, shop_transcript, web):
    """A warning names the repair; --fix does it, says what it did, and checks again."""
    shop_transcript.replace[web] = "web"
    stale = {
        annotations.PAUSED_CITIES: "LHR,FRA",
        annotations.RESTARTED_CITIES: json.dumps({"FRA": STAMP}),
    }
    edit(shop, web, lambda workload: with_metadata(workload, annotations=stale))

    assert shop_transcript("doctor", web).code == 0
    assert shop_transcript("doctor", web, "--fix").code == 0
    assert known_annotations(shop, web) == {annotations.PAUSED_CITIES: "LHR"}


def test_a_missing_network_is_created_after_a_question(world, request, name):
    """Without a terminal -y is needed; a person is asked."""
    make_project(world.data, "netless")
    compute = world.of(COMPUTE_PROJECT="netless")
    transcript = new_transcript(compute, request)
    transcript.replace[name] = "web"

    async def without_network(client: Client) -> None:
        await client.delete(await client.get(Network, "default", "default"))

    in_plane(world.data, "project-netless", without_network)
    settle(world.data, "netless", Network, lambda networks: not networks)
    make_workload(world.data, "netless", name, "DFW")

    assert transcript("doctor", name).code == 1
    assert transcript("doctor", name, "--fix").code == 1
    with compute.terminal("doctor", name, "--fix", columns=100) as terminal:
        terminal.until(r"Create network default in project netless\? \[Y/n\]")
        terminal.type("n\r")
        terminal.until("does not exist")
        assert terminal.ended() == 1
    fixed = transcript("doctor", name, "--fix", "-y", "-o", "json")
    assert "Fixed: created network default in project netless\n" in fixed.stderr
    transcript.runs.pop()  # whether the network is ready already differs
    transcript.check()


def test_mistakes(shop_transcript):
    """A name that does not exist, and a project that does not."""
    assert shop_transcript("doctor", "no-such-workload").code == 7
    assert shop_transcript("doctor", "no-such-workload", COMPUTE_PROJECT="no-such").code == 7
    assert shop_transcript("doctor", "--fixx").code == 2


def test_credentials_that_are_not_accepted(shop_transcript, compute):
    server = f"--server={_address(compute)}"
    authority = f"--certificate-authority={compute.data}/pki/ca.crt"

    assert shop_transcript("doctor", server, "--token=expired", authority).code == 1


def test_a_world_whose_process_is_gone(tmp_path, request):
    """What can be checked without the server is, and --fix removes the file that the process left."""
    compute = CommandLine(tmp_path, tmp_path / "world")
    assert compute("up", "--detach", "--port=0", "--cities=DFW").code == 0
    state = json.loads((compute.data / "up.json").read_text())
    try:
        os.kill(state["pid"], signal.SIGKILL)
        transcript = new_transcript(compute, request)
        while compute("up", "status").code == 0:
            pass
        assert transcript("doctor").code == 5
        assert transcript("doctor", "--fix").code == 5
        assert not (compute.data / "up.json").exists()
    finally:
        compute("down")
    transcript.replace |= {_free(transcript.runs[0].stdout): "FREE"}
    transcript.check()


def test_no_server_is_chosen(tmp_path, request):
    compute = CommandLine(tmp_path, tmp_path / "world")
    transcript = new_transcript(compute, request)

    assert transcript("doctor").code == 1
    assert transcript("doctor", "-o", "json").code == 1
    transcript.check()


def _address(compute: CommandLine) -> str:
    url: str = json.loads((compute.data / "up.json").read_text())["url"]
    return url


def _free(text: str) -> str:
    """The free space that a report names."""
    return next(" ".join(line.split()[2:4]) for line in text.splitlines() if " free in " in line)
