"""The time fields of built-in kinds: stored in UTC, with the decimals of their type."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kubekit.api import times
from kubekit.api.fields import FieldError, Path, Problem
from kubekit.api.structural.nodes import Document

_CLOCK: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """How one type of time is stored, and which formats are accepted."""

    stored: re.Pattern[str]
    accepted: re.Pattern[str]
    format: Callable[[datetime], str]
    message: str


SECONDS: Final = TimeFormat(
    stored=re.compile(rf"{_CLOCK}Z"),
    accepted=re.compile(r"[^a-z]*"),
    format=times.format_time,
    message="must be a time such as 2024-05-01T12:00:00Z",
)
MICROS: Final = TimeFormat(  # Kubernetes accepts no other number of decimals
    stored=re.compile(rf"{_CLOCK}\.[0-9]{{6}}Z"),
    accepted=re.compile(rf"{_CLOCK}\.[0-9]{{6}}(?:Z|[+-][0-9:]{{5}})"),
    format=times.format_micro,
    message="must have six decimals, such as 2024-05-01T12:00:00.000000Z",
)


def time_errors(
    values: Document, path: Path, names: tuple[str, ...], form: TimeFormat
) -> Iterator[FieldError]:
    """The errors in these times; valid ones are changed to the stored format."""
    for name in names:
        text = values.get(name)
        if text is None or form.stored.fullmatch(text):
            continue
        if form.accepted.fullmatch(text):
            values[name] = form.format(times.parse(text))
        else:
            yield FieldError(path.child(name), Problem.TYPE_INVALID, form.message, text)
