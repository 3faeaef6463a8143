"""The lines of `compute events`."""

from datetime import timedelta

from compute.cli.output.event_table import EventTable
from compute.views.events import EventFilter, EventOrigins, timeline
from tests.support.compute.builders import NOW
from tests.support.compute.event_builders import event

SAYS = (
    "The image registry.test/web:404 cannot be pulled: there is no such image, or no access to it"
)
BROKEN = event("Instance/web-home-dfw-0", "ImageUnavailable", SAYS, warning=True)


def printed(*events, width=0, live=False, wide=False):
    known = timeline(events, EventOrigins({}), EventFilter()).lines()
    now = NOW + timedelta(minutes=5)
    table = EventTable(known, now, live=live, wide=wide, width=width)
    return "\n".join([table.header(), *map(table.lines, known)])


def test_a_warning_is_marked_in_words():
    """No colour is needed to see what is a warning, and how often it happened."""
    again = event("Workload/web", "Created", at=NOW + timedelta(seconds=1), name="b")

    assert printed(BROKEN, event("Workload/web", name="a"), again) == (
        "AGE   CITY   OBJECT                    REASON             MESSAGE\n"
        f"5m    DFW    instance/web-home-dfw-0   ImageUnavailable   Warning: {SAYS}\n"
        "4m    -      workload/web              Created            It happened (2 times in 1s)"
    )


def test_a_long_message_is_continued():
    """On a wide terminal, a message is continued in its own column."""
    assert printed(BROKEN, width=120) == (
        "AGE   CITY   OBJECT                    REASON             MESSAGE\n"
        "5m    DFW    instance/web-home-dfw-0   ImageUnavailable   "
        "Warning: The image registry.test/web:404 cannot be pulled:\n"
        "                                                          "
        "there is no such image, or no access to it"
    )


def test_a_message_is_whole_on_a_narrow_terminal():
    """Where there is no room beside the columns, the message is below them."""
    assert printed(BROKEN, width=80) == (
        "AGE   CITY   OBJECT                    REASON             MESSAGE\n"
        "5m    DFW    instance/web-home-dfw-0   ImageUnavailable\n"
        "      Warning: The image registry.test/web:404 cannot be pulled: there is no\n"
        "      such image, or no access to it"
    )


def test_a_live_line_has_the_time_of_day():
    """An age would be 0s on every line."""
    header, line = printed(BROKEN, live=True).split("\n")

    assert header.startswith("TIME       CITY")
    assert line.count(":") >= 2


def test_wide_lines_have_every_column():
    """The type has a column of its own, and so has the count."""
    assert printed(event("Network/net"), wide=True) == (
        "TIME                   COUNT   TYPE     CITY   OBJECT        REPORTER   REASON    MESSAGE\n"
        "2026-06-01T12:00:00Z   1       Normal   -      network/net   workload   Created   It happened"
    )


def test_control_characters_are_escaped():
    """The message of an event can come from a container."""
    assert "\x1b" not in printed(event("Workload/web", message="\x1b[2Jgone"))
