"""What a watcher may rely on, checked against what happened.

ordered       revisions only rise
unique        nothing is told twice
reliable      between the first and the last thing told, nothing is missing
resumable     the same holds across connections, since a watcher resumes from the last revision
bookmarkable  after a bookmark nothing older comes, and nothing before it is missing
typed         ADDED for what was not there, MODIFIED and DELETED for what was
filtered      with a selector, exactly the objects that match, as they come and go
truthful      what is told of a revision is what was written at it
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tests.support.generated.histories import History, ObservedEvent

_CHANGES = frozenset({"ADDED", "MODIFIED", "DELETED"})


def broken(history: History) -> list[str]:
    """Every promise that was not kept, in words."""
    references = {parity: _seen_by(parity, history.reference) for parity in ("", "odd", "even")}
    return [
        *_untruthful(history),
        *_unordered(history.reference),
        *(
            f"watcher {number}: {problem}"
            for number, (parity, log) in enumerate(history.watchers)
            for problem in (*_unordered(log), *_mistyped(log), *_gaps(log, references[parity]))
        ),
        *_wrong_lists(history),
    ]


def _seen_by(parity: str, reference: Iterable[ObservedEvent]) -> dict[int, ObservedEvent]:
    """The changes as a watcher with that selector sees them: objects come and go as they match."""
    there: set[str] = set()
    seen: dict[int, ObservedEvent] = {}
    for told in reference:
        if told.type not in _CHANGES:
            continue
        was, matches = told.key in there, parity in ("", told.parity) and told.type != "DELETED"
        if matches:
            seen[told.revision] = told._replace(type="MODIFIED" if was else "ADDED")
            there.add(told.key)
        elif was:
            seen[told.revision] = told._replace(type="DELETED")
            there.discard(told.key)
    return seen


def _untruthful(history: History) -> Iterator[str]:
    known = {told.revision: told for told in history.reference if told.type in _CHANGES}
    for revision, (key, value) in history.written.items():
        told = known.get(revision)
        if told is None:
            yield f"the acknowledged write {revision} of {key} was never told"
        elif (told.key, told.value) != (key, value):
            yield f"revision {revision} was {key}={value} and is told as {told}"


def _unordered(log: Iterable[ObservedEvent]) -> Iterator[str]:
    last = 0
    for told in log:
        if told.type == "RELIST":
            if told.revision < last:
                yield f"listed at {told.revision} after {last} was told"
            last = told.revision
        elif told.type in _CHANGES:
            if told.revision <= last:
                yield f"{told} after {last}"
            last = told.revision
        elif told.type == "BOOKMARK":
            if told.revision < last:
                yield f"bookmark {told.revision} after {last}"
            last = told.revision


def _mistyped(log: Iterable[ObservedEvent]) -> Iterator[str]:
    there: set[str] = set()
    for told in log:
        match told.type:
            case "RELIST":
                there = set()
            case "LISTED":
                there.add(told.key)
            case "ADDED" | "MODIFIED" | "DELETED":
                if (told.key in there) == (told.type == "ADDED"):
                    yield f"{told} of an object that was{'' if told.key in there else ' not'} there"
                (there.discard if told.type == "DELETED" else there.add)(told.key)
            case "BOOKMARK":
                pass


def _gaps(log: Sequence[ObservedEvent], reference: Mapping[int, ObservedEvent]) -> Iterator[str]:
    """What lies within a stretch of watching and is missing from it, or was told otherwise."""
    for start, end, seen in _stretches(log):
        for revision, told in reference.items():
            if start < revision <= end and revision not in seen:
                yield f"{told} is missing between {start} and {end}"
        for revision, told in seen.items():
            expected = reference.get(revision)
            if expected is None or _essence(told) != _essence(expected):
                yield f"{told} was {expected}"


def _essence(told: ObservedEvent) -> tuple[object, ...]:
    """What must agree. An object that stops to match is shown as it was when it did."""
    return told[:3] if told.type == "DELETED" else told


def _stretches(log: Sequence[ObservedEvent]) -> Iterator[tuple[int, int, dict[int, ObservedEvent]]]:
    """From one list to the next: where watching began, how far it came, what was told."""
    start, end, seen = 0, 0, dict[int, ObservedEvent]()
    for told in log:
        if told.type == "RELIST":
            yield start, end, seen
            start, end, seen = told.revision, told.revision, {}
        elif told.type == "BOOKMARK":
            end = told.revision
        elif told.type in _CHANGES:
            end = told.revision
            seen[told.revision] = told
    yield start, end, seen


def _wrong_lists(history: History) -> Iterator[str]:
    """Lists that are older than what their reader had written, or mix two moments."""
    changes = [told for told in history.reference if told.type in _CHANGES]
    for newest, revision, found in history.lists:
        if revision < newest:
            yield f"a list at {revision} was given to a client that had written {newest}"
        expected = _state_at(changes, revision)
        if found != expected:
            yield f"the list at {revision} is {found} instead of {expected}"


def _state_at(changes: Iterable[ObservedEvent], revision: int) -> dict[str, str]:
    state: dict[str, str] = {}
    for told in changes:
        if told.revision > revision:
            break
        if told.type == "DELETED":
            state.pop(told.key, None)
        else:
            state[told.key] = told.value
    return state
