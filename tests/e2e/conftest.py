"""What the tests with real peers share: a plane as a process, and kubectl to talk to it."""

import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kubekit.kites import DEFINITION, namespace_manifest
from tests.support.kubekit.plane_process import running

NUMBERS = itertools.count(1)


def lacks_kubectl() -> bool:
    """Whether tests of kubectl are skipped. With REQUIRE_PEERS they run, and fail for want of it."""
    return shutil.which("kubectl") is None and not os.environ.get("REQUIRE_PEERS")


def needs_kubectl() -> None:
    """Skip the module that calls it, in one line, where kubectl is not installed."""
    if lacks_kubectl():
        pytest.skip("there is no kubectl on the PATH", allow_module_level=True)


class Kubectl:
    """The real kubectl, in one namespace of one server."""

    def __init__(
        self, kubeconfig: Path, home: Path, namespace: str, program: str = "kubectl"
    ) -> None:
        self.namespace = namespace
        self._program = program
        self._environment = os.environ | {
            "KUBECONFIG": str(kubeconfig),
            "KUBECACHEDIR": str(home),
            "HOME": str(home),
        }

    def __call__(self, *arguments: str, text: str = "", code: int = 0, **environment: str) -> str:
        """What it prints on both streams. ``text`` is its stdin, ``code`` how it must end."""
        done = subprocess.run(
            self._command(arguments),
            env=self._environment | environment,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A kubectl in the background."""
        return subprocess.Popen(
            self._command(arguments),
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [self._program, "--namespace", self.namespace, *arguments]


@pytest.fixture(scope="session")
def _peer() -> None:
    """Where REQUIRE_PEERS is set, a missing kubectl is a failure instead of a skip."""
    if shutil.which("kubectl") is None:
        pytest.fail("there is no kubectl on the PATH", pytrace=False)


@pytest.fixture(scope="session")
def kubeconfig(_peer: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Of a plane with one kind more than it brings, or of the server that E2E_KUBECONFIG names."""
    if named := os.environ.get("E2E_KUBECONFIG"):
        yield Path(named)
        return
    folder = tmp_path_factory.mktemp("kubectl")
    definitions = folder / "crds"
    definitions.mkdir()
    (definitions / "kites.yaml").write_text(DEFINITION)
    with running(folder / "data", "--crds", str(definitions)) as plane:
        yield plane.kubeconfig


@pytest.fixture(scope="session")
def kubectl_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kubectl keeps what it has discovered, so that it does not ask each time."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def kubectl(kubeconfig: Path, kubectl_home: Path) -> Kubectl:
    """Kubectl in a namespace that no other test uses."""
    namespace = f"test-{os.getpid()}-{next(NUMBERS)}"
    kubectl = Kubectl(kubeconfig, kubectl_home, namespace)
    kubectl("create", "-f", "-", text=namespace_manifest(namespace))
    return kubectl
