"""The world of the tests of the command line, and its transcripts."""

import pytest

from tests.support.compute.cli_runner import normal

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_wrong_command_is_a_sentence(transcript):
    """A typing error names the command that was probably meant, with code 2."""
    done = transcript("stauts")

    assert done.code == 2


def test_ages_and_addresses_do_not_matter():
    """What differs between two runs of the same command is replaced."""
    first = normal("web   10.1.2.3   9s   2026-01-01T00:00:00Z")
    second = normal("web   10.10.2.3     12m    2026-01-02T00:00:00Z")

    assert first == second == "web   ADDRESS   AGE   TIME"
