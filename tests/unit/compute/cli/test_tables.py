"""Tables as text."""

import pytest

from compute.cli.output import phrases
from compute.cli.output.formats import show_data, show_names
from compute.cli.output.tables import fitting, plain, table
from compute.cli.output.workload_rows import revision
from compute.cli.shell.prompts import notify
from compute.views.workloads import RevisionSummary
from tests.support.compute.builders import NOW


def test_columns_line_up():
    """Cells are padded to the widest of their column; no line ends in spaces."""
    assert table(("NAME", "CITY"), [("web", "DFW"), ("edge-cache", "LHR")]) == (
        "NAME         CITY\nweb          DFW\nedge-cache   LHR"
    )


def test_control_characters_are_escaped():
    """A name cannot move the cursor, colour the screen or start a line of its own."""
    assert plain("a\x1b[31mb\nc\u2028é") == "a\\x1b[31mb\\nc\\u2028é"
    assert table(("A",), [("\r",)]) == "A\n\\r"


def test_headers_are_escaped_too():
    """A line of a log is a table of one line."""
    assert table(("a\x1b[2J",), ()) == "a\\x1b[2J"


def test_prose_is_escaped_line_by_line(capsys):
    """It often contains a name or a message of a server."""
    notify("one\ntwo\x1b[2J")
    assert capsys.readouterr().err == "one\ntwo\\x1b[2J\n"


def test_names_are_escaped(capsys):
    """For other commands to read, and for a terminal."""
    show_names("workload", ["a\x1b[2J"])
    assert capsys.readouterr().out == "workload/a\\x1b[2J\n"


@pytest.mark.parametrize(
    ("at", "text"),
    [("2026-06-01T11:55:00Z", "5m ago"), ("yesterday\x07", "at yesterday\x07"), ("", "at ")],
)
def test_the_age_of_a_time_that_is_a_text(at, text):
    """An annotation may hold anything, and must not end the command."""
    assert phrases.ago(at, NOW) == text


def test_a_revision_whose_time_is_damaged():
    """Everything else of it is shown."""
    active = RevisionSummary(
        number=3, changes="image", actor="jo", note="fix", at="soon", healthy=True
    )
    assert revision(active, NOW) == '3 (image by jo, at soon) "fix"'
    assert revision(None, NOW) == "none recorded yet"


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (0, "CITY PROGRESS UPDATED OLD PHASE SINCE WHY"),
        (98, "CITY PROGRESS UPDATED OLD PHASE SINCE WHY"),
        (80, "CITY UPDATED OLD PHASE SINCE WHY"),
        (70, "CITY UPDATED PHASE SINCE WHY"),
        (60, "CITY PHASE WHY"),
        (20, "CITY PHASE WHY"),
    ],
)
@pytest.mark.parametrize(("why", "last"), [("x" * 99, 0), ("-", 99)])
def test_the_cause_is_what_stays(most, shown, why, last):
    """Enough of it is visible on a narrow terminal; a live table keeps the place free for it."""
    headers = ("CITY", "PROGRESS", "UPDATED", "OLD", "PHASE", "SINCE", "WHY")
    row = ("DFW", "[####......]", "1/2", "1", "Unreachable", "5m", why)
    drop = ("PROGRESS", "OLD", "SINCE", "UPDATED")

    assert " ".join(fitting(headers, [row], most, drop, last)[0]) == shown


def test_a_cause_that_is_short_takes_no_room():
    """A column is not left out for the sake of a dash."""
    assert fitting(("A", "B", "WHY"), [("1", "2", "-")], 13, ("B",))[0] == ["A", "B", "WHY"]


@pytest.mark.parametrize("make", [list, tuple])
def test_a_list_is_one_document_a_line(capsys, make):
    """Whatever kind of sequence a view has."""
    show_data(make([{"a": 1}, {"a": 2}]), "jsonl")
    assert capsys.readouterr().out == '{"a": 1}\n{"a": 2}\n'


def test_a_note_of_several_lines_is_one():
    """A quoted note is the same wherever it is shown."""
    active = RevisionSummary(number=1, changes="image", actor="", note="a\nb", at="", healthy=True)
    assert revision(active, NOW) == '1 (image) "a\\nb"'
