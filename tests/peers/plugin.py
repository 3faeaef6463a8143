"""Real servers for a run of pytest.

``--peers`` has the process that leads the run start one server before anything is collected, so the
contract suite goes to it and, with xdist, every worker inherits its variables. A run in a single
process that selects a test marked ``peer`` needs no option: the server starts once it is known that
a test wants it. Where there is none, such tests are skipped in one line, or fail if
``REQUIRE_PEERS`` is set.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.peers.__main__ import KEEP, READY, absence
from tests.peers.access import Access
from tests.peers.server import NEEDED
from tools.peers import catalog

_ROOT = Path(__file__).parents[2]
_KEEPER = pytest.StashKey["Keeper"]()
_PATIENCE = 30.0  # seconds for the servers to end
_WORKER = "workerinput"  # what xdist gives to the processes that do not lead


@dataclass(frozen=True, slots=True)
class RealServer:
    """The server of the tests, and the kubectl for it."""

    access: Access
    etcd: str
    kubeconfig: Path
    kubectl: str


class Unstarted(Exception):
    """The server did not come. Says what it lines."""


class Keeper:
    """The process that runs the server, and the variables that it printed."""

    def __init__(self) -> None:
        self.logs = ""
        self.complaint = ""
        self._known: dict[str, str] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.peers", "--piped"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            self._listen()
        except BaseException:
            self.stop(keep=False)
            raise
        os.environ.update(self._known)

    def stop(self, *, keep: bool) -> None:
        """Have it end what it started, and forget the variables."""
        for name in self._known:
            os.environ.pop(name, None)
        try:
            lines, _ = self._process.communicate(KEEP + "\n" if keep else "", _PATIENCE)
            self.complaint = lines.strip() if self._process.returncode else ""
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        lines = []
        for line in self._process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "export":
                name, _, value = rest.partition("=")
                self._known |= {name: value} if name.startswith("CONTRACT_") else {}
            elif word == READY:
                self.logs = rest
                return
            lines.append(line)
        raise Unstarted("".join(lines).strip())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--peers", action="store_true", help="start a real kube-apiserver for this run (make peers)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before the workers of xdist are made, and before anything is collected."""
    if session.config.getoption("--peers") and not session.config.option.collectonly:
        _ensure(session.config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a single process: a server for the tests that were selected, if any needs one."""
    if config.option.collectonly or not any(item.get_closest_marker("peer") for item in items):
        return
    if not hasattr(config, _WORKER):
        _ensure(config)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("peer") is None or "CONTRACT_SERVER" in os.environ:
        return
    lacking = _lacking()
    reason = absence(lacking) if lacking else "no real server was started: --peers"
    if os.environ.get("REQUIRE_PEERS"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Stop the server. Where something failed, its logs may say why."""
    keeper = config.stash.get(_KEEPER, None)
    if keeper is None:
        if config.getoption("--peers") and (lacking := _lacking()):
            terminalreporter.write_line(f"nothing ran on a real server, for want of {lacking}")
        return
    failed = exitstatus not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    keeper.stop(keep=failed)
    if keeper.complaint:
        terminalreporter.write_line(f"the real server did not last: {keeper.complaint}")
    elif failed:
        terminalreporter.write_line(f"the logs of the real server are in {keeper.logs}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop it also where there was no summary; stopping twice does nothing."""
    if keeper := config.stash.get(_KEEPER, None):
        keeper.stop(keep=False)


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> RealServer:
    """The server of this run. Only tests marked ``peer`` may ask for it."""
    known = os.environ
    files = (Path(known[f"CONTRACT_{name}"]) for name in ("CA", "CERT", "KEY"))
    access = Access(known["CONTRACT_SERVER"], *files)
    built = catalog.folder() / "bin" / "kubectl"
    return RealServer(
        access,
        etcd=known.get("CONTRACT_ETCD", ""),
        kubeconfig=access.write(tmp_path_factory.mktemp("peer") / "kubeconfig"),
        kubectl=str(built) if built.exists() else "kubectl",
    )


def _ensure(config: pytest.Config) -> None:
    """Start the server, unless one was named by hand or none can be."""
    if "CONTRACT_SERVER" in os.environ or _KEEPER in config.stash:
        return
    if lacking := _lacking():
        if os.environ.get("REQUIRE_PEERS"):
            pytest.exit(absence(lacking), pytest.ExitCode.TESTS_FAILED)
        return
    try:
        config.stash[_KEEPER] = Keeper()
    except Unstarted as reason:
        pytest.exit(f"the real server did not start: {reason}", pytest.ExitCode.TESTS_FAILED)


def _lacking() -> str:
    """The first binary that is missing, if any is."""
    lacking = catalog.missing(catalog.chosen(NEEDED), catalog.folder())
    return lacking[0].name if lacking else ""
