"""A rollout while it happens, as lines and as a table that is drawn over itself."""

import sys
from datetime import timedelta

import pyte
import pytest
from msgspec.structs import replace

from compute.cli.output.redraw import RedrawnLines
from compute.cli.output.rollout_screens import HEARTBEAT, ChangeLines, LiveTable
from compute.decide.progress import RolloutSnapshot, observe
from compute.views.rollouts import rollout_view
from tests.support.compute.builders import NOW, placement, template, workload
from tests.support.compute.progress_builders import NEW, given, running

WEB = workload("web", placement("home", "DFW"), template=template(NEW))
HOSTILE = "quota\x1b[2J\r\nis exceeded"


def view(why: str = ""):
    snapshot = RolloutSnapshot(WEB, (given(1),), (running(),), NOW)
    found = rollout_view(snapshot, observe(snapshot), NOW)
    (city,) = found.cities
    return replace(found, cities=(replace(city, why=why),))


def on_screen(text: str) -> pyte.Screen:
    screen = pyte.Screen(40, 10)
    pyte.Stream(screen).feed(text)
    return screen


def lines_of(screen: pyte.Screen) -> list[str]:
    return [line.rstrip() for line in screen.display if line.strip()]


def test_a_line_for_each_change(capsys):
    """The cause is one line, whatever it contains, and no control character of it is printed."""
    lines = ChangeLines(NOW)
    lines.show(view(HOSTILE), NOW)
    lines.show(view(HOSTILE), NOW)

    header, *changes = capsys.readouterr().out.splitlines()
    assert header.split() == [
        "TIME", "PLACEMENT", "CITY", "UPDATED", "READY", "OLD", "PHASE", "WHY",
    ]  # fmt: skip
    assert len(changes) == 1
    assert changes[0].endswith(r"quota\x1b[2J\r\nis exceeded")


def test_a_line_where_nothing_changes(capsys):
    """After half a minute, so that a log shows that the command still waits."""
    lines = ChangeLines(NOW)
    lines.show(view(), NOW)
    capsys.readouterr()
    lines.show(view(), NOW + HEARTBEAT - timedelta(seconds=1))
    assert capsys.readouterr().out == ""
    lines.show(view(), NOW + HEARTBEAT)
    assert capsys.readouterr().out.startswith("30s   ")


def test_a_table_is_drawn_over_itself(capsys):
    """The second drawing replaces the first."""
    table = LiveTable(NOW)
    table.show(view(HOSTILE), NOW)
    table.show(view(), NOW + timedelta(seconds=3))
    table.close()

    out = capsys.readouterr().out
    assert "\x1b[2J" not in out
    screen = on_screen(out)
    assert sum(line.startswith("Rollout of web") for line in lines_of(screen)) == 1


@pytest.mark.parametrize("width", [39, 40, 41, 100])
def test_a_long_line_does_not_take_two(capsys, width):
    """It is cut by the terminal: one that continued below would leave a part of itself there."""
    lines = RedrawnLines()
    lines.draw(["x" * width, "first"])
    lines.draw(["y" * width, "second"])
    lines.close()

    shown = lines_of(on_screen(capsys.readouterr().out))
    assert [line[0] for line in shown] == ["y", "s"]
    assert shown[1] == "second"


def test_what_is_printed_in_between_stays(capsys):
    """The lines are drawn again below it."""
    lines = RedrawnLines()
    lines.draw(["first"])
    sys.stdout.write("news\r\n")
    lines.restart()
    lines.draw(["second"])

    assert lines_of(on_screen(capsys.readouterr().out)) == ["first", "news", "second"]
