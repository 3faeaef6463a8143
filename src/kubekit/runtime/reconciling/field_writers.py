"""Who else writes an object, as its managedFields tell."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kubekit.runtime.reconciling.field_paths import Fields, owns


@dataclass(frozen=True, slots=True)
class FieldManager:
    """One writer of an object. ``owner`` says that some of the fields in question are his."""

    manager: str
    operation: str
    time: datetime | None
    owner: bool

    def __str__(self) -> str:
        at = f", {self.time:%H:%M:%SZ}" if self.time else ""
        return f'"{self.manager}" ({self.operation}{at})'


def others(
    managed: Iterable[Mapping[str, Any]], own: str, fields: Fields, window: float
) -> Iterator[FieldManager]:
    """The other writers that own one of the fields, or that wrote within the window.

    The window ends with the last write there is: times of one server are compared with each
    other, never with a clock of ours.
    """
    entries = list(managed)
    times = [_time(entry) for entry in entries]
    last = max((time for time in times if time), default=None)
    for entry, time in zip(entries, times, strict=True):
        owner = any(owns(entry.get("fieldsV1", {}), path) for path in fields)
        lately = time is not None and last is not None and last - time < timedelta(seconds=window)
        if entry.get("manager", "") != own and (owner or lately):
            yield FieldManager(entry.get("manager", ""), entry.get("operation", ""), time, owner)


def _time(entry: Mapping[str, Any]) -> datetime | None:
    text = entry.get("time")
    return datetime.fromisoformat(text) if text else None
