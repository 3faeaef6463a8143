"""What the docs show is what the command does."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = "$ .venv/bin/compute "


def shown(page: str) -> Iterator[tuple[list[str], str]]:
    """The commands of a page, each with the output it claims."""
    for block in BLOCK.findall((ROOT / page).read_text()):
        if block.startswith(COMMAND):
            command, _, output = block.partition("\n")
            yield command.removeprefix(COMMAND).split(), output


def run(arguments: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "compute", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.e2e
@pytest.mark.parametrize(("arguments", "output"), list(shown("README.md")), ids=" ".join)
def test_the_readme_shows_what_happens(arguments, output):
    """Every command of the tour prints exactly what the README shows."""
    assert run(arguments) == output


@pytest.mark.e2e
@pytest.mark.parametrize(("arguments", "_"), list(shown("docs/operating.md")), ids=" ".join)
def test_the_commands_of_the_docs_run(arguments, _):
    """A command shown without its output at least does not fail."""
    assert "Error:" not in run(arguments)
