"""Instances while they change: a table that is redrawn on a terminal, else a line for each change.

``jsonl`` is one document for each change.
"""

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, Protocol

from compute.cli.output import phrases
from compute.cli.output.formats import show_data
from compute.cli.output.instance_rows import count_line, instance_table, revision
from compute.cli.output.redraw import RedrawnLines
from compute.cli.output.tables import plain
from compute.cli.output.terminal import is_terminal
from compute.cli.streams import show
from compute.views.instances import InstanceChange, InstanceView

_ADDED, _CHANGED, _GONE = "added", "changed", "gone"
_NOTHING: Final = "There are no instances that match; waiting for some until Ctrl-C."


class InstanceScreen(Protocol):
    """Shows Instances."""

    def show(self, views: Sequence[InstanceView], now: datetime) -> None:
        """Show the Instances as they are now."""

    def restart(self) -> None:
        """Continue below what something else has printed."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def instance_screen(output: str) -> InstanceScreen:
    """The screen for this format and this stdout."""
    if output == "jsonl":
        return InstanceJsonLines()
    wide = output == "wide"
    return LiveInstanceTable(wide=wide) if is_terminal(sys.stdout) else InstanceLines()


class LiveInstanceTable:
    """The table, drawn over itself."""

    def __init__(self, *, wide: bool) -> None:
        self._wide = wide
        self._lines = RedrawnLines()

    def show(self, views: Sequence[InstanceView], now: datetime) -> None:
        if not views:
            self._lines.draw([_NOTHING])
            return
        drawn = instance_table(views, now, wide=self._wide).split("\n")
        self._lines.draw([*drawn, "", count_line(views)])

    def restart(self) -> None:
        self._lines.restart()

    def close(self) -> None:
        self._lines.close()


class InstanceLines:
    """One line for each change."""

    def __init__(self) -> None:
        self._started: datetime | None = None
        self._known: dict[str, InstanceView] = {}

    def show(self, views: Sequence[InstanceView], now: datetime) -> None:
        self._started = self._started or now
        elapsed = phrases.long_duration(now - self._started)
        for change, before in changes(self._known, views):
            show(_line(elapsed, change, before))
        self._known = {view.name: view for view in views}

    def restart(self) -> None:
        """Nothing: each line is below the one before."""

    def close(self) -> None:
        """Nothing."""


class InstanceJsonLines:
    """One JSON document for each change."""

    def __init__(self) -> None:
        self._known: dict[str, InstanceView] = {}

    def show(self, views: Sequence[InstanceView], now: datetime) -> None:
        for change, _ in changes(self._known, views):
            show_data(change, "jsonl")
        self._known = {view.name: view for view in views}

    def restart(self) -> None:
        """Nothing: each line is below the one before."""

    def close(self) -> None:
        """Nothing."""


def changes(
    known: dict[str, InstanceView], views: Sequence[InstanceView]
) -> Iterator[tuple[InstanceChange, InstanceView | None]]:
    """What changed, each with the Instance as it was before."""
    present = {view.name for view in views}
    for view in views:
        before = known.get(view.name)
        if before is None:
            yield InstanceChange(change=_ADDED, instance=view), None
        elif before != view:
            yield InstanceChange(change=_CHANGED, instance=view), before
    for name, view in known.items():
        if name not in present:
            yield InstanceChange(change=_GONE, instance=view), view


def _line(elapsed: str, change: InstanceChange, before: InstanceView | None) -> str:
    view = change.instance
    news = "gone" if change.change == _GONE else _news(view, before)
    return plain(f"{elapsed:<7}   {view.city or phrases.NONE}   {view.name}   {news}")


def _news(view: InstanceView, before: InstanceView | None) -> str:
    if before is None:
        return f"{view.status}, revision {revision(view)}"
    parts = [
        f"{before.status} -> {view.status}" if before.status != view.status else "",
        f"revision {revision(view)}" if revision(before) != revision(view) else "",
        f"internal IP {view.internal_ip}" if before.internal_ip != view.internal_ip else "",
        f"external IP {view.external_ip}" if before.external_ip != view.external_ip else "",
        "created again" if before.created_at != view.created_at else "",
    ]
    return ", ".join(filter(None, parts)) or view.status
