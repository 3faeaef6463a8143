"""Write conflict loops: an object that is written again and again, and its competing writers.

Two controllers that undo each other's writes never fail, so no error reports them. They are detected
by the number of writes of one object that repeat earlier content. Beyond a limit the controller stops
writing that object for a while. It reports which fields it kept writing and which other managers write
them too, by managedFields.

Writes are counted by uid: an object that is deleted and created again under its name is another one.
Only very many creations and deletions of one name are too many.

Writes with new content are progress, as of a status while instances become ready: only very many of
them are too many. A status may also repeat earlier content without a conflict, because the state that
it reports returns, as at every step of a rollout.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from kubekit.runtime.reconciling.field_paths import (
    CREATION,
    DELETION,
    FieldPath,
    Fields,
    owns,
    shown,
)
from kubekit.runtime.reconciling.object_keys import ObjectKey

_MOST: Final = 8192  # objects that are counted at once; one in a loop stays among the newest
_IDLE: Final = 3  # an object without a write for one part in so many of the window is forgotten
_NEWS: Final = 20  # times the limit is too many, even if each write has new content
_FOLLOWED: Final = 100  # times the limit is too many for a status, even if no writer undoes it
_RECREATED: Final = 5  # times the limit is too many creations and deletions of one name
_SUSPECT: Final = 5  # so many repetitions before the limit, managedFields are read
_LISTED: Final = 3
_STATUS: Final = ("status",)


@dataclass(frozen=True, slots=True)
class WriteConflictSettings:
    """An object with more than ``limit`` repeated writes within ``window`` seconds is in a loop.

    Only writes count that have the same content as another one of them. The object is then not written
    for ``suspension`` seconds, doubled each time, up to ``longest_suspension``.
    """

    limit: int = 30
    window: float = 60.0
    suspension: float = 300.0
    longest_suspension: float = 3600.0


class WriteConflictLoop(Exception):
    """The write was not sent, because the object is in a write conflict loop."""

    def __init__(self, message: str, seconds_left: float) -> None:
        super().__init__(f"{message}; not written again for {seconds_left:.0f} s")
        self.seconds_left = seconds_left


@dataclass(frozen=True, slots=True)
class FieldManager:
    """One writer of an object. ``owner`` says that it owns some of the fields in question."""

    manager: str
    operation: str
    time: datetime | None
    owner: bool

    def __str__(self) -> str:
        at = f", {self.time:%H:%M:%SZ}" if self.time else ""
        return f'"{self.manager}" ({self.operation}{at})'


@dataclass(slots=True)
class _WriteHistory:
    """The writes of one object within the window, the oldest first, and its other writers.

    A write is its time, its fields, and a hash of its content.
    """

    writes: list[tuple[float, Fields, int]]
    others: tuple[FieldManager, ...] = ()

    @property
    def repeated(self) -> int:
        """How many of the writes repeat the content of another one; at most all of them.

        A status write counts only if it repeats the write before it: then another writer must have
        undone that one. A status that alternates was written both times by us.
        """
        undone = sum(write[1:] == next_[1:] for write, next_ in pairwise(self._statuses))
        contents = Counter(write[1:] for write in self.writes if not _is_of_status(write[1]))
        return undone + sum(times for times in contents.values() if times > 1)

    def is_conflict(self, limit: int) -> bool:
        count = len(self.writes)
        if count <= limit:
            return False
        statuses = len(self._statuses)
        too_many = count - statuses > limit * _NEWS or statuses > limit * _FOLLOWED
        return too_many or self.is_of_name(limit) or self.repeated > limit

    def is_of_name(self, limit: int) -> bool:
        """Whether objects of the name are created and deleted over and over."""
        recreations = sum(write[1] in (CREATION, DELETION) for write in self.writes)
        return recreations > limit * _RECREATED

    @property
    def _statuses(self) -> list[tuple[float, Fields, int]]:
        """The writes that set nothing but the status."""
        return [write for write in self.writes if _is_of_status(write[1])]


@dataclass(slots=True)
class _Suspension:
    """An object that is not written. It is remembered afterwards for as long again.

    ``deleted`` says that deletes are among the repeated writes. ``uid`` is empty if every object of
    the name is suspended.
    """

    message: str
    deleted: bool
    uid: str
    seconds: float
    until: float


class WriteConflictBreaker:
    """The circuit breaker of one controller: it counts the writes of each object."""

    def __init__(self, writer: str, settings: WriteConflictSettings) -> None:
        self._writer = writer
        self._settings = settings
        # The most recently written object is at the end.
        self._histories: OrderedDict[ObjectKey, _WriteHistory] = OrderedDict()
        self._suspensions: dict[ObjectKey, _Suspension] = {}

    def __len__(self) -> int:
        """How many objects are counted or suspended."""
        return len(self._histories) + len(self._suspensions)

    def check(self, target: ObjectKey, now: float, fields: Fields = ()) -> None:
        """Raise `WriteConflictLoop` while the object is suspended.

        A delete is allowed, unless deletes were repeated: an owner may be waiting for the deletion.
        A create makes another object.
        """
        suspension = self._suspensions.get(target) if self._suspensions else None
        if (
            suspension is None
            or now >= suspension.until
            or (fields == DELETION and not suspension.deleted)
            or (fields == CREATION and suspension.uid)
        ):
            return
        raise WriteConflictLoop(suspension.message, suspension.until - now)

    def spares(self, target: ObjectKey, uid: str) -> bool:
        """Whether the suspension of a name is of an earlier object, and not of the one with this uid."""
        suspension = self._suspensions.get(target)
        return suspension is None or (bool(uid) and suspension.uid not in ("", uid))

    def suspects(self, target: ObjectKey) -> bool:
        """Whether a loop is near, so that reading managedFields before the write is worth it.

        After our own write it is too late: we own the fields then.
        """
        history = self._histories.get(target)
        near = self._settings.limit - _SUSPECT
        return history is not None and len(history.writes) > near and history.repeated > near

    def saw(
        self, target: ObjectKey, managed: Iterable[Mapping[str, Any]], own: str, fields: Fields
    ) -> None:
        """Note the other managers, besides ``own``, that own these fields or wrote recently."""
        history = self._histories.get(target)
        if history is None:  # the loop was detected, or the object forgotten, during the read
            return
        seen = {writer.manager: writer for writer in history.others}
        for writer in others(managed, own, fields, self._settings.window):
            known = seen.get(writer.manager)
            if known is None or not known.owner or writer.owner:
                seen[writer.manager] = writer
        history.others = tuple(seen.values())

    def wrote(
        self, target: ObjectKey, fields: Fields, now: float, content: int = 0, *, uid: str = ""
    ) -> str | None:
        """Count a write of ``content``. Returns the message to report when it is one too many.

        ``content`` differs for objects with different uids.
        """
        write = now, fields, content
        history = self._histories.pop(target, None)
        if history is None:
            history = _WriteHistory([write])
        else:
            history.writes.append(write)
        self._histories[target] = history
        writes = history.writes
        while writes[0][0] <= now - self._settings.window:
            del writes[0]
        self._forget(now)
        if not history.is_conflict(self._settings.limit):
            return None
        return self._trip(target, self._histories.pop(target), now, uid)

    def _trip(self, target: ObjectKey, history: _WriteHistory, now: float, uid: str) -> str:
        self._suspensions = {
            key: suspension
            for key, suspension in self._suspensions.items()
            if now < suspension.until + suspension.seconds
        }
        before = self._suspensions.get(target)
        longer = 2 * before.seconds if before else self._settings.suspension
        seconds = min(longer, self._settings.longest_suspension)
        message = self._message(target, history)
        deleted = any(fields == DELETION for _, fields, _ in history.writes)
        if history.is_of_name(self._settings.limit):
            uid = ""
        self._suspensions[target] = _Suspension(message, deleted, uid, seconds, now + seconds)
        return message

    def _forget(self, now: float) -> None:
        """Forget objects that are not written any more, and the oldest when there are too many.

        Most objects are written a few times only: they need not be counted for a whole window.
        """
        oldest = now - self._settings.window / _IDLE
        while True:
            target, history = next(iter(self._histories.items()))
            if history.writes[-1][0] > oldest and len(self._histories) <= _MOST:
                return
            del self._histories[target]

    def _message(self, target: ObjectKey, history: _WriteHistory) -> str:
        times, window = len(history.writes), self._settings.window
        paths = Counter(path for _, fields, _ in history.writes for path in fields)
        return (
            f"{target}: {self._writer} wrote it {times} times within {window:.0f} s"
            f"{_often(paths, times)}; {_competing(history.others)}"
        )


def _is_of_status(fields: Fields) -> bool:
    return bool(fields) and all(path[:1] == _STATUS for path in fields)


def _often(paths: Counter[FieldPath], times: int) -> str:
    common = paths.most_common(_LISTED)
    always = [shown(path) for path, count in common if count == times]
    if always:
        return f", each time {' and '.join(always)}"
    counted = ", ".join(f"{shown(path)} ({count} times)" for path, count in common)
    return f", mostly {counted}" if counted else ""


def _competing(writers: Iterable[FieldManager]) -> str:
    """The managers that write the same fields, or else the object, or else none."""
    known = list(writers)
    owners = [writer for writer in known if writer.owner]
    if not known:
        return "no other writer is recorded, so it may be undoing what it wrote itself"
    named = ", ".join(map(str, owners or known))
    verb = "writes" if len(owners or known) == 1 else "write"
    return f"{named} {verb} {'it' if owners else 'the object'} too"


def others(
    managed: Iterable[Mapping[str, Any]], own: str, fields: Fields, window: float
) -> Iterator[FieldManager]:
    """The other managers that own one of the fields, or that wrote within the window.

    The window ends with the last recorded write: times of one server are compared with each
    other, never with a local clock.
    """
    entries = list(managed)
    times = [_time(entry) for entry in entries]
    last = max((time for time in times if time), default=None)
    for entry, time in zip(entries, times, strict=True):
        owner = any(owns(entry.get("fieldsV1", {}), path) for path in fields)
        recently = time is not None and last is not None and last - time < timedelta(seconds=window)
        if entry.get("manager", "") != own and (owner or recently):
            yield FieldManager(entry.get("manager", ""), entry.get("operation", ""), time, owner)


def _time(entry: Mapping[str, Any]) -> datetime | None:
    text = entry.get("time")
    return datetime.fromisoformat(text) if text else None
