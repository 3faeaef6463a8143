"""`compute manager`: management and two cells as processes, on planes that speak as Milo and Karmada do."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.peers.ports import free_ports
from tests.support.compute import managed_world
from tests.support.compute.cli_runner import CommandLine
from tests.support.compute.manager_process import ManagerProcess, managing

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
LIMIT = 30.0
IMAGE = "registry.example.test/team/web"
NETWORKING = "--feature-gates=NetworkingIntegration=true"
# A watch that ends with its server, or a pass that finds its object gone, is no trouble.
EXPECTED = re.compile(r"level=(debug|info) |NotFound: |informer fails to list or watch")


@dataclass(frozen=True, slots=True)
class Platform:
    """The served planes, and the managers that work on them."""

    folder: Path
    numbers: Iterator[int]

    def context(self, name: str) -> Path:
        return self.folder / "planes" / "contexts" / f"{name}.yaml"

    def cli(self) -> CommandLine:
        variables = {"KUBECONFIG": str(self.context("admin-project-shop")), "COMPUTE_DATA": ""}
        return CommandLine(self.folder, self.folder / "nowhere", variables)

    def management(self) -> ManagerProcess:
        config = {"mode": "milo", "discoveryKubeconfigPath": str(self.context("core"))}
        return self.start(
            "management", config, "core", "--enable-management-controllers", *self.hub, NETWORKING
        )

    def cell(self, name: str) -> ManagerProcess:
        core = str(self.context("core"))
        config = {"mode": "milo", "clusterName": name, "quotaKubeconfigPath": core}
        flags = ("--enable-cell-controllers", "--provider=simulated", f"--city={name.upper()}")
        return self.start(name, config, f"cell-{name}", *flags, *self.hub, NETWORKING)

    @property
    def hub(self) -> tuple[str, str]:
        return f"--federation-kubeconfig={self.context('hub')}", "--leader-elect=true"

    def start(
        self, name: str, discovery: dict[str, str], context: str, *flags: str
    ) -> ManagerProcess:
        number = next(self.numbers)
        file = self.folder / f"{name}-{number}.yaml"
        file.write_text(
            json.dumps(
                {
                    "apiVersion": "apiserver.config.datumapis.com/v1alpha1",
                    "kind": "WorkloadOperator",
                    "discovery": discovery,
                }
            )
        )
        (port,) = free_ports(1)
        return ManagerProcess(
            file.with_suffix(".log"),
            port,
            f"--kubeconfig={self.context(context)}",
            f"--server-config={file}",
            *flags,
        )


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    folder = tmp_path_factory.mktemp("managed")
    world = subprocess.Popen(
        [sys.executable, "-m", managed_world.__name__, str(folder / "planes")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert world.stdout is not None
        assert world.stdout.readline() == f"{managed_world.READY}\n"
        yield Platform(folder, count(1))
    finally:
        world.communicate(timeout=LIMIT)


def test_the_life_of_a_workload_with_managers_that_come_and_go(platform):
    """Two replicas of management: one leads, and the other takes over in the middle of a rollout."""
    cli = platform.cli()
    first, cells = platform.management(), [platform.cell("dfw"), platform.cell("lhr")]
    with managing(first, *cells):
        for each in (first, *cells):
            each.ready()
        first.until_logged("msg=leading")
        assert first.page("/readyz?verbose")[1].splitlines() == [
            "[+]ping ok",
            "[+]management ok",
            "[+]project-discovery-synced ok",
            "[+]projects-engaged ok",
            "readyz check passed",
        ]
        second = platform.management()
        with managing(second):
            second.ready()
            assert "msg=leading" not in second.text()

            deployed = cli(
                "deploy", "web", "--image", f"{IMAGE}:1", "--city", "DFW,LHR", "--min", "2", "--yes"
            )
            assert deployed.code == 0, deployed

            restarted = cli("restart", "web", "--detach")
            assert restarted.code == 0, restarted
            assert first.stop() == 0
            rollout = cli("rollout", "status", "web", "--timeout", "60s")
            assert rollout.code == 0, rollout
            assert "msg=leading" in second.text()

            assert cli("destroy", "web", "--yes", "--wait").code == 0
            assert [each.stop() for each in (second, *cells)] == [0, 0, 0]
            for each in (first, second, *cells):
                strange = [line for line in each.text().splitlines() if not EXPECTED.search(line)]
                assert not strange


def test_a_cell_starts_while_the_hub_is_unreachable(platform, tmp_path):
    """It serves its probes, is ready, and reports what it cannot check."""
    cell = platform.start(
        "alone",
        {"clusterName": "dfw"},
        "cell-dfw",
        "--enable-cell-controllers",
        f"--federation-kubeconfig={unreachable(platform.context('hub'), tmp_path)}",
    )
    with managing(cell):
        cell.ready()
        assert "quota is off" in cell.text()
        assert 'msg="plane not checked" plane="the hub"' in cell.text()
        assert cell.page("/readyz?verbose")[1].splitlines() == [
            "[+]ping ok",
            "[+]cell ok",
            "readyz check passed",
        ]
        assert cell.stop() == 0


def test_management_is_ready_while_the_hub_is_unreachable(platform, tmp_path):
    """Its webhooks must be reached: projects accept Workloads, which wait for the hub."""
    management = platform.start(
        "management-alone",
        {"mode": "milo", "discoveryKubeconfigPath": str(platform.context("core"))},
        "core",
        "--enable-management-controllers",
        f"--federation-kubeconfig={unreachable(platform.context('hub'), tmp_path)}",
    )
    with managing(management):
        management.ready()
        assert 'msg="plane not checked" plane="the hub"' in management.text()
        assert management.stop() == 0


def unreachable(kubeconfig: Path, folder: Path) -> Path:
    """The kubeconfig with an address where nothing listens."""
    (port,) = free_ports(1)
    file = folder / "unreachable.yaml"
    file.write_text(
        re.sub(r"https://127\.0\.0\.1:\d+", f"https://127.0.0.1:{port}", kubeconfig.read_text())
    )
    return file


@pytest.mark.parametrize(
    ("flags", "code", "refusal"),
    [
        ((), 2, "Error: nothing is enabled: give --enable-management-controllers, "),
        (
            ("--enable-cell-controllers", "--stand-ins=qouta"),
            2,
            "Error: --stand-ins: there is no qouta",
        ),
        (
            ("--enable-cell-controllers", "--health-probe-bind-address=8081"),
            2,
            "Error: --health-probe-bind-address: '8081' is not an address to listen on: it has no port",
        ),
        (
            ("--enable-cell-controllers", "--leader-elect", "--leader-elect-namespace=nope"),
            1,
            "has no namespace nope for leases: apply config/overlays/cell there, or name another with "
            "--leader-elect-namespace",
        ),
    ],
)
def test_a_start_that_cannot_work_ends_with_one_sentence(platform, flags, code, refusal):
    line = [
        sys.executable,
        "-m",
        "compute",
        "manager",
        f"--kubeconfig={platform.context('cell-dfw')}",
    ]
    done = subprocess.run(
        [*line, *flags], capture_output=True, text=True, timeout=LIMIT, check=False
    )

    assert done.returncode == code
    assert done.stdout == ""
    errors = [each for each in done.stderr.splitlines() if each.startswith("Error: ")]
    assert len(errors) == 1
    assert refusal in errors[0]
    assert "Traceback" not in done.stderr


def test_the_wrong_plane_is_named(platform):
    """A cell's own plane given as the hub: it serves no policies, and it is the same cluster."""
    manager = platform.start(
        "wrong",
        {"mode": "milo", "discoveryKubeconfigPath": str(platform.context("core"))},
        "core",
        "--enable-management-controllers",
        f"--federation-kubeconfig={platform.context('cell-dfw')}",
    )
    with managing(manager):
        manager.until_ended()
        assert manager.code == 1
        assert (
            "does not serve PropagationPolicy of policy.karmada.io/v1alpha1: apply config/overlays/hub "
            "there, or correct "
        ) in manager.text()
