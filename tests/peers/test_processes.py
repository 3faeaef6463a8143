"""Programs that can be killed and started again by their names."""

import signal

import pytest

from tests.peers.children import Ended, Program
from tests.peers.processes import Processes

WAITING = ["tail", "-f", "/dev/null"]


@pytest.fixture
def processes(tmp_path):
    """No program yet; all are ended after the test."""
    processes = Processes(tmp_path)
    yield processes
    processes.stop()


def test_one_that_is_killed_can_be_started_again(processes):
    """Under its name, and not while it runs."""
    first = processes.start(Program("one", WAITING))
    with pytest.raises(ValueError, match="one runs already; kill it first"):
        processes.start(Program("one", WAITING))
    processes.kill("one")

    assert processes.restart("one").pid != first.pid
    processes.check()


def test_a_name_that_is_not_known(processes):
    """The answer names what there is."""
    processes.start(Program("one", WAITING))
    processes.start(Program("two", WAITING))
    processes.kill("one")

    with pytest.raises(ValueError, match="one does not run; there are two"):
        processes.kill("one")
    with pytest.raises(ValueError, match="there is no three; there are one, two"):
        processes.restart("three")


def test_what_may_end_by_itself(processes):
    """Only the end of a program that is needed is a failure of all."""
    processes.start(Program("optional", ["sh", "-c", "exit 3"]), optional=True)
    child = processes.start(Program("needed", WAITING))
    processes.check()

    child.stop(signal.SIGKILL)
    with pytest.raises(Ended, match="needed ended with -9"):
        processes.check()


def test_the_environment_of_a_program(processes, tmp_path):
    """It has what it is given and nothing of ours; its log has its name."""
    program = Program("one", ["/bin/sh", "-c", "echo $WORD $HOME"], {"WORD": "hello"})
    child = processes.start(program, optional=True)
    with pytest.raises(Ended):
        child.until(lambda: False, limit=10)

    assert (tmp_path / "one.log").read_text() == "hello\n"
