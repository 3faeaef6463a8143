"""Long commands: what is lines while they run, and what is tried again."""

import os

import pytest

from tools.peers.commands import Command, Failed, Patience, Runner

BUSY = "echo 'reading https://proxy.test/x: 429 Too Many Requests' >&2; exit 1"


@pytest.fixture
def lines():
    return []


def running(lines, tmp_path, script, **patience):
    """The answer of a shell script under a runner that does not wait long."""
    runner = Runner(lines.append, os.environ, Patience(**{"pauses": (0.01, 0.01), **patience}))
    arguments = ["sh", "-c", script]
    return runner.output(Command("it", arguments, tmp_path, tmp_path / "it.log", "{lines} lines"))


def test_what_it_prints(lines, tmp_path):
    """Stdout is the answer, stderr is in the log under the command, and nothing is lines."""
    assert running(lines, tmp_path, "echo yes; echo hm >&2") == "yes\n"
    assert (tmp_path / "it.log").read_text() == "$ sh -c echo yes; echo hm >&2\nhm\n"
    assert lines == []


def test_what_passes_is_tried_again(lines, tmp_path):
    """A proxy that is busy is asked again, and each time that is lines with its reason."""
    script = f"[ -e once ] && echo done && exit 0; touch once; {BUSY}"

    assert running(lines, tmp_path, script) == "done\n"
    assert lines == [
        "it: reading https://proxy.test/x: 429 Too Many Requests; trying again in 0.01 s"
    ]


def test_what_does_not_pass_in_time_fails(lines, tmp_path):
    """After the last pause the failure stands, with the end of the log."""
    with pytest.raises(Failed, match=r"it: see .*it\.log, which ends\n  reading .* 429"):
        running(lines, tmp_path, BUSY)
    assert len(lines) == 2


def test_what_does_not_pass_is_not_tried_again(lines, tmp_path):
    """A fault in the code is there the next time as well."""
    with pytest.raises(Failed, match="undefined: x"):
        running(lines, tmp_path, "echo 'main.go:1: undefined: x' >&2; exit 1")
    assert lines == []


def test_the_output_of_an_earlier_try_does_not_count(lines, tmp_path):
    """A log that was busy yesterday excuses nothing today."""
    (tmp_path / "it.log").write_text("429 Too Many Requests\n")
    with pytest.raises(Failed):
        running(lines, tmp_path, "exit 3")
    assert lines == []


def test_a_full_disk_is_named(lines, tmp_path):
    """It is what the user can do something about."""
    with pytest.raises(Failed, match="the disk is full"):
        running(lines, tmp_path, "echo 'write x: no space left on device (timeout)' >&2; exit 1")
    assert lines == []


def test_the_progress_of_a_command_is_printed(tmp_path):
    """From time to time a line says how many lines the command has written."""
    os.mkfifo(tmp_path / "gate")
    lines = []

    def record(line):
        lines.append(line)
        if line == "it: 2 lines":
            (tmp_path / "gate").write_text("go on\n")

    runner = Runner(record, os.environ, Patience(remind=0.2))
    arguments = ["sh", "-c", "echo a >&2; echo b >&2; read word < gate"]
    runner.output(Command("it", arguments, tmp_path, tmp_path / "it.log", "{lines} lines"))

    assert "it: 2 lines" in lines


def test_one_that_hangs_is_ended_and_tried_again(lines, tmp_path):
    """A command has a limit; then it is ended, and a second try may do better."""
    script = "[ -e once ] && echo done && exit 0; touch once; exec tail -f /dev/null"

    assert running(lines, tmp_path, script, remind=0.1, limit=0.5) == "done\n"
    assert "it: took longer than 0.5 s; trying again in 0.01 s" in lines
