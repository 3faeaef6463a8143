"""The cities of a Workload as rows of a table, and what to type next as a list."""

import sys
import textwrap
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, TextIO

from compute.cli.invocation import spelled
from compute.cli.output import phrases
from compute.cli.output.tables import fitting, plain, table
from compute.cli.output.terminal import is_terminal, styled, width
from compute.decide.health import CityState
from compute.views.workloads import CityView

_COLOURS: Final = {
    CityState.FAILED: "red",
    CityState.DOWN: "red",
    CityState.BLOCKED: "yellow",
    CityState.UNREACHABLE: "yellow",
    CityState.DEGRADED: "yellow",
    CityState.PAUSED: "cyan",
    CityState.DONE: "green",
}
_STATES: Final = {state.value: state for state in CityState}
STATUS_HEADERS: Final = ("PLACEMENT", "CITY", "READY", "UPDATED", "STATE", "SINCE", "DATA", "WHY")
PROGRESS_HEADERS: Final = ("PLACEMENT", "CITY", "UPDATED", "READY", "OLD", "PHASE")
# Left out on a narrow terminal, the first first: the state and its cause stay.
_LESS_IMPORTANT: Final = ("PROGRESS", "OLD", "SINCE", "DATA", "UPDATED", "PLACEMENT")
_LIVE: Final = "live"


def status_row(city: CityView, now: datetime) -> tuple[str, ...]:
    """A city in a status: what runs there."""
    return (
        city.placement,
        city.city,
        f"{city.ready}/{city.desired}",
        f"{city.updated}/{city.desired}",
        city.state.value,
        phrases.age(city.since, now),
        data_age(city, now),
        why(city) or phrases.NONE,
    )


def progress(city: CityView) -> tuple[str, ...]:
    """How far the rollout of a city is; the columns are `PROGRESS_HEADERS`."""
    return (
        city.placement,
        city.city,
        f"{city.updated}/{city.desired}",
        f"{city.ready}/{city.desired}",
        str(city.old),
        city.state.value,
    )


def since(city: CityView, now: datetime) -> str:
    """How long the state of a city has lasted; not for one that is done."""
    return phrases.NONE if city.state is CityState.DONE else phrases.age(city.since, now)


def data_age(city: CityView, now: datetime) -> str:
    """How old the data of a city is: live while its cell reports."""
    return phrases.age(city.reported_at, now) if city.reported_at else _LIVE


def why(city: CityView) -> str:
    """The cause in a city, and what the user has set there."""
    pinned = f"pinned to revision {city.pinned_revision}" if city.pinned_revision else ""
    held = "paused" if city.paused and city.state is not CityState.PAUSED else ""
    return "; ".join(filter(None, (city.why, held, pinned)))


def coloured(_: int, text: str) -> str:
    """A cell in the colour of the state that it names, if it names one."""
    state = _STATES.get(text.strip())
    colour = _COLOURS.get(state) if state else None
    return styled(text, colour) if colour else text


def next_steps(cities: Iterable[CityView], stream: TextIO | None = None) -> list[str]:
    """What to do, as lines for a stream, stderr if none is given: each step once, with its cities.

    On a terminal, where a table may be cut, the cause is there in full.
    """
    cities_of: dict[str, list[CityView]] = {}
    for city in cities:
        if city.next_step:
            cities_of.setdefault(city.next_step, []).append(city)
    stream = stream or sys.stderr
    lines = []
    for step, group in cities_of.items():
        named = ", ".join(dict.fromkeys(city.city for city in group))
        text = spelled(step).replace("`", "")
        if is_terminal(stream):
            most = width(stream)
            lines += [*_wrapped(f"{named}: {group[0].why}", most, 2), *_wrapped(text, most, 4)]
        else:
            lines.append(f"  {plain(f'{named}: {text}')}")
    return lines


def _wrapped(text: str, most: int, indent: int) -> list[str]:
    """Text in lines that fit on the terminal."""
    return textwrap.wrap(
        plain(text),
        most,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 2),
        break_on_hyphens=False,
    )


def without_single_placement(
    headers: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[Sequence[str], list[Sequence[str]]]:
    """The table without its first column if that has one value only."""
    if len({row[0] for row in rows}) > 1:
        return headers, list(rows)
    return headers[1:], [row[1:] for row in rows]


def city_table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], *, live: bool = False
) -> list[str]:
    """Cities as the lines of a table, with the columns that fit. In a ``live`` one they stay the same."""
    most = width(sys.stdout)
    shown, cells = without_single_placement(headers, rows)
    shown, cells = fitting(shown, cells, most, _LESS_IMPORTANT, most if live else 0)
    return table(shown, cells, width=most, style=coloured).split("\n")
