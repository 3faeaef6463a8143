"""The pages for operators of real clusters: every command runs, and prints what its page shows.

They have a stack of their own, since they install on empty clusters, upgrade and restore.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.peers.deployed.kubelets import Kubelets
from tests.peers.keeper import Keeper
from tests.peers.stack.running import RunningStack
from tests.support.walked_pages import ROOT, Broken, Shell, blocks_of, unshown, walk
from tools.peers import catalog

pytestmark = [
    pytest.mark.stack,
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.timeout(600),
]

FOLDER = "docs/operating"
LIMIT = 300.0  # seconds for a page
# The last is for the page about a single cluster: no other page knows it.
CITIES, ALONE = "DFW,LHR,SIN", "sin"
PAGES = ("upgrade", "backup", "failures", "karmada", "sizing", "security")


@dataclass(frozen=True)
class Operator:
    """What an operator has: kubeconfigs, a checkout, and a folder to work in."""

    folder: Path
    stack: RunningStack
    kubelets: Kubelets

    def follow(self, page: str, kubeconfig: Path, files: Path) -> None:
        """Do what a page says, from its first command to its last."""
        blocks = blocks_of(f"{FOLDER}/{page}.md")
        shell = Shell(self.folder, self._environment(kubeconfig), LIMIT)
        try:
            steps = walk([text for kind, text in blocks if kind == "sh"], shell, files)
        except Broken as reason:
            pytest.fail(f"{page}: {reason}\n{self.kubelets.logs()}", pytrace=False)
        assert unshown(blocks, steps) == []

    def _environment(self, kubeconfig: Path) -> Mapping[str, str]:
        programs = [catalog.folder() / "bin", Path(sys.executable).parent]
        path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
        home = str(self.folder)
        return {"PATH": path, "HOME": home, "TMPDIR": home, "KUBECONFIG": str(kubeconfig)}


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """An operator of empty clusters and a Karmada, with the checkout beside what they write."""
    folder = tmp_path_factory.mktemp("operator")
    (folder / "datum-compute").symlink_to(ROOT)
    keeper = Keeper("tests.peers.stack", [f"--cities={CITIES}"])
    try:
        stack = RunningStack(keeper)
        with Kubelets(stack, ["project", *stack.cells]) as kubelets:
            yield Operator(folder, stack, kubelets)
    finally:
        keeper.stop(keep=False)


@pytest.fixture(scope="module")
def installed(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Operator:
    """The platform, as the page about the installation has it made."""
    operator.follow("install", operator.stack.kubeconfig, tmp_path_factory.mktemp("install"))
    return operator


def test_the_platform_is_installed_as_the_page_says(installed):
    """All of it happened in the fixture. No process ended by itself."""
    assert installed.kubelets.logs() == ""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(installed, page, tmp_path):
    """Each leaves the platform as it was, so they are read in any order."""
    installed.follow(page, installed.stack.kubeconfig, tmp_path)


def test_a_single_cluster_is_all_of_it(operator, tmp_path):
    operator.follow("single-cluster", operator.stack.kubeconfig_of(ALONE), tmp_path)


def test_every_page_with_commands_is_run():
    """But those of the image, which need an engine of containers, and the runbooks."""
    pages = {page.stem for page in (ROOT / FOLDER).glob("*.md")}
    with_commands = {p for p in pages if "```sh" in (ROOT / FOLDER / f"{p}.md").read_text()}
    assert with_commands - {"image"} == {"install", "single-cluster", *PAGES}


def test_the_index_lists_every_page():
    index = (ROOT / FOLDER / "README.md").read_text()
    for page in (ROOT / FOLDER).glob("*.md"):
        assert page.stem == "README" or f"]({page.name})" in index
