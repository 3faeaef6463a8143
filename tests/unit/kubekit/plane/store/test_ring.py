"""The shared ring of latest changes."""

import pytest

from kubekit.plane.store.errors import Compacted
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record
from kubekit.plane.store.ring import Ring, Subscription
from tests.support.kubekit.store_builders import revisions


def event(revision: int, size: int = 10, key: str = "a") -> ChangeEvent:
    return ChangeEvent(ChangeType.ADDED, Record(key, revision, b"x" * size), None)


def ring_of(*numbers: int, floor: int = 0, events: int = 100, size: int = 10_000) -> Ring:
    ring = Ring(floor, events, size)
    for number in numbers:
        ring.append(event(number))
    return ring


def never() -> None:
    raise AssertionError("woken")


def test_a_reader_takes_what_came_after_its_revision():
    """Changes come in order, as many as requested, each once."""
    reader = ring_of(2, 4, 6, 8).subscribe(3, never)
    assert [revisions(reader.take(2)) for _ in range(3)] == [[4, 6], [8], []]


def test_two_readers_do_not_disturb_each_other():
    """Each has its own position."""
    ring = ring_of(1, 2, 3)
    first, second = ring.subscribe(0, never), ring.subscribe(2, never)
    first.take(10)
    assert revisions(second.take(10)) == [3]


def test_a_revision_below_the_ring_is_forgotten():
    """A reader cannot start where changes could be missing."""
    with pytest.raises(Compacted, match="up to revision 5 are no longer"):
        ring_of(6, floor=5).subscribe(4, never)


@pytest.mark.parametrize(
    ("events", "size"), [(4, 10_000), (100, 80)], ids=["by number", "by bytes"]
)
def test_a_full_ring_drops_its_oldest(events, size):
    """A ring holds no more than its limits, and its floor is the oldest revision it covers."""
    ring = ring_of(*range(1, 6), events=events, size=size)
    assert revisions(ring.since(ring.floor)) == [3, 4, 5]
    assert ring.floor == 2


def test_a_ring_counts_all_that_its_changes_keep_alive():
    """A document, the line that watchers share, and the document before: each is memory."""
    ring = Ring(0, 100, 10_000)
    record = Record("a", 1, b"x" * 300)
    for number in range(2, 50):
        change = ChangeEvent(
            ChangeType.MODIFIED, Record("a", number, b"y" * 300), record, b"z" * 300
        )
        ring.append(change)
        record = change.record
    assert 8 <= len(ring.since(ring.floor)) <= 11


def test_a_change_larger_than_the_ring_is_not_kept():
    """One huge object may push everything out, itself included, but never more than the limit."""
    ring = ring_of(1, size=100)
    ring.append(event(2, size=1000))
    assert (ring.floor, ring.since(2)) == (2, [])


def test_a_reader_that_fell_behind_gets_an_error():
    """A reader that the ring overtook must list again."""
    ring = ring_of(1, events=4)
    reader = ring.subscribe(0, never)
    for number in range(2, 10):
        ring.append(event(number))
    with pytest.raises(Compacted, match="list again"):
        reader.take(1)


def test_a_reader_is_woken_once_until_it_has_caught_up():
    """A slow reader costs no wake-ups."""
    calls = []
    ring = ring_of()
    reader = ring.subscribe(0, lambda: calls.append(1))
    for number in range(1, 4):
        ring.append(event(number))
        ring.wake(0.0)
    reader.take(1)
    ring.wake(0.0)
    assert len(calls) == 1
    reader.take(10)
    ring.append(event(4))
    ring.wake(0.0)
    assert len(calls) == 2


def test_a_reader_is_not_woken_by_changes_outside_its_scope():
    """A reader of an idle namespace misses nothing while another is busy, and does not fall behind."""
    calls: list[int] = []
    ring = ring_of(events=8)
    reader = ring.subscribe(0, lambda: calls.append(1), scope="quiet/")
    for number in range(1, 40):
        ring.append(event(number, key="busy/a"))
        ring.wake(0.0)
    assert (calls, reader.take(10)) == ([], [])
    ring.append(event(40, key="quiet/a"))
    ring.append(event(41, key="busy/a"))
    ring.wake(0.0)
    assert calls == [1]
    assert revisions(reader.take(10)) == [40, 41]


@pytest.mark.parametrize("place", ["", "n/", "n/a"])
def test_a_reader_is_woken_by_changes_in_its_scope(place):
    """Everywhere, in a namespace, or at one object."""
    calls: list[int] = []
    ring = ring_of()
    ring.subscribe(0, lambda: calls.append(1), scope=place)
    ring.append(event(1, key="n/a"))
    ring.wake(0.0)
    assert calls == [1]


def marked(revision: int, value: str, before: str | None = None) -> ChangeEvent:
    """A change of a document that has a mark, twice as labels and selectors are."""
    data, other = (
        b'{"a":{"cell":"%b"},"b":{"cell":"x\\"y"}}' % each.encode()
        for each in (value, before or "")
    )
    previous = None if before is None else Record("n/a", revision - 1, other)
    return ChangeEvent(ChangeType.MODIFIED, Record("n/a", revision, data), previous)


@pytest.mark.parametrize(
    ("change", "woken"),
    [
        pytest.param(marked(1, "dfw"), True, id="it has the mark"),
        pytest.param(marked(1, "lhr", before="dfw"), True, id="it had the mark"),
        pytest.param(marked(1, "lhr", before="sin"), False, id="it has another"),
        pytest.param(marked(1, "dfw2"), False, id="it has a longer one"),
        pytest.param(event(1), False, id="it has none"),
    ],
)
def test_a_reader_by_a_mark_is_woken_for_what_has_it_or_had_it(change, woken):
    """Of a hundred cells that each read their own mark, only one is woken per change."""
    calls: list[int] = []
    ring = ring_of()
    ring.subscribe(0, lambda: calls.append(1), scope='"cell":"dfw"')
    ring.append(change)
    ring.wake(0.0)
    assert bool(calls) is woken


def test_marks_are_not_searched_once_their_readers_have_left():
    """The last reader removes the name, also when it closes twice."""
    ring = ring_of()
    calls: list[int] = []
    stays, goes = (ring.subscribe(0, lambda: calls.append(1), scope='"cell":"dfw"') for _ in "ab")
    goes.close()
    goes.close()
    ring.append(marked(1, "dfw"))
    ring.wake(0.0)
    assert calls == [1]
    stays.close()
    ring.append(marked(2, "dfw"))
    ring.wake(0.0)
    assert calls == [1]


def test_a_closed_reader_is_not_woken():
    """Also not when another reader closed it during the same round."""
    ring = ring_of()
    first = ring.subscribe(0, lambda: second.close())  # noqa: PLW0108 - made below
    second = ring.subscribe(0, never)
    ring.wake(0.0)
    first.close()
    ring.wake(0.0)


def test_a_reader_that_another_closes_holds_nothing_back():
    """It was about to be woken too."""
    ring = ring_of(1)
    others: list[Subscription] = []

    def close_another() -> None:
        if others:
            others.pop().close()

    first = ring.subscribe(1, close_another)
    others.append(ring.subscribe(1, never))
    for number in range(2, 20):
        ring.append(event(number))
        ring.wake(float(number))
        first.take(10)

    assert ring.floor > 10


def test_compaction_keeps_the_position_of_readers():
    """Compaction takes old changes, and readers beyond them notice nothing."""
    ring = ring_of(1, 2, 3, 4)
    reader = ring.subscribe(2, never)
    ring.compact(2)
    ring.compact(1)
    assert revisions(reader.take(10)) == [3, 4]
    assert ring.floor == 2


def test_what_all_have_read_is_kept_for_a_moment_only():
    """Later reads get it from disk."""
    ring = ring_of()
    reader = ring.subscribe(0, lambda: None)
    for number in range(1, 8):
        ring.append(event(number))
        ring.wake(number / 5)
        reader.take(10)
    assert revisions(ring.since(0)) == [1, 2, 3, 4, 5, 6, 7]
    ring.append(event(8))
    ring.wake(2.7)
    assert ring.floor == 1
    assert revisions(ring.since(1)) == [2, 3, 4, 5, 6, 7, 8]
    ring.wake(2.9)
    assert ring.floor == 4
    assert revisions(ring.since(4)) == [5, 6, 7, 8]
    assert revisions(reader.take(10)) == [8]


def test_unread_changes_are_kept():
    """However long that takes, while there is room; and no longer once the reader has left."""
    ring = ring_of()
    quick, slow = ring.subscribe(0, lambda: None), ring.subscribe(0, lambda: None)
    for number in range(1, 8):
        ring.append(event(number))
        ring.wake(number * 20.0)
        quick.take(10)
    assert revisions(slow.take(2)) == [1, 2]
    ring.append(event(8))
    ring.wake(160.0)
    assert ring.floor == 2
    assert revisions(slow.take(3)) == [3, 4, 5]
    quick.take(10)
    slow.close()
    ring.append(event(9))
    ring.wake(180.0)
    assert ring.floor == 8


def test_an_idle_reader_of_another_scope_holds_nothing_back():
    """It has missed nothing, and is woken when there is a change in its scope."""
    ring = ring_of()
    woken: list[int] = []
    reader = ring.subscribe(0, lambda: woken.append(1), scope="quiet/")
    for number in range(1, 8):
        ring.append(event(number, key="busy/a"))
        ring.wake(number * 20.0)
    assert ring.floor == 6
    ring.append(event(8, key="quiet/a"))
    ring.wake(160.0)
    assert woken == [1]
    assert revisions(reader.take(10)) == [8]
