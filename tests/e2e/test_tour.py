"""The walks through a world that the docs show, walked."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import lacks_kubectl

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MARK = "==== step"
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
    blocks = BLOCK.findall((ROOT / page).read_text())
    steps = walked([text for kind, text in blocks if kind == "sh"], home)
    shown = [line for kind, text in blocks if kind == "text" for line in text.splitlines()]
    surprises = [line for errors, _ in steps for line in errors if not is_shown(line, shown)]
    assert surprises == []
    rest = iter(steps)
    printed: tuple[list[str], list[str]] = ([], [])
    for kind, text in blocks:
        if kind == "sh":
            printed = next(rest)
        else:
            assert unseen(text, *printed) == [], printed


def walked(commands: list[str], home: Path) -> list[tuple[list[str], list[str]]]:
    """The lines that each command printed on stderr and on stdout.

    One shell runs them, and ends where one of them fails.
    """
    script = "\n".join(f"echo '{MARK}'; echo '{MARK}' >&2\n{command}" for command in commands)
    output, errors = home / "output", home / "errors"
    try:
        with output.open("w") as out, errors.open("w") as err:
            done = subprocess.run(
                ["sh", "-euc", script],
                cwd=ROOT,
                env=surroundings(home),
                stdout=out,
                stderr=err,
                check=False,
                timeout=LIMIT,
            )
    finally:
        stop(home)
    assert done.returncode == 0, output.read_text() + errors.read_text()
    return list(zip(steps_of(errors), steps_of(output), strict=True))


def steps_of(printed: Path) -> list[list[str]]:
    return [step.splitlines() for step in printed.read_text().split(f"{MARK}\n")[1:]]


def is_shown(line: str, shown: list[str]) -> bool:
    return any(pattern(wanted).search(" ".join(line.split())) for wanted in shown)


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


def unseen(excerpt: str, *streams: list[str]) -> list[str]:
    """The lines of a page that no stream printed, in the order of the page within each stream."""
    rest = [[" ".join(line.split()) for line in stream] for stream in streams]
    return [wanted for wanted in excerpt.splitlines() if not any(took(wanted, r) for r in rest)]


def took(wanted: str, lines: list[str]) -> bool:
    """Whether one of the lines is as wanted. If so, it and those before it are removed."""
    looks = pattern(wanted)
    for i, line in enumerate(lines):
        if looks.search(line):
            del lines[: i + 1]
            return True
    return False


def pattern(wanted: str) -> re.Pattern[str]:
    """What a line looks like: as it is written, and anything at all for an ellipsis."""
    return re.compile(".*".join(re.escape(part) for part in " ".join(wanted.split()).split("…")))
