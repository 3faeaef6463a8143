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


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(240)
def test_the_demo_deploys_to_three_cities(tmp_path):
    """Without a terminal too: deployed, restarted, cut off and healed, and then it is stopped."""
    line = [sys.executable, "tools/demo.py", "--once", f"--data={tmp_path / 'world'}"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    for text in (
        "served after",
        "restarted after",
        "reported as unreachable after",
        "complete again after",
    ):
        assert text in done.stdout
    assert "still Ready: hello-world-lhr-0, hello-world-lhr-1" in done.stdout
