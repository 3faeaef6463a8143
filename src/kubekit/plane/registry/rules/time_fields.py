"""The times of built-in kinds: kept in UTC, with as many decimals as their kind of time has."""

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
    """How one kind of time is kept, and in which spellings it is taken."""

    kept: re.Pattern[str]
    taken: re.Pattern[str]
    spelled: Callable[[datetime], str]
    words: str


SECONDS: Final = TimeFormat(
    kept=re.compile(rf"{_CLOCK}Z"),
    taken=re.compile(r"[^a-z]*"),
    spelled=times.format_time,
    words="must be a time such as 2024-05-01T12:00:00Z",
)
MICROS: Final = TimeFormat(  # readers of Kubernetes take no other number of decimals
    kept=re.compile(rf"{_CLOCK}\.[0-9]{{6}}Z"),
    taken=re.compile(rf"{_CLOCK}\.[0-9]{{6}}(?:Z|[+-][0-9:]{{5}})"),
    spelled=times.format_micro,
    words="must have six decimals, such as 2024-05-01T12:00:00.000000Z",
)


def time_errors(
    values: Document, path: Path, names: tuple[str, ...], form: TimeFormat
) -> Iterator[FieldError]:
    """What is wrong with these times, which are instants; those that are right are respelled."""
    for name in names:
        text = values.get(name)
        if text is None or form.kept.fullmatch(text):
            continue
        if form.taken.fullmatch(text):
            values[name] = form.spelled(times.parse(text))
        else:
            yield FieldError(path.child(name), Problem.TYPE_INVALID, form.words, text)
