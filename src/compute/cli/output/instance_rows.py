"""Instances as rows of a table, and a line that counts them."""

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from compute.cli.output import phrases
from compute.cli.output.tables import fitting, table
from compute.cli.output.terminal import styled, width
from compute.decide.instance_state import InstanceState
from compute.views.instances import InstanceView

_HEADERS: Final = (
    "NAME", "WORKLOAD", "CITY", "INTERNAL IP", "EXTERNAL IP", "TYPE", "AGE", "STATUS", "REV",
)  # fmt: skip
_WIDE: Final = (*_HEADERS, "PLACEMENT", "INSTANCE TYPE", "DATA")
# Left out on a narrow terminal, the first first.
_LESS_IMPORTANT: Final = ("EXTERNAL IP", "TYPE", "INTERNAL IP", "AGE", "WORKLOAD", "CITY")
_SHORT_TYPES: Final = {"virtual-machine": "vm"}
_LIVE: Final = "live"
_COLOURS: Final = {
    InstanceState.FAILED: "red",
    InstanceState.UNREACHABLE: "yellow",
    InstanceState.PENDING: "yellow",
    InstanceState.STARTING: "cyan",
    InstanceState.AVAILABLE: "green",
}
_STATES: Final = {state.value: state for state in InstanceState}


def instance_table(
    views: Sequence[InstanceView], now: datetime, *, wide: bool, no_headers: bool = False
) -> str:
    """The Instances as a table. On a narrow terminal it has fewer columns, unless it is wide."""
    most = 0 if wide else width(sys.stdout)
    headers, rows = fitting(
        _WIDE if wide else _HEADERS,
        [_row(view, now, wide=wide) for view in views],
        most,
        _LESS_IMPORTANT,
    )
    return table(headers, rows, width=most, style=state_coloured, no_headers=no_headers)


def count_line(views: Sequence[InstanceView]) -> str:
    """How many Instances there are in each state, the worst first."""
    counted = Counter(view.state for view in views)
    parts = [f"{counted[state]} {state.lower()}" for state in InstanceState if counted[state]]
    return f"{phrases.counted(len(views), 'instance')}: {', '.join(parts)}"


def revision(view: InstanceView) -> str:
    """The revision that an Instance runs; ``(old)`` if another one is asked for."""
    number = phrases.NONE if view.revision is None else str(view.revision)
    return f"{number} (old)" if view.outdated else number


def state_coloured(_: int, text: str) -> str:
    """A cell in the colour of the state that it starts with, if it starts with one."""
    state = _STATES.get(text.split(" ", 1)[0])
    colour = _COLOURS.get(state) if state else None
    return styled(text, colour) if colour else text


def _row(view: InstanceView, now: datetime, *, wide: bool) -> tuple[str, ...]:
    cells = (
        view.name,
        view.workload or phrases.NONE,
        view.city or phrases.NONE,
        view.internal_ip or phrases.NONE,
        view.external_ip or phrases.NONE,
        _SHORT_TYPES.get(view.type, view.type),
        phrases.age(view.created_at, now),
        view.status,
        revision(view),
    )
    if not wide:
        return cells
    data = phrases.age(view.reported_at, now) if view.reported_at else _LIVE
    return (*cells, view.placement or phrases.NONE, view.instance_type, data)
