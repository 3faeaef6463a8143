"""The demo, as a person sees it: the whole session on a terminal, and the part of it that the README shows."""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.compute.cli_runner import CommandLine, Terminal, check_text, normal

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "tools" / "demo.py"
SESSION = Path(__file__).with_name("demo_session.txt")
SCREEN = re.compile(r"^```console\n\$ make demo\n(.*?)^```", re.MULTILINE | re.DOTALL)
CUT = "…\n"  # a line that stands for what the README leaves out
COLUMNS, LINES = 100, 250

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def session():
    """What `make demo ONCE=1` draws on a terminal, without what differs between runs, and its code."""
    with TemporaryDirectory(prefix="demo-") as folder:  # a short path, so that no line is wrapped
        home = Path(folder)
        command = [sys.executable, str(DEMO), "--once", "--data", str(home / "world")]
        with Terminal(command, CommandLine(home, home), COLUMNS, LINES) as terminal:
            code = terminal.ended(200)
            screen = terminal.text().replace(str(home / "world"), "WORLD")
    # How much of a deletion is seen depends on the machine.
    lines = [line for line in screen.splitlines() if not line.startswith("Waiting: ")]
    return normal("\n".join(lines)).strip(), code


def test_the_session_is_the_recorded_one(session):
    """Every command ends as it should, and nothing else is printed: no log line, no warning."""
    text, code = session

    assert code == 0, text
    check_text(SESSION, f"{text}\n")


def test_the_readme_shows_parts_of_the_session(session):
    """The first screen of the README is what a user sees, in the same order."""
    (shown,) = SCREEN.findall((ROOT / "README.md").read_text())
    rest, _ = session
    for part in shown.split(CUT):
        wanted = normal(part).strip()
        assert wanted in rest
        rest = rest[rest.index(wanted) + len(wanted) :]
