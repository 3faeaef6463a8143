"""Fights: an object that is written again and again, and who else writes it.

Two controllers that undo each other's writes never fail, so no error tells of them. What tells is
the number of writes of one object that say what was said before. Past a limit the controller leaves
that object alone for a while, and says which fields it kept writing and who, by managedFields,
writes them too. Writes that each say something new, as a status does while instances come up, are
progress; only very many of them are too many. And a status follows what it tells of: it says the same
again whenever that comes back, as it does at every step of a rollout.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from kubekit.runtime.reconciling.field_paths import DELETION, FieldPath, Fields, shown
from kubekit.runtime.reconciling.field_writers import FieldManager, others
from kubekit.runtime.reconciling.object_keys import ObjectKey

_MOST: Final = 8192  # objects that are counted at once; a fight keeps itself among the newest
_IDLE: Final = 3  # one part in so many of the window without a write, and an object is at peace
_NEWS: Final = 20  # times the limit is too many, though each write says something new
_FOLLOWED: Final = 100  # times the limit is too many for a status, though nobody undoes it
_SUSPECT: Final = 5  # so many repetitions before the limit, one looks who wrote last
_LISTED: Final = 3
_STATUS: Final = ("status",)


@dataclass(frozen=True, slots=True)
class WriteConflictSettings:
    """An object written more than ``limit`` times within ``window`` seconds is fought over.

    Only writes that say the same as another of them count.
    It is then left alone for ``rest`` seconds, twice as long each time, up to ``longest_rest``.
    """

    limit: int = 30
    window: float = 60.0
    rest: float = 300.0
    longest_rest: float = 3600.0


class WriteConflictLoop(Exception):
    """A write that does not happen, since the object is being fought over."""

    def __init__(self, message: str, seconds_left: float) -> None:
        super().__init__(f"{message}; not written again for {seconds_left:.0f} s")
        self.seconds_left = seconds_left


@dataclass(slots=True)
class _Bout:
    """The writes of one object within the window, the oldest first, and who else was seen.

    A write is when, which fields, and a number for what it said.
    """

    writes: list[tuple[float, Fields, int]]
    others: tuple[FieldManager, ...] = ()

    @property
    def repeated(self) -> int:
        """How many of the writes said what another of them says too; at most all of them.

        Of a status only those count that say what the very last one said: somebody else must have
        undone it, while a status that comes and goes was written both ways by us.
        """
        undone = sum(one[1:] == next_[1:] for one, next_ in pairwise(self._statuses))
        said = Counter(one[1:] for one in self.writes if not _is_of_status(one[1]))
        return undone + sum(times for times in said.values() if times > 1)

    def is_fight(self, limit: int) -> bool:
        count = len(self.writes)
        if count <= limit:
            return False
        statuses = len(self._statuses)
        many = count - statuses > limit * _NEWS or statuses > limit * _FOLLOWED
        return many or self.repeated > limit

    @property
    def _statuses(self) -> list[tuple[float, Fields, int]]:
        """The writes of nothing but a status."""
        return [one for one in self.writes if _is_of_status(one[1])]


@dataclass(slots=True)
class _Rest:
    """An object that is left alone. It is remembered for as long again as it rested.

    ``deleted`` says that its deletion is part of what was repeated.
    """

    message: str
    deleted: bool
    seconds: float
    until: float


class WriteConflictBreaker:
    """The breaker of one controller: counts its writes of each object."""

    def __init__(self, writer: str, settings: WriteConflictSettings) -> None:
        self._writer = writer
        self._settings = settings
        self._bouts: OrderedDict[ObjectKey, _Bout] = (
            OrderedDict()
        )  # the last one written at the end
        self._rests: dict[ObjectKey, _Rest] = {}

    def __len__(self) -> int:
        """How many objects are remembered."""
        return len(self._bouts) + len(self._rests)

    def check(self, target: ObjectKey, now: float, fields: Fields = ()) -> None:
        """Raise `Fight` while the object is to be left alone.

        It may be deleted all the same, unless that is what was repeated: an owner may be waiting
        for it to go.
        """
        rest = self._rests.get(target) if self._rests else None
        if rest is None or now >= rest.until or (fields == DELETION and not rest.deleted):
            return
        raise WriteConflictLoop(rest.message, rest.until - now)

    def suspects(self, target: ObjectKey) -> bool:
        """Whether a fight is near, so that it is worth a read to see who wrote last.

        After our own write it is too late: the fields are then ours.
        """
        bout = self._bouts.get(target)
        near = self._settings.limit - _SUSPECT
        return bout is not None and len(bout.writes) > near and bout.repeated > near

    def saw(
        self, target: ObjectKey, managed: Iterable[Mapping[str, Any]], own: str, fields: Fields
    ) -> None:
        """Note who else, besides ``own``, owns these fields or wrote lately."""
        bout = self._bouts.get(target)
        if bout is None:  # the fight was seen, or the object forgotten, while one looked
            return
        seen = {writer.manager: writer for writer in bout.others}
        for writer in others(managed, own, fields, self._settings.window):
            known = seen.get(writer.manager)
            if known is None or not known.owner or writer.owner:
                seen[writer.manager] = writer
        bout.others = tuple(seen.values())

    def wrote(self, target: ObjectKey, fields: Fields, now: float, content: int = 0) -> str | None:
        """Count a write that said ``content``. When it is one too many, what to tell about it."""
        write = now, fields, content
        bout = self._bouts.pop(target, None)
        if bout is None:
            bout = _Bout([write])
        else:
            bout.writes.append(write)
        self._bouts[target] = bout
        writes = bout.writes
        while writes[0][0] <= now - self._settings.window:
            del writes[0]
        self._forget(now)
        if not bout.is_fight(self._settings.limit):
            return None
        return self._trip(target, self._bouts.pop(target), now)

    def _trip(self, target: ObjectKey, bout: _Bout, now: float) -> str:
        self._rests = {
            resting: rest
            for resting, rest in self._rests.items()
            if now < rest.until + rest.seconds
        }
        before = self._rests.get(target)
        longer = 2 * before.seconds if before else self._settings.rest
        seconds = min(longer, self._settings.longest_rest)
        message = self._message(target, bout)
        deleted = any(fields == DELETION for _, fields, _ in bout.writes)
        self._rests[target] = _Rest(message, deleted, seconds, now + seconds)
        return message

    def _forget(self, now: float) -> None:
        """Let go of objects that rest, and of the longest unwritten when there are too many.

        Most are written a few times and left alone: they need not be remembered for as long as a
        fight is.
        """
        oldest = now - self._settings.window / _IDLE
        while True:
            target, bout = next(iter(self._bouts.items()))
            if bout.writes[-1][0] > oldest and len(self._bouts) <= _MOST:
                return
            del self._bouts[target]

    def _message(self, target: ObjectKey, bout: _Bout) -> str:
        times, window = len(bout.writes), self._settings.window
        paths = Counter(path for _, fields, _ in bout.writes for path in fields)
        return (
            f"{target}: {self._writer} wrote it {times} times within {window:.0f} s"
            f"{_often(paths, times)}; {_accused(bout.others)}"
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


def _accused(writers: Iterable[FieldManager]) -> str:
    """Those who write the same fields, or else those who write the object, or else nobody."""
    known = list(writers)
    owners = [writer for writer in known if writer.owner]
    if not known:
        return "no other writer is recorded, so it may be undoing what it wrote itself"
    named = ", ".join(map(str, owners or known))
    verb = "writes" if len(owners or known) == 1 else "write"
    return f"{named} {verb} {'it' if owners else 'the object'} too"
