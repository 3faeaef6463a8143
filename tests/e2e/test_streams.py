"""The command at the end of broken, closed and narrow streams: a sentence or nothing, never a trace."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPUTE = f"{shlex.quote(sys.executable)} -m compute"
PLAN = f"{COMPUTE} plan"
EDGE = "examples/edge-cache.yaml"
FOREIGN = 'kind: Workload\nmetadata: {name: "é\\u65e5"}\n'

pytestmark = pytest.mark.e2e


def shell(command: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        command,
        shell=True,
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


EMPTY = "Error: stdin: there is no document in it\nNext:  compute explain workload\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"{PLAN} -f - <&-", (1, "", EMPTY)),
        (f"{PLAN} -f - </dev/null", (1, "", EMPTY)),
        (f"{PLAN} -f {EDGE} >&-", (0, "", "")),
        (f"{PLAN} -f none.yaml 2>&-", (1, "", "")),
        (f"{PLAN} -f {EDGE} <&- >&- 2>&-", (0, "", "")),
    ],
    ids=["no stdin", "empty stdin", "no stdout", "no stderr", "none"],
)
def test_closed_streams(command, expected):
    """A stream that is not there is empty, or takes nothing, and that is all."""
    assert shell(command) == expected


@pytest.mark.parametrize("arguments", [f"plan -f {EDGE}", "plan --help"])
def test_output_that_cannot_be_written(arguments, tmp_path):
    """A file that may not grow, as on a full disk, is an error of one sentence."""
    output = shlex.quote(str(tmp_path / "out"))

    assert shell(f"ulimit -f 0; {COMPUTE} {arguments} >{output}") == (
        1,
        "",
        "Error: the output cannot be written: File too large\n",
    )


@pytest.mark.parametrize(("cities", "code"), [("DFW,DLS,LHR", 0), ("DFW", 1)])
def test_a_reader_that_leaves_does_not_change_the_verdict(cities, code):
    """A script that reads only the first line still learns whether the manifest is valid."""
    command = f"({PLAN} -f {EDGE} --cities {cities}; echo $? >&2) | true"

    assert shell(command)[2].splitlines()[-1:] == [str(code)]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_terminals_that_lack_a_character(encoding, tmp_path):
    """What a terminal cannot show is spelled out."""
    manifest = tmp_path / "m.yaml"
    manifest.write_text(FOREIGN)
    code, out, _ = shell(f"{PLAN} -f {manifest} | iconv -f latin1", PYTHONIOENCODING=encoding)

    assert code == 0
    assert "\\u65e5 in namespace default" in out


def test_an_interrupt(tmp_path):
    """Control-C while a pipe is read ends the command with a word and the code that shells expect."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "compute", "plan", "-f", str(pipe)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        writer = os.open(pipe, os.O_WRONLY)  # returns once the command has opened its end
        running.send_signal(signal.SIGINT)
        _, err = running.communicate()
        os.close(writer)

    assert (running.returncode, err.strip()) == (130, "Interrupted.")
