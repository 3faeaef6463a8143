"""The shared ring of latest changes."""

import pytest

from compute.plane.store.failures import Forgotten
from compute.plane.store.records import ChangeType, Event, Record
from compute.plane.store.ring import Ring
from tests.store_builders import revisions


def event(revision: int, size: int = 10, key: str = "a") -> Event:
    return Event(ChangeType.ADDED, Record(key, revision, b"x" * size), None)


def ring_of(*numbers: int, floor: int = 0, events: int = 100, size: int = 10_000) -> Ring:
    ring = Ring(floor, events, size)
    for number in numbers:
        ring.append(event(number))
    return ring


def never() -> None:
    raise AssertionError("woken")


def test_a_reader_takes_what_came_after_its_revision():
    """Changes come in order, as many as asked for, each once."""
    reader = ring_of(2, 4, 6, 8).subscribe(3, never)
    assert [revisions(reader.take(2)) for _ in range(3)] == [[4, 6], [8], []]


def test_two_readers_do_not_disturb_each_other():
    """Each has a place of its own."""
    ring = ring_of(1, 2, 3)
    first, second = ring.subscribe(0, never), ring.subscribe(2, never)
    first.take(10)
    assert revisions(second.take(10)) == [3]


def test_a_revision_below_the_ring_is_forgotten():
    """Nobody may begin where changes could be missing."""
    with pytest.raises(Forgotten, match="up to revision 5 are no longer"):
        ring_of(6, floor=5).subscribe(4, never)


@pytest.mark.parametrize(
    ("events", "size"), [(4, 10_000), (100, 80)], ids=["by number", "by bytes"]
)
def test_a_full_ring_drops_its_oldest(events, size):
    """A ring holds no more than its limits, and knows below what it is blind."""
    ring = ring_of(*range(1, 6), events=events, size=size)
    assert revisions(ring.since(ring.floor)) == [3, 4, 5]
    assert ring.floor == 2


def test_a_ring_counts_all_that_its_changes_keep_alive():
    """A document, the line that watchers share, and the document before: each is memory."""
    ring = Ring(0, 100, 10_000)
    record = Record("a", 1, b"x" * 300)
    for number in range(2, 50):
        change = Event(ChangeType.MODIFIED, Record("a", number, b"y" * 300), record, b"z" * 300)
        ring.append(change)
        record = change.record
    assert 8 <= len(ring.since(ring.floor)) <= 11


def test_a_change_larger_than_the_ring_is_not_kept():
    """One huge object may push everything out, itself included, but never more than the limit."""
    ring = ring_of(1, size=100)
    ring.append(event(2, size=1000))
    assert (ring.floor, ring.since(2)) == (2, [])


def test_a_reader_that_fell_out_is_told_so():
    """A reader that the ring overtook must list again."""
    ring = ring_of(1, events=4)
    reader = ring.subscribe(0, never)
    for number in range(2, 10):
        ring.append(event(number))
    with pytest.raises(Forgotten, match="list again"):
        reader.take(1)


def test_a_reader_is_woken_once_until_it_has_caught_up():
    """A slow reader costs no wake-ups."""
    calls = []
    ring = ring_of()
    reader = ring.subscribe(0, lambda: calls.append(1))
    for number in range(1, 4):
        ring.append(event(number))
        ring.wake()
    reader.take(1)
    ring.wake()
    assert len(calls) == 1
    reader.take(10)
    ring.append(event(4))
    ring.wake()
    assert len(calls) == 2


def test_a_reader_is_not_woken_by_what_happens_elsewhere():
    """Who rests in one namespace misses nothing while another is busy, and falls behind nothing."""
    calls: list[int] = []
    ring = ring_of(events=8)
    reader = ring.subscribe(0, lambda: calls.append(1), place="quiet/")
    for number in range(1, 40):
        ring.append(event(number, key="busy/a"))
        ring.wake()
    assert (calls, reader.take(10)) == ([], [])
    ring.append(event(40, key="quiet/a"))
    ring.append(event(41, key="busy/a"))
    ring.wake()
    assert calls == [1]
    assert revisions(reader.take(10)) == [40, 41]


@pytest.mark.parametrize("place", ["", "n/", "n/a"])
def test_a_reader_is_woken_by_what_happens_where_it_looks(place):
    """Everywhere, in a namespace, or at one object."""
    calls: list[int] = []
    ring = ring_of()
    ring.subscribe(0, lambda: calls.append(1), place=place)
    ring.append(event(1, key="n/a"))
    ring.wake()
    assert calls == [1]


def test_a_closed_reader_is_not_woken():
    """Also not when another reader closed it during the same round."""
    ring = ring_of()
    first = ring.subscribe(0, lambda: second.close())  # noqa: PLW0108 - made below
    second = ring.subscribe(0, never)
    ring.wake()
    first.close()
    ring.wake()


def test_forgetting_keeps_readers_at_their_place():
    """Compaction takes old changes, and readers beyond them notice nothing."""
    ring = ring_of(1, 2, 3, 4)
    reader = ring.subscribe(2, never)
    ring.forget(2)
    ring.forget(1)
    assert revisions(reader.take(10)) == [3, 4]
    assert ring.floor == 2
