"""The lines of `compute events`: columns of a fixed width, and the whole message of each event.

The lines come one after the other, so the widths follow from the first of them. A message that does not
fit beside the other columns is continued below, because it is what the user looks for.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from compute.cli.output.phrases import NONE, age, duration
from compute.cli.output.tables import plain
from compute.views.events import EventView
from kubekit.api.times import format_time

_GAP: Final = "   "
_LEAST_ROOM: Final = 40  # columns for a message beside the others; else it goes below
_INDENT: Final = " " * 6
_KINDS: Final = {"WorkloadDeployment": "deployment"}
_CLOCK: Final = "%H:%M:%S"


class EventTable:
    """Lays out events. ``live`` shows the time of day instead of an age, which would always be 0s."""

    def __init__(
        self, first: Iterable[EventView], now: datetime, *, live: bool, wide: bool, width: int
    ) -> None:
        self._now = now
        self._live = live
        self._wide = wide
        self._width = width
        rows = [self._headers(), *map(self._cells, first)]
        self._widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def header(self) -> str:
        """The line above the columns."""
        return self._row((*self._headers(), "MESSAGE"))

    def lines(self, event: EventView) -> str:
        """The line of an event, and those that continue its message."""
        return "\n".join(self._laid_out(self._cells(event), _message(event, wide=self._wide)))

    def _headers(self) -> tuple[str, ...]:
        if self._wide:
            return ("TIME", "COUNT", "TYPE", "CITY", "OBJECT", "REPORTER", "REASON")
        return ("TIME" if self._live else "AGE", "CITY", "OBJECT", "REASON")

    def _cells(self, event: EventView) -> tuple[str, ...]:
        named = f"{_kind(event.object.kind)}/{event.object.name}"
        city = event.city or NONE
        cells: tuple[str, ...]
        if self._wide:
            cells = (format_time(event.time), str(event.count), event.type or NONE, city, named,
                     event.reporter or NONE, event.reason)  # fmt: skip
        elif self._live:
            cells = (event.time.astimezone().strftime(_CLOCK), city, named, event.reason)
        else:
            cells = (age(event.time, self._now), city, named, event.reason)
        return tuple(map(plain, cells))

    def _laid_out(self, cells: Sequence[str], message: str) -> Iterator[str]:
        prefix = self._row((*cells, ""))
        used = max(len(prefix), sum(self._widths) + len(_GAP) * len(cells))
        room = self._width - used
        if not self._width or len(message) <= room:
            yield self._row((*cells, message))
        elif room >= _LEAST_ROOM:
            first, *more = textwrap.wrap(message, room, break_on_hyphens=False)
            yield self._row((*cells, first))
            yield from (" " * used + line for line in more)
        else:
            yield prefix
            yield from textwrap.wrap(
                message, max(self._width, _LEAST_ROOM), break_on_hyphens=False,
                initial_indent=_INDENT, subsequent_indent=_INDENT,
            )  # fmt: skip

    def _row(self, cells: Sequence[str]) -> str:
        *columns, last = cells
        padded = (cell.ljust(size) for cell, size in zip(columns, self._widths, strict=True))
        return _GAP.join([*padded, last]).rstrip()


def _kind(kind: str) -> str:
    return _KINDS.get(kind, kind.lower())


def _message(event: EventView, *, wide: bool) -> str:
    text = plain(" ".join(event.message.split()))
    if event.is_warning and not wide:
        text = f"Warning: {text}"
    if event.count > 1 and not wide:
        text += f" ({event.count} times in {duration(event.time - event.first)})"
    return text
