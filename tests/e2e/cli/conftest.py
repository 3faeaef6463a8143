"""One running world for all tests of the command line that a worker runs, and a project for each module."""

import itertools
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.compute.cli_runner import CommandLine, Finished, check_transcript
from tests.support.compute.cli_world import make_project

CITIES = "DFW,LHR,SIN"
TRANSCRIPTS = Path(__file__).with_name("transcripts")
NUMBERS = itertools.count(1)
MADE: Counter[str] = Counter()  # how many projects each module has had in this process


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """The command line of a running world with three cities and the project `demo`."""
    home = tmp_path_factory.mktemp("cli")
    compute = CommandLine(home, home / "world")
    started = compute("up", "--detach", "--port=0", f"--cities={CITIES}")
    assert started.code == 0, started
    try:
        yield compute
    finally:
        compute("down")


@pytest.fixture(scope="module")
def shop(world: CommandLine, request: pytest.FixtureRequest) -> CommandLine:
    """The command line in a project of the module's own: any name is free, and quota is for ten instances.

    A worker may run a part of a module, then another one, and then the rest, in a second project.
    """
    project = _project_of(request.path)
    MADE[project] += 1
    if MADE[project] > 1:
        project = f"{project}-{MADE[project]}"
    make_project(world.data, project)
    return world.of(COMPUTE_PROJECT=project)


@pytest.fixture
def compute(world: CommandLine) -> CommandLine:
    """The command line in the project `demo`. Choose names that no other test uses."""
    return world


@pytest.fixture
def name() -> str:
    """A name for a workload that no other test uses, of the same length in each run."""
    return f"w{os.getpid() % 10_000:04}{next(NUMBERS):03}"


class Transcript:
    """Collects what commands print, and compares it with the golden file of the test."""

    def __init__(self, compute: CommandLine, file: Path, replace: dict[str, str]) -> None:
        self._compute = compute
        self._file = file
        self.replace = replace
        self.runs: list[Finished] = []

    def __call__(self, *arguments: str, text: str = "", **variables: str) -> Finished:
        """Run a command that the transcript shows."""
        done = self._compute(*arguments, text=text, **variables)
        self.runs.append(done)
        return done

    def check(self) -> None:
        check_transcript(self._file, *self.runs, replace=self.replace)


@pytest.fixture
def transcript(compute: CommandLine, request: pytest.FixtureRequest) -> Iterator[Transcript]:
    """The transcript of a test: `transcripts/<module>/<test>.txt`. It is compared at the end of the test."""
    recorded = new_transcript(compute, request)
    yield recorded
    recorded.check()


@pytest.fixture
def shop_transcript(shop: CommandLine, request: pytest.FixtureRequest) -> Iterator[Transcript]:
    """The same in the project of the module."""
    recorded = new_transcript(shop, request)
    yield recorded
    recorded.check()


def new_transcript(compute: CommandLine, request: pytest.FixtureRequest) -> Transcript:
    """The transcript of a test with this command line; call its `check` at the end."""
    module = request.path.stem.removeprefix("test_")
    test = request.node.name.removeprefix("test_").replace("/", "_")
    replace = {str(compute.data): "WORLD", str(compute.home): "HOME"}
    project, usual = compute.variables.get("COMPUTE_PROJECT", ""), _project_of(request.path)
    if project.startswith(f"{usual}-"):
        replace[project] = usual
    return Transcript(compute, TRANSCRIPTS / module / f"{test}.txt", replace)


def _project_of(module: Path) -> str:
    """The project of a module's tests."""
    return module.stem.removeprefix("test_").replace("_", "-")
