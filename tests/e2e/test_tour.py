"""The walks through a world that the docs show, walked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import lacks_kubectl
from tests.support.walked_pages import ROOT, Shell, blocks_of, is_shown, unshown, walk

LIMIT = 200  # seconds
# Where the pages have their worlds, below the home folder of this test.
WORLDS = ("*/world", ".local/share/compute")

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(LIMIT + 40)]


@pytest.mark.parametrize("page", ["docs/tour.md", "README.md"])
def test_the_walk_shows_what_happens(page, tmp_path):
    """Every command of the page works, one after the other, and prints what the page shows."""
    check(page, tmp_path)


@pytest.mark.skipif(lacks_kubectl(), reason="there is no kubectl on the PATH")
@pytest.mark.usefixtures("_peer")
def test_the_walk_with_kubectl_shows_what_happens(tmp_path):
    check("docs/tour-kubectl.md", tmp_path)


def check(page: str, home: Path) -> None:
    """On stderr there is nothing else: a warning that the page does not show is a defect."""
    blocks = blocks_of(page)
    try:
        shell = Shell(ROOT, surroundings(home), LIMIT)
        steps = walk([text for kind, text in blocks if kind == "sh"], shell, home)
    finally:
        stop(home)
    shown = [line for kind, text in blocks if kind == "text" for line in text.splitlines()]
    surprises = [line for step in steps for line in step.errors if not is_shown(line, shown)]
    assert surprises == []
    assert unshown(blocks, steps) == []


def surroundings(home: Path) -> dict[str, str]:
    """The variables of a user with nothing but this folder."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    known.pop("COMPUTE_DATA", None)
    path = f"{Path(sys.executable).parent}{os.pathsep}{known['PATH']}"
    return known | {"HOME": str(home), "TMPDIR": str(home), "PATH": path}


def stop(home: Path) -> None:
    for world in (match for pattern in WORLDS for match in home.glob(pattern)):
        line = [sys.executable, "-m", "compute", "down", f"--data={world}"]
        subprocess.run(line, check=False, capture_output=True)
