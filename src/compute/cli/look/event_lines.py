"""The last events of an object, as lines of a description."""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from compute.cli.output.event_table import EventTable
from compute.cli.output.terminal import styled, width
from compute.views.events import EventView

_SHOWN: Final = 8
_INDENT: Final = 2


def event_lines(events: Sequence[EventView] | None, now: datetime) -> list[str]:
    """The last events, the oldest first; how many more there are; or that they cannot be read."""
    if events is None:
        return ["You may not read events here."]
    if not events:
        return ["None in the last hour."]
    shown = events[-_SHOWN:]
    most = width(sys.stdout)
    table = EventTable(shown, now, live=False, wide=False, width=max(most - _INDENT, 0))
    lines = [table.header()]
    for event in shown:
        drawn = table.lines(event).split("\n")
        lines += [styled(line, "yellow") for line in drawn] if event.is_warning else drawn
    more = len(events) - len(shown)
    return [*lines, *([f"and {more} earlier"] if more else [])]
