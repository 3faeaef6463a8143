"""The command line on a real kube-apiserver that has our kinds, with our controllers beside it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.compute import cli_life, kube_world
from tests.support.compute.cli_runner import CommandLine

ROOT = Path(__file__).parents[3]
LIMIT = 30.0  # seconds for a process to end

pytestmark = [pytest.mark.peer, pytest.mark.e2e, pytest.mark.slow]


def lines_until(process: "subprocess.Popen[str]", ready: str) -> list[str]:
    """What a process prints until it is ready."""
    lines: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith(ready):
            return lines
    raise AssertionError("\n".join(lines))


def python(*arguments: str, **variables: str) -> "subprocess.Popen[str]":
    """A process that ends when its stdin is closed."""
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=os.environ | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """The command line with nothing but a kubeconfig of a cluster of its own."""
    home = tmp_path_factory.mktemp("kube")
    server = python("tests.peers", "--piped")
    world = None
    try:
        known = [line.removeprefix("export ") for line in lines_until(server, "ready ")]
        variables = dict(line.split("=", 1) for line in known if "=" in line)
        kubeconfig = variables["KUBECONFIG"]
        world = python(kube_world.__name__, str(home / "planes"), KUBECONFIG=kubeconfig)
        lines_until(world, kube_world.READY)
        yield CommandLine(home, home / "nowhere", {"KUBECONFIG": kubeconfig, "COMPUTE_DATA": ""})
    finally:
        for process in filter(None, (world, server)):
            process.communicate(timeout=LIMIT)


def test_the_life_of_a_workload(kube):
    """Every command works as it does on one machine."""
    cli_life.live(kube)


def test_the_rule_that_chose_the_cluster_is_named(kube):
    view = json.loads(kube("config", "view", "-o", "json").stdout)

    assert view["rule"] == "kubeconfig"
    assert view["project"] == ""
