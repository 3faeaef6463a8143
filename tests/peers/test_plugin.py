"""Runs of pytest that want a real server."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[2]
ABSENT = "etcd is not there: make peers"
TESTS = """
import os
import pytest

@pytest.mark.peer
def test_with_it():
    assert "CONTRACT_SERVER" in os.environ

def test_without_it():
    pass
"""
ALONE = """
import pytest

@pytest.mark.stack
def test_with_a_stack():
    pass
"""
SETTINGS = "[pytest]\nmarkers =\n  peer: with a real server\n  stack: with a stack\n"
OWN = ("CONTRACT_", "PYTEST_", "REQUIRE_", "DATUM_")

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def surroundings(**changes):
    """Our environment without the variables of another server or another run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
    return kept | changes


@pytest.fixture
def suite(tmp_path):
    """A folder with one test that needs a server and one that does not."""
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    return tmp_path


def run(suite, *options, **changes):
    """The exit code, and what is output of the tests."""
    command = [sys.executable, "-m", "pytest", "-p", "tests.peers.plugin", "-p", "no:cacheprovider"]
    settings = ["--rootdir", str(suite), "-c", str(suite / "pytest.ini"), "-rA", "-q"]
    done = subprocess.run(
        [*command, *settings, *options, str(suite)],
        cwd=ROOT,
        env=surroundings(**changes),
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("options", [(), ("--peers",), ("-n", "1", "--peers")], ids=" ".join)
def test_without_binaries_a_test_is_skipped_in_one_line(suite, options):
    """The line says what is missing and how to have it; other tests run."""
    code, output = run(suite, *options, DATUM_PEERS=str(suite))

    assert (code, output.count(ABSENT)) == (0, 1)
    assert "1 passed, 1 skipped" in output
    assert ("nothing ran on a real server, for want of" in output) == ("--peers" in options)


@pytest.mark.parametrize(("required", "code"), [("", 0), ("1", 1)], ids=["wanted", "required"])
@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "workers"])
def test_a_stack_that_there_cannot_be(suite, options, required, code):
    """Tests of the stack are skipped in one line, or fail where peers are required."""
    (suite / "test_it.py").write_text(ALONE)
    ended, output = run(suite, *options, DATUM_PEERS=str(suite), REQUIRE_PEERS=required)

    assert (ended, ABSENT in output) == (code, True)


def test_without_binaries_a_required_test_fails(suite):
    """A run that asks for peers in the environment does not pass without them."""
    code, output = run(suite, DATUM_PEERS=str(suite), REQUIRE_PEERS="1")

    assert (code, ABSENT in output) == (1, True)


def test_workers_have_no_server_without_the_option(suite):
    """With several processes only --peers starts a server; the line of the skip says so."""
    code, output = run(suite, "-n", "1", DATUM_PEERS=str(suite))

    assert code == 0
    assert "1 passed, 1 skipped" in output


@pytest.mark.peer
def test_one_process_starts_a_server_for_the_tests_that_need_it(suite):
    """No option is needed, and nothing is left behind."""
    code, output = run(suite, TMPDIR=str(suite))

    assert (code, "2 passed" in output) == (0, True)
    assert list(suite.glob("peer-*")) == []


@pytest.mark.peer
def test_logs_stay_where_a_test_failed(suite):
    """The last lines say where they are; keys and data are gone."""
    (suite / "test_it.py").write_text("def test_it():\n    assert False\n")
    code, output = run(suite, "-n", "1", "--peers", TMPDIR=str(suite))

    assert code == 1
    [logs] = suite.glob("peer-*/*/log")
    assert f"the logs of the real server are in {logs}" in output
    assert list(suite.glob("peer-*/*/*")) == [logs]


@pytest.mark.peer
def test_a_server_ends_with_the_run_that_started_it(tmp_path):
    """A run that is killed closes its pipe, and that is all it takes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.peers", "--piped"],
        cwd=ROOT,
        env=surroundings(TMPDIR=str(tmp_path)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    known = dict(line.split()[1].split("=", 1) for line in upto_ready(process.stdout))
    process.communicate(timeout=60)

    address = urlsplit(known["CONTRACT_SERVER"])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname, address.port))
    assert list(tmp_path.iterdir()) == []


def upto_ready(lines):
    for line in lines:
        if line.startswith("ready"):
            return
        yield line
