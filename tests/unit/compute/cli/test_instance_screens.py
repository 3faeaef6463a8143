"""Instances as rows, and while they change."""

import json
from datetime import timedelta

import pytest
from msgspec.structs import replace

from compute.cli.output.instance_rows import count_line, instance_table
from compute.cli.output.instance_screens import InstanceJsonLines, InstanceLines
from compute.cli.output.tables import fitting
from compute.decide.workload import history
from compute.views.instances import instance_views
from tests.support.compute.builders import NOW, condition, placement, template, workload
from tests.support.compute.progress_builders import BROKEN, NEW, OLD, given, not_ready, running

LATER = NOW + timedelta(minutes=5)
WEB = workload("web", placement("home", "DFW"), template=template(NEW))
LOST = condition("Available", "Unknown", "CellUnreachable", "no report", since=NOW)


def revisions():
    first = replace(WEB, spec=replace(WEB.spec, template=template(OLD)))
    return history.record(history.record(None, first, "jo", NOW), WEB, "jo", NOW)


def views(*instances, deployments=()):
    return instance_views([WEB], deployments, instances, {"web": revisions()}, LATER)


def test_the_columns_of_the_original():
    """With the revision; an old one is marked."""
    found = views(running(), running(1, not_ready("QuotaExceeded")), running(2, BROKEN, image=OLD))

    assert instance_table(found, LATER, wide=False).split("\n") == [
        "NAME             WORKLOAD   CITY   INTERNAL IP   EXTERNAL IP   TYPE      AGE   STATUS                       REV",
        "web-home-dfw-0   web        DFW    -             -             sandbox   5m    Available                    2",
        "web-home-dfw-1   web        DFW    -             -             sandbox   5m    Pending (quota exceeded)     2",
        "web-home-dfw-2   web        DFW    -             -             sandbox   5m    Failed (image unavailable)   1 (old)",
    ]
    assert count_line(found) == "3 instances: 1 failed, 1 pending, 1 available"


def test_a_wide_table_has_the_age_of_the_data():
    """Live, or how long ago the cell reported."""
    table = instance_table(views(running(), deployments=[given(1, LOST)]), LATER, wide=True)

    header, row = table.split("\n")
    assert header.split()[-4:] == ["PLACEMENT", "INSTANCE", "TYPE", "DATA"]
    assert "Unreachable (was available)" in row
    assert row.split()[-3:] == ["home", "datumcloud/d1-standard-2", "5m"]
    assert instance_table(views(running()), LATER, wide=True).split()[-1] == "live"


@pytest.mark.parametrize(
    ("most", "headers"),
    [
        (0, ["NAME", "CITY", "TYPE", "STATUS"]),
        (40, ["NAME", "CITY", "TYPE", "STATUS"]),
        (39, ["NAME", "CITY", "STATUS"]),
        (1, ["NAME", "STATUS"]),
    ],
)
def test_columns_that_fit(most, headers):
    """The state is what the user looks for, so it is never cut off for the sake of a type."""
    row = ("web-home-dfw-0", "DFW", "sandbox", "Failed")

    found, (cells,) = fitting(["NAME", "CITY", "TYPE", "STATUS"], [row], most, ["TYPE", "CITY"])

    assert found == headers
    assert len(cells) == len(headers)


def test_no_headers():
    """For scripts that cut columns."""
    (line,) = instance_table(views(running()), LATER, wide=False, no_headers=True).split("\n")

    assert line.startswith("web-home-dfw-0")


def test_names_never_reach_the_terminal_raw():
    """A reason of another program may hold anything."""
    odd = running(0, not_ready("Bad\x1b[2JReason"), name="web\x1b[31m-0")

    assert "\x1b" not in instance_table(views(odd), LATER, wide=True)


@pytest.fixture
def lines(capsys):
    screen = InstanceLines()

    def shown(at, *instances):
        screen.show(views(*instances), at)
        return capsys.readouterr().out.splitlines()

    yield shown
    screen.close()


def test_each_change_is_a_line(lines):
    """What was, and what is now; nothing where nothing has changed."""
    assert lines(NOW, running(), running(1, not_ready("PendingEvaluation"))) == [
        "0s        DFW   web-home-dfw-0   Available, revision 2",
        "0s        DFW   web-home-dfw-1   Pending (quota evaluation), revision 2",
    ]
    assert lines(LATER, running(), running(1)) == [
        "5m 0s     DFW   web-home-dfw-1   Pending (quota evaluation) -> Available",
    ]
    assert lines(LATER, running(), running(1)) == []
    assert lines(LATER, running()) == ["5m 0s     DFW   web-home-dfw-1   gone"]


def test_a_new_instance_in_the_same_slot(lines):
    """Its name is the same, so its creation is the news."""
    lines(NOW, running(image=OLD))
    again = running(creation_timestamp=LATER)

    assert lines(LATER, again) == ["5m 0s     DFW   web-home-dfw-0   revision 2, created again"]


def test_control_characters_in_a_change_are_escaped(lines):
    """They must not move the cursor."""
    (line,) = lines(NOW, running(0, not_ready("Bad\x1b[2J"), labels={}, name="web\x07"))

    assert "\x1b" not in line
    assert "\\x07" in line


def test_json_lines(capsys):
    """One document for each change."""
    screen = InstanceJsonLines()
    screen.show(views(running()), NOW)
    screen.show(views(), NOW)
    screen.close()

    first, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["change"], first["instance"]["status"]) == ("added", "Available")
    assert (last["change"], last["instance"]["name"]) == ("gone", "web-home-dfw-0")
