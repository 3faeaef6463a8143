"""Workloads, cities and instances as text of a terminal with colours."""

import textwrap
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from rich.text import Text

from compute.cli.output import phrases
from compute.cli.output.city_rows import data_age, since, why
from compute.cli.output.tables import plain
from compute.decide.health import CityState, HealthStatus
from compute.decide.instance_state import InstanceState
from compute.views.instances import InstanceView
from compute.views.workloads import CityView, WorkloadView

HEALTH_COLOURS: Final = {
    HealthStatus.UNAVAILABLE: "red",
    HealthStatus.DEGRADED: "yellow",
    HealthStatus.UNKNOWN: "yellow",
    HealthStatus.DELETING: "bright_black",
    HealthStatus.PROGRESSING: "cyan",
    HealthStatus.AVAILABLE: "green",
}
CITY_COLOURS: Final = {
    CityState.FAILED: "red",
    CityState.DOWN: "red",
    CityState.BLOCKED: "yellow",
    CityState.UNREACHABLE: "magenta",
    CityState.DEGRADED: "yellow",
    CityState.PENDING: "cyan",
    CityState.QUEUED: "cyan",
    CityState.UPDATING: "cyan",
    CityState.PAUSED: "blue",
    CityState.DONE: "green",
}
_INSTANCE_COLOURS: Final = {
    InstanceState.FAILED: "red",
    InstanceState.UNREACHABLE: "magenta",
    InstanceState.PENDING: "yellow",
    InstanceState.STARTING: "cyan",
    InstanceState.STOPPED: "blue",
    InstanceState.DELETING: "bright_black",
    InstanceState.AVAILABLE: "green",
}
_FULL, _EMPTY, _MARK = "━", "─", "●"
_AVAILABLE: Final = InstanceState.AVAILABLE
_MOST_LINES: Final = 2  # of a cause in the list of Workloads


def workload_item(view: WorkloadView, width: int) -> Text:
    """A Workload: its health and numbers, and below them the cause in its worst city."""
    colour = HEALTH_COLOURS[view.health]
    numbers = f"{view.ready}/{view.desired}"
    name = _fitted(plain(view.name), width - len(numbers) - 3)
    first = Text.assemble((f"{_MARK} ", colour), (name, "bold"))
    first.append(" " * max(1, width - first.cell_len - len(numbers)))
    first.append(numbers, colour)
    worst = view.worst
    text = f"{worst[0].city}: {_cause(worst[0])}" if worst else view.health.value
    lines = _wrapped(plain(text), width - 2)
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], " ".join(lines[_MOST_LINES - 1 : _MOST_LINES + 1])]
    lines = [_fitted(line, width - 2) for line in lines]
    return Text("\n").join((first, *(Text(f"  {line}", "" if worst else "dim") for line in lines)))


def _cause(city: CityView) -> str:
    """The cause in a city, without the name of the object that reports it: the city is enough here."""
    reporter, colon, text = city.why.partition(": ")
    return text if colon and " " not in reporter else city.why


def city_title(city: CityView, *, placements: bool) -> str:
    """The title of a tile; with its placement where there are several."""
    return f"{city.city} {city.placement}" if placements else city.city


def city_tile(city: CityView, now: datetime, width: int) -> Text:
    """A city: a bar of what is ready, what it waits for, and the age of its data if it is old."""
    colour = CITY_COLOURS[city.state]
    numbers = f" {city.ready}/{city.desired}"
    room = max(4, width - len(numbers))
    share = min(city.ready / city.desired, 1.0) if city.desired else 1.0
    filled = round(share * room)
    text = Text.assemble(
        (_FULL * filled, colour), (_EMPTY * (room - filled), "bright_black"), numbers
    )
    text.append(f"\n{_fitted(_standing(city, now), width)}", "dim")
    return text


def _standing(city: CityView, now: datetime) -> str:
    if city.reported_at is not None:
        return f"data {data_age(city, now)} old"
    if city.state is CityState.DONE:
        return plain(why(city)) or "up to date"
    age = since(city, now)
    return f"{city.updated}/{city.desired} updated" + (f", {age}" if age != phrases.NONE else "")


def instance_items(
    views: Iterable[InstanceView], now: datetime, width: int, *, placements: bool
) -> Text:
    """The instances. Of several with the same cause the first names it."""
    items, before = [], ""
    for view in views:
        message = " ".join(view.message.split()) if view.state is not _AVAILABLE else ""
        items.append(_instance_line(view, now, width, placements=placements))
        if message and message != before:
            items += [Text(f"  {line}") for line in _wrapped(plain(message), width - 2)]
        before = message
    return Text("\n").join(items)


def _instance_line(view: InstanceView, now: datetime, width: int, *, placements: bool) -> Text:
    """The name of an instance without that of its Workload, its state, and its age."""
    colour = _INSTANCE_COLOURS[view.state]
    owner = f"{view.workload}-" if placements else f"{view.workload}-{view.placement}-"
    name = plain(view.name.removeprefix(owner))
    age = phrases.age(view.since or view.created_at, now)
    text = Text.assemble((f"{_MARK} ", colour), f"{name}  ")
    status = _fitted(plain(view.status), max(width - text.cell_len - len(age) - 1, 8))
    text.append(status, colour)
    text.append(" " * max(1, width - text.cell_len - len(age)))
    text.append(age, "dim")
    return text


def _wrapped(text: str, width: int) -> list[str]:
    """The text on lines; a word is not broken, so that the name of an image can be read."""
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def _fitted(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"
