"""The guarantees of a watch, checked against the history of writes.

ordered       revisions only rise
unique        nothing is sent twice
reliable      between the first and the last thing sent, nothing is missing
resumable     the same holds across connections, since a watcher resumes from the last revision
bookmarkable  after a bookmark nothing older comes, and nothing before it is missing
typed         ADDED for what was not there, MODIFIED and DELETED for what was
filtered      with a selector, exactly the objects that match, as they come and go
truthful      what is sent of a revision is what was written at it
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tests.support.generated.histories import History, ObservedEvent

_CHANGES = frozenset({"ADDED", "MODIFIED", "DELETED"})


def broken(history: History) -> list[str]:
    """A message for every guarantee that was violated."""
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
    for event in reference:
        if event.type not in _CHANGES:
            continue
        was, matches = event.key in there, parity in ("", event.parity) and event.type != "DELETED"
        if matches:
            seen[event.revision] = event._replace(type="MODIFIED" if was else "ADDED")
            there.add(event.key)
        elif was:
            seen[event.revision] = event._replace(type="DELETED")
            there.discard(event.key)
    return seen


def _untruthful(history: History) -> Iterator[str]:
    known = {event.revision: event for event in history.reference if event.type in _CHANGES}
    for revision, (key, value) in history.written.items():
        event = known.get(revision)
        if event is None:
            yield f"the acknowledged write {revision} of {key} was never sent"
        elif (event.key, event.value) != (key, value):
            yield f"revision {revision} was {key}={value} and is sent as {event}"


def _unordered(log: Iterable[ObservedEvent]) -> Iterator[str]:
    last = 0
    for event in log:
        if event.type == "RELIST":
            if event.revision < last:
                yield f"listed at {event.revision} after {last} was sent"
            last = event.revision
        elif event.type in _CHANGES:
            if event.revision <= last:
                yield f"{event} after {last}"
            last = event.revision
        elif event.type == "BOOKMARK":
            if event.revision < last:
                yield f"bookmark {event.revision} after {last}"
            last = event.revision


def _mistyped(log: Iterable[ObservedEvent]) -> Iterator[str]:
    there: set[str] = set()
    for event in log:
        match event.type:
            case "RELIST":
                there = set()
            case "LISTED":
                there.add(event.key)
            case "ADDED" | "MODIFIED" | "DELETED":
                if (event.key in there) == (event.type == "ADDED"):
                    yield f"{event} of an object that was{'' if event.key in there else ' not'} there"
                (there.discard if event.type == "DELETED" else there.add)(event.key)
            case "BOOKMARK":
                pass


def _gaps(log: Sequence[ObservedEvent], reference: Mapping[int, ObservedEvent]) -> Iterator[str]:
    """What lies within a stretch of watching and is missing from it, or was sent with other content."""
    for start, end, seen in _stretches(log):
        for revision, event in reference.items():
            if start < revision <= end and revision not in seen:
                yield f"{event} is missing between {start} and {end}"
        for revision, event in seen.items():
            expected = reference.get(revision)
            if expected is None or _essence(event) != _essence(expected):
                yield f"{event} was {expected}"


def _essence(event: ObservedEvent) -> tuple[object, ...]:
    """What must agree. An object that stops to match is shown as it was when it did."""
    return event[:3] if event.type == "DELETED" else event


def _stretches(log: Sequence[ObservedEvent]) -> Iterator[tuple[int, int, dict[int, ObservedEvent]]]:
    """From one list to the next: where the watch started, how far it came, what was sent."""
    start, end, seen = 0, 0, dict[int, ObservedEvent]()
    for event in log:
        if event.type == "RELIST":
            yield start, end, seen
            start, end, seen = event.revision, event.revision, {}
        elif event.type == "BOOKMARK":
            end = event.revision
        elif event.type in _CHANGES:
            end = event.revision
            seen[event.revision] = event
    yield start, end, seen


def _wrong_lists(history: History) -> Iterator[str]:
    """Lists that are older than what their reader had written, or mix two moments."""
    changes = [event for event in history.reference if event.type in _CHANGES]
    for newest, revision, found in history.lists:
        if revision < newest:
            yield f"a list at {revision} was given to a client that had written {newest}"
        expected = _state_at(changes, revision)
        if found != expected:
            yield f"the list at {revision} is {found} instead of {expected}"


def _state_at(changes: Iterable[ObservedEvent], revision: int) -> dict[str, str]:
    state: dict[str, str] = {}
    for event in changes:
        if event.revision > revision:
            break
        if event.type == "DELETED":
            state.pop(event.key, None)
        else:
            state[event.key] = event.value
    return state
