"""Programs beside the tests."""

import signal

import pytest

from tests.peers import pki
from tests.peers.children import Child, Ended, Program


def test_a_child_that_ends_is_reported_at_once(tmp_path):
    """There is no wait until the limit for a program that is gone; the end of its log says why."""
    child = Child(Program("sh", ["sh", "-c", "echo no such flag; exit 3"]), tmp_path)

    with pytest.raises(Ended, match="sh ended with 3; its log ends\n  no such flag"):
        child.until(lambda: False, limit=60)


def test_one_that_is_not_ready_in_time(tmp_path):
    """The wait has a limit."""
    child = Child(Program("tail", ["tail", "-f", "/dev/null"]), tmp_path)
    try:
        with pytest.raises(Ended, match="tail is not ready"):
            child.until(lambda: False, limit=0.2)
    finally:
        child.stop(signal.SIGKILL)


def test_one_that_is_stopped(tmp_path):
    """It is gone when the call returns, and stopping it again does nothing."""
    child = Child(Program("tail", ["tail", "-f", "/dev/null"]), tmp_path)
    child.check()
    for _ in range(2):
        child.stop(signal.SIGTERM)

    with pytest.raises(Ended, match="tail ended with -15"):
        child.check()


def test_keys_are_private(tmp_path):
    """No other user can read a file of the certificates, nor enter their folder."""
    pki.make(tmp_path / "pki")

    assert (tmp_path / "pki").stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "pki").iterdir()} == {0o600}
