"""`compute up` from the outside: a world that starts, continues after a crash, and ends."""

import asyncio
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compute.api.compute import Workload
from compute.api.karmada import MemberCluster
from compute.api.resource_manager import Project
from compute.app.system_environment import system
from compute.decide.conditions import find
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from tests.support.compute import builders
from tests.support.kubekit.plane_process import stream

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
READY = "Ctrl-C stops it."


def compute(*arguments: str, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
    """A command that comes to its end."""
    return subprocess.run(
        [sys.executable, "-m", "compute", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


def fails(*arguments: str, code: int = 1) -> str:
    """The cause with which a command ends, and the next command."""
    done = compute(*arguments)
    assert done.returncode == code, done
    error, *following = done.stderr.splitlines()
    assert error.startswith("Error: ")
    assert [line.partition(":")[0] for line in following] in ([], ["Next"]), done.stderr
    return done.stderr


class Running:
    """A world in the foreground, and what it printed until it was ready."""

    def __init__(self, data: Path, *options: str) -> None:
        line = [sys.executable, "-m", "compute", "up", f"--data={data}", "--port=0", *options]
        self.process = subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.output = ""
        for text in stream(self.process.stdout):
            self.output += text
            if READY in text:
                return
        pytest.fail(f"it never became ready: {self.output} {self.process.communicate()[1]}")


@contextmanager
def up(data: Path, *options: str) -> Iterator[Running]:
    """A world in the foreground."""
    world = Running(data, *options)
    try:
        yield world
    finally:
        world.process.kill()
        world.process.communicate()


async def give_up(data: Path, cell: str) -> None:
    """Delete the Cluster of a cell, as operators do to remove the cell, and wait until it is gone."""
    async with client(data, "hub") as hub:
        await hub.delete(await hub.get(MemberCluster, cell))
        async with asyncio.timeout(30):
            while await hub.find(MemberCluster, cell) is not None:  # noqa: ASYNC110 - of another process
                await asyncio.sleep(0.05)


def client(data: Path, context: str) -> HttpClient:
    environment = system()
    return HttpClient(load(environment, [data / "kubeconfig"], context), environment)


def test_it_prints_its_address_and_what_to_type(tmp_path):
    """Address, cells, contexts and the kubeconfig; Ctrl-C ends it well."""
    data = tmp_path / "world"
    with up(data, "--cities=DFW,LHR,DFW", "--project=shop") as world:
        output = world.output
        assert re.search(r"Ready after \d+\.\d s at https://127\.0\.0\.1:\d+\n", output)
        assert "DFW (dfw), LHR (lhr), DFW (dfw-2)" in output
        assert "core, hub, project-shop, cell-dfw, cell-dfw-2, cell-lhr" in output
        assert (
            "  compute deploy hello --image registry.example.test/team/hello:1 --city DFW,LHR\n"
            in output
        )
        assert f"export KUBECONFIG={shlex.quote(str(data / 'kubeconfig'))}\n" in output
        assert "server warns" not in output
        world.process.send_signal(signal.SIGINT)
        out, err = world.process.communicate(timeout=30)
        assert world.process.returncode == 0
        assert out.endswith("Stopped. All acknowledged writes are kept.\n")
        assert err == ""
    modes = {f.stat().st_mode & 0o077 for f in data.rglob("*") if f.suffix != ".crt"}
    assert modes == {0}


def test_a_second_world_on_the_same_data_is_refused(tmp_path):
    """It names the first, and changes nothing."""
    data = tmp_path / "world"
    with up(data, "--cities=DFW") as world:
        error = fails("up", f"--data={data}", "--port=0", code=8)
        assert "is up already at https://127.0.0.1:" in error
        assert f"(process {world.process.pid})" in error
        shown = compute("up", f"--data={data}", "status")
        assert shown.returncode == 0
        assert re.search(r"^cell +dfw +DFW +Ready$", shown.stdout, re.MULTILINE)
        assert re.search(r"^project +demo +Ready$", shown.stdout, re.MULTILINE)


def test_it_continues_in_the_background_after_being_killed(tmp_path):
    """What was acknowledged is there after `kill -9`; `down` ends it, and says so twice."""
    data = tmp_path / "world"
    started = compute("up", f"--data={data}", "--port=0", "--cities=DFW,LHR", "--detach")
    assert started.returncode == 0, started.stderr
    state = json.loads((data / "up.json").read_text())
    try:
        created = asyncio.run(_deployed(data))
        os.kill(state["pid"], signal.SIGKILL)
        again = compute("up", f"--data={data}", "--port=0", "--cities=LHR", "--detach")
        assert again.returncode == 0, again.stderr
        assert asyncio.run(_found(data)) == created
    finally:
        ended = compute("down", f"--data={data}")
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (
        0,
        f"Stopped. `compute up --data {data}` starts it again with all its data.",
    )
    assert "is not running" in compute("down", f"--data={data}").stdout
    assert "is not running" in fails("up", f"--data={data}", "status", code=5)


def test_cells_are_cut_and_healed_by_city_or_name(tmp_path):
    """The hub remembers it, so a world that starts again is still cut; a wrong name is an error."""
    data = tmp_path / "world"
    with up(data, "--cities=DFW,LHR"):
        assert "cells: dfw, lhr" in fails("cell", f"--data={data}", "cut", "XXX", code=7)
        cut = compute("cell", f"--data={data}", "cut", "lhr")
        assert cut.stdout.startswith("lhr is cut off.")
        asyncio.run(give_up(data, "dfw"))
        status = json.loads(compute("up", f"--data={data}", "status", "-o", "json").stdout)
        assert status["version"] == status["commandVersion"]
        states = {cell["name"]: cell["state"] for cell in status["cells"]}
        assert states["lhr"].startswith("cut off; ")
        assert states["dfw"].startswith("its Cluster on the hub is gone")
        assert 2**20 < status["memoryBytes"] < 2**30
        planes = {plane["plane"] for plane in status["planes"]}
        assert planes == {"core", "hub", "cell-dfw", "cell-lhr", "project-demo"}
        assert status["stuck"] == []
    with up(data):
        shown = compute("up", f"--data={data}", "status").stdout
        assert re.search(r"^cell +dfw +DFW +Ready", shown, re.MULTILINE)
        assert re.search(r"^cell +lhr +LHR +cut off", shown, re.MULTILINE)
        healed = compute("cell", f"--data={data}", "heal", "LHR")
        assert healed.stdout.startswith("lhr is connected again, ")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--cities="], "no city is named"),
        (["--cities=DFW,,dfw"], "no city has the code 'dfw'; did you mean DFW (Dallas)?"),
        (["--cities=TOOLONG"], "no city has the code 'TOOLONG'; the 222 known cities have"),
    ],
)
def test_bad_cities_are_reported_before_anything_is_created(tmp_path, options, error):
    """The folder is not even there afterwards."""
    assert error in fails("up", f"--data={tmp_path / 'world'}", *options)
    assert not (tmp_path / "world").exists()


def test_a_port_in_use_is_reported(tmp_path):
    """In the foreground and in the background alike."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for more in ([], ["--detach"]):
            error = fails("up", f"--data={tmp_path / 'world'}", f"--port={port}", *more)
            assert f"port {port} of 127.0.0.1 is in use" in error


def test_cells_cannot_be_cut_in_a_world_that_does_not_run(tmp_path):
    """The sentence says how to start it."""
    error = fails("cell", f"--data={tmp_path}", "cut", "DFW", code=5)
    assert "is not running" in error
    assert f"Next:  compute up --detach --data {tmp_path}\n" in error


def test_a_silent_cell_is_unreachable_after_the_timeout_that_was_set(tmp_path):
    """The setting reaches the process in the background too, and is a fraction of the default here."""
    data = tmp_path / "world"
    started = compute(
        "up", f"--data={data}", "--port=0", "--cities=DFW", "--detach", "--cell-timeout=5s"
    )
    assert started.returncode == 0, started.stderr
    try:
        assert asyncio.run(_silence(data)) < 15
    finally:
        compute("down", f"--data={data}")


async def _silence(data: Path) -> float:
    """Seconds until a cell that is cut off is Unknown."""
    loop = asyncio.get_running_loop()
    assert (
        await asyncio.to_thread(compute, "cell", "cut", "dfw", f"--data={data}")
    ).returncode == 0
    cut = loop.time()
    async with client(data, "hub") as hub, asyncio.timeout(30):
        while True:
            dfw = await hub.get(MemberCluster, "dfw")
            ready = find(dfw.status.conditions, "Ready")
            if ready and ready.status == "Unknown":
                return loop.time() - cut
            await asyncio.sleep(0.05)


async def _deployed(data: Path) -> str:
    async with client(data, "project-demo") as user:
        created = await user.create(builders.workload("web", builders.placement("home", "DFW")))
        return created.metadata.uid


async def _found(data: Path) -> str:
    async with client(data, "project-demo") as user, client(data, "core") as core:
        await core.get(Project, "demo")
        return (await user.get(Workload, "web", "default")).metadata.uid
