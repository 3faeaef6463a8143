"""How long a project that is deleted stays, and what it says."""

from datetime import timedelta

import pytest

from compute.decide.project_removal import CELL_TIMEOUT, HoldingCell, Removal
from tests.support.compute.builders import NOW

LATE = NOW + CELL_TIMEOUT
DFW, SILENT = HoldingCell("dfw"), HoldingCell("lhr", "it has not answered since noon")


def removal(*left: str, cells: tuple[HoldingCell, ...] = ()) -> Removal:
    return Removal(NOW, left, cells)


@pytest.mark.parametrize(
    ("left", "cells", "age", "over"),
    [
        ((), (), 0, True),
        (("workloads",), (SILENT,), 3600, False),
        (("workloaddeployments", "resourceclaims"), (SILENT,), 3600, False),
        (("resourceclaims",), (DFW,), 299, False),
        (("resourceclaims",), (DFW,), 300, True),
        (("resourceclaims",), (SILENT,), 299, False),  # the claims themselves are deleted first
        (("networks",), (), 299, False),
        (("networks",), (DFW, SILENT), 299, False),
        (("networks",), (SILENT,), 0, True),
        (("networks",), (DFW,), 300, True),
    ],
)
def test_a_project_goes_when_no_cell_is_waited_for(left, cells, age, over):
    """Workloads have a limit of their own; a silent cell is not waited for, another five minutes."""
    assert removal(*left, cells=cells).is_over(NOW + timedelta(seconds=age)) == over


def test_a_silent_cell_is_not_awaited_and_no_other_after_the_deadline():
    """The rule of a Workload's deletion."""
    one = removal("resourceclaims", cells=(DFW, SILENT))
    assert [one.awaits(cell, NOW) for cell in one.cells] == [True, False]
    assert not one.awaits(DFW, LATE)


def test_the_message_names_each_cell_since_when_and_until_when():
    """What is said changes with the facts alone, and once more at the deadline."""
    one = removal("workloads", "resourceclaims", cells=(DFW, SILENT))
    first = one.report(NOW).message
    assert first == (
        "Waiting since 2026-06-01T12:00:00Z until these are gone: workloads, resourceclaims; "
        "cell dfw has not released its part; it is waited for until 2026-06-01T12:05:00Z; "
        "cell lhr is not waited for (it has not answered since noon); "
        "it removes its part when it answers again"
    )
    assert one.report(LATE - timedelta(seconds=1)).message == first
    assert "it was waited for until 2026-06-01T12:05:00Z" in one.report(LATE).message
    assert "cell" not in removal("networks").report(NOW).message


@pytest.mark.parametrize(
    ("left", "at", "after"),
    [
        (("instances",), NOW, timedelta(seconds=1)),
        (("instances", "resourceclaims"), NOW, CELL_TIMEOUT),
        (("workloads",), LATE, None),
    ],
)
def test_what_is_not_watched_is_polled(left, at, after):
    """Instances each second; the deadline when it comes; everything else is a watch event."""
    assert removal(*left).requeue_after(at) == after


def test_the_note_says_where_the_project_still_is():
    """A cell that was not waited for removes its part later."""
    assert removal().note() == "Everything in it is gone"
    assert "what is left in lhr is removed" in removal("networks", cells=(SILENT,)).note()
