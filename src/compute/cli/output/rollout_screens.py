"""A rollout while it happens: a table that is redrawn on a terminal, else a line for each change.

Without a terminal there is a header, one line for each change of a city, and a line when nothing has
changed for half a minute, so that a log shows that the command still waits. ``jsonl`` is one document
for each change.
"""

import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

from compute.cli.output import phrases
from compute.cli.output.city_rows import (
    PROGRESS_HEADERS,
    city_table,
    progress,
    since,
    why,
)
from compute.cli.output.formats import show_data
from compute.cli.output.redraw import RedrawnLines
from compute.cli.output.tables import plain, table
from compute.cli.output.terminal import is_terminal
from compute.cli.streams import show
from compute.decide.health import MOVING, CityState
from compute.views.rollouts import RolloutView
from compute.views.workloads import CityView

HEARTBEAT: Final = timedelta(seconds=30)
_BAR: Final = 10  # characters
_WIDEST_TIME: Final = len("59m 59s")
_WIDEST_STATE: Final = max(len(state.value) for state in CityState)


class RolloutScreen(Protocol):
    """Shows a rollout."""

    def show(self, view: RolloutView, now: datetime) -> None:
        """Show the rollout as it is now."""

    def restart(self) -> None:
        """Draw below from now on: something else was printed meanwhile."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def screen_for(output: str, started: datetime) -> RolloutScreen:
    """The screen for this format and this stdout."""
    if output == "jsonl":
        return JsonLines()
    if output != "table":
        return SilentScreen()
    return LiveTable(started) if is_terminal(sys.stdout) else ChangeLines(started)


class SilentScreen:
    """Shows nothing on the way: the command prints the last view itself."""

    def show(self, view: RolloutView, now: datetime) -> None:
        """Nothing."""

    def restart(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class JsonLines:
    """One JSON document for each change."""

    def __init__(self) -> None:
        self._last: object = None

    def show(self, view: RolloutView, now: datetime) -> None:
        news = view.verdict, view.cities
        if news != self._last:
            self._last = news
            show_data(view, "jsonl")

    def restart(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class ChangeLines:
    """One line for each change of a city."""

    def __init__(self, started: datetime) -> None:
        self._started = started
        self._last_line = started
        self._shown: dict[tuple[str, str], object] = {}
        self._widths: list[int] = []

    def show(self, view: RolloutView, now: datetime) -> None:
        elapsed = phrases.long_duration(now - self._started)
        changed = [city for city in view.cities if self._is_new(city)]
        if changed and not self._widths:
            self._start(view.cities)
        for city in changed:
            self._line((elapsed, *progress(city), why(city) or phrases.NONE))
        if changed:
            self._last_line = now
        elif now - self._last_line >= HEARTBEAT:
            self._last_line = now
            show(f"{elapsed}   {still_waiting(view, now)}")

    def restart(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""

    def _is_new(self, city: CityView) -> bool:
        # The hint of a city that moves changes with every step, and tells nothing new.
        cause = city.reason if city.state in MOVING else why(city)
        key, news = (city.placement, city.city), (progress(city), cause)
        before, self._shown[key] = self._shown.get(key), news
        return news != before

    def _start(self, cities: Sequence[CityView]) -> None:
        rows = [PROGRESS_HEADERS, *map(progress, cities)]
        self._widths = [_WIDEST_TIME, *(max(map(len, c)) for c in zip(*rows, strict=True)), 0]
        self._widths[-2] = _WIDEST_STATE
        self._line(("TIME", *PROGRESS_HEADERS, "WHY"))

    def _line(self, cells: Sequence[str]) -> None:
        show(table([c.ljust(size) for c, size in zip(cells, self._widths, strict=True)], ()))


class LiveTable:
    """A table that is drawn over itself, with a bar for each city."""

    def __init__(self, started: datetime) -> None:
        self._started = started
        self._lines = RedrawnLines()

    def show(self, view: RolloutView, now: datetime) -> None:
        self._lines.draw(self._drawn(view, now))

    def restart(self) -> None:
        self._lines.restart()

    def close(self) -> None:
        self._lines.close()

    def _drawn(self, view: RolloutView, now: datetime) -> list[str]:
        headers = (*PROGRESS_HEADERS[:2], "PROGRESS", *PROGRESS_HEADERS[2:], "SINCE", "WHY")
        rows = [_live_row(city, now) for city in view.cities]
        done = sum(city.state is CityState.DONE for city in view.cities)
        elapsed = phrases.long_duration(now - self._started)
        title = f"Rollout of {plain(view.name)}: {done} of {len(view.cities)} done, {elapsed}"
        return [title, *city_table(headers, rows, live=True)]


def _live_row(city: CityView, now: datetime) -> tuple[str, ...]:
    placement, code, *numbers = progress(city)
    least = min(city.updated, city.ready)
    share = least / city.desired if city.desired else float(not city.old)
    bar = phrases.bar(share, _BAR)
    return (placement, code, bar, *numbers, since(city, now), why(city) or phrases.NONE)


def still_waiting(view: RolloutView, now: datetime) -> str:
    """What a rollout waits for, as a sentence."""
    open_cities = view.open
    if not open_cities:
        return "waiting for the server"
    parts = [
        f"{c.city} ({c.state.value} for {since(c, now)}: {plain(why(c))})" for c in open_cities
    ]
    more = len(parts) - 3
    return "still waiting for " + ", ".join(parts[:3]) + (f" and {more} more" if more > 0 else "")
