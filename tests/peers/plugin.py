"""Real servers for a run of pytest.

``--peers`` has the process that leads the run start one server before anything is collected, so the
contract suite goes to it and, with xdist, every worker inherits its variables. A run in a single
process that selects a test marked ``peer`` needs no option: the server starts once it is known that
a test wants it. Where there is none, such tests are skipped in one line, or fail if
``REQUIRE_PEERS`` is set.

Tests marked ``stack`` share one stack of planes, hub and cells with Karmada. It starts with the first
of them, in a run of a single process.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.peers.access import Access
from tests.peers.keeper import Keeper, Unstarted
from tests.peers.screen import absence
from tests.peers.server import NEEDED
from tests.peers.stack.running import RunningStack
from tools.peers import catalog

_KEEPER = pytest.StashKey[Keeper]()
_STACK = pytest.StashKey[Keeper]()
_NAMES = {_KEEPER: "real server", _STACK: "stack"}
_VARIABLES = "CONTRACT_"
_WORKER = "workerinput"  # what xdist gives to the processes that do not lead


@dataclass(frozen=True, slots=True)
class RealServer:
    """The server of the tests, and the kubectl for it."""

    access: Access
    etcd: str
    kubeconfig: Path
    kubectl: str


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
    reason = ""
    if item.get_closest_marker("stack"):
        reason = _without_stack(item.config)
    elif item.get_closest_marker("peer") and "CONTRACT_SERVER" not in os.environ:
        lacking = _lacking()
        reason = absence(lacking) if lacking else "no real server was started: --peers"
    if reason and os.environ.get("REQUIRE_PEERS"):
        pytest.fail(reason, pytrace=False)
    elif reason:
        pytest.skip(reason)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Stop the servers. Where something failed, their logs may say why."""
    if _KEEPER not in config.stash and config.getoption("--peers") and (lacking := _lacking()):
        terminalreporter.write_line(f"nothing ran on a real server, for want of {lacking}")
    failed = exitstatus not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    for key, name in _NAMES.items():
        if (keeper := config.stash.get(key, None)) is None:
            continue
        _stop(keeper, keep=failed)
        if keeper.complaint:
            terminalreporter.write_line(f"the {name} did not last: {keeper.complaint}")
        elif failed:
            terminalreporter.write_line(f"the logs of the {name} are in {keeper.logs}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop them also where there was no summary; stopping twice does nothing."""
    for key in _NAMES:
        if keeper := config.stash.get(key, None):
            _stop(keeper, keep=False)


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> RealServer:
    """The server of this run. Only tests marked ``peer`` may ask for it."""
    known = os.environ
    trust, certificate, key = (Path(known[f"CONTRACT_{name}"]) for name in ("CA", "CERT", "KEY"))
    access = Access(known["CONTRACT_SERVER"], trust, certificate, key)
    built = catalog.folder() / "bin" / "kubectl"
    return RealServer(
        access,
        etcd=known.get("CONTRACT_ETCD", ""),
        kubeconfig=access.write(tmp_path_factory.mktemp("peer") / "kubeconfig"),
        kubectl=str(built) if built.exists() else "kubectl",
    )


@pytest.fixture(scope="session")
def running_stack(pytestconfig: pytest.Config) -> RunningStack:
    """The stack of this run. Only tests marked ``stack`` may ask for it."""
    if _STACK not in pytestconfig.stash:
        try:
            pytestconfig.stash[_STACK] = Keeper("tests.peers.stack")
        except Unstarted as reason:
            pytest.fail(f"the stack did not start: {reason}", pytrace=False)
    return RunningStack(pytestconfig.stash[_STACK])


def _without_stack(config: pytest.Config) -> str:
    """Why there can be no stack, if there cannot."""
    if lacking := catalog.missing(catalog.chosen(()), catalog.folder()):
        return absence(lacking[0].name)
    return "a stack is for a single process: leave out -n" if hasattr(config, _WORKER) else ""


def _ensure(config: pytest.Config) -> None:
    """Start the server, unless one was named by hand or none can be."""
    if "CONTRACT_SERVER" in os.environ or _KEEPER in config.stash:
        return
    if lacking := _lacking():
        if os.environ.get("REQUIRE_PEERS"):
            pytest.exit(absence(lacking), pytest.ExitCode.TESTS_FAILED)
        return
    try:
        keeper = config.stash[_KEEPER] = Keeper("tests.peers")
        os.environ.update(_shared(keeper))
    except Unstarted as reason:
        pytest.exit(f"the real server did not start: {reason}", pytest.ExitCode.TESTS_FAILED)


def _stop(keeper: Keeper, *, keep: bool) -> None:
    """End the server and forget its variables."""
    for name in _shared(keeper):
        os.environ.pop(name, None)
    keeper.stop(keep=keep)


def _shared(keeper: Keeper) -> dict[str, str]:
    """The variables that tests and the workers of xdist read."""
    return {n: value for n, value in keeper.variables.items() if n.startswith(_VARIABLES)}


def _lacking() -> str:
    """The first binary that is missing, if any is."""
    lacking = catalog.missing(catalog.chosen(NEEDED), catalog.folder())
    return lacking[0].name if lacking else ""
