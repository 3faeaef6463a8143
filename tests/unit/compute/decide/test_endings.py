from datetime import timedelta

import pytest

from compute.decide.progress import (
    PhaseTimeouts,
    RolloutEnding,
    RolloutVerdict,
    RolloutWait,
    ending,
)
from tests.support.compute.builders import NOW

TIMEOUTS = PhaseTimeouts()
MINUTE = timedelta(minutes=1)
WAITING = RolloutWait(since=NOW, limit=10 * MINUTE)


def ended(verdict, after, waiting=WAITING):
    """How a client that got this verdict from the start on stops waiting."""
    return ending(verdict, waiting.after(verdict, NOW), NOW + after, TIMEOUTS)


@pytest.mark.parametrize(
    ("verdict", "how"),
    [
        (RolloutVerdict.DONE, RolloutEnding.DONE),
        (RolloutVerdict.FAILED, RolloutEnding.FAILED),
        (RolloutVerdict.PAUSED, RolloutEnding.PAUSED),
    ],
)
def test_what_does_not_change_by_waiting_ends_at_once(verdict, how):
    assert ended(verdict, timedelta()) is how


@pytest.mark.parametrize(
    ("verdict", "how"),
    [
        (RolloutVerdict.BLOCKED, RolloutEnding.BLOCKED),
        (RolloutVerdict.PROGRESSING, RolloutEnding.TIMED_OUT),
    ],
)
def test_anything_else_is_waited_for_until_the_limit(verdict, how):
    assert ended(verdict, 9 * MINUTE) is None
    assert ended(verdict, 10 * MINUTE) is how
    assert ended(verdict, 1000 * MINUTE, RolloutWait(since=NOW)) is None


def test_silence_ends_it_after_a_minute_or_at_the_limit():
    assert ended(RolloutVerdict.UNKNOWN, MINUTE / 2) is None
    assert ended(RolloutVerdict.UNKNOWN, MINUTE) is RolloutEnding.UNKNOWN
    short = RolloutWait(since=NOW, limit=MINUTE / 4)
    assert ended(RolloutVerdict.UNKNOWN, MINUTE / 2, short) is RolloutEnding.UNKNOWN


def test_silence_counts_from_its_start():
    """A cell that answered in between was not silent."""
    silent = WAITING.after(RolloutVerdict.UNKNOWN, NOW)

    assert silent.after(RolloutVerdict.UNKNOWN, NOW + MINUTE).unknown_since == NOW
    assert silent.after(RolloutVerdict.PROGRESSING, NOW).unknown_since is None
