"""The ordered view of one resource."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from kubekit.plane.store.collection import Collection
from kubekit.plane.store.records import Record
from tests.support.generated import depth
from tests.support.kubekit.store_builders import keys

NAMES = ["a/x", "a/y", "a-b/x", "b/x", "b/y", "b/z", "c"]


def record(key: str, revision: int = 1) -> Record:
    return Record(key, revision, b"{}")


@pytest.mark.parametrize(
    ("prefix", "after", "limit", "expected"),
    [
        pytest.param("", "", 0, ["a-b/x", "a/x", "a/y", "b/x", "b/y", "b/z", "c"], id="all"),
        pytest.param("b/", "", 0, ["b/x", "b/y", "b/z"], id="prefix"),
        pytest.param("b/", "b/x", 0, ["b/y", "b/z"], id="after"),
        pytest.param("b/", "b/xx", 1, ["b/y"], id="after a key that is gone"),
        pytest.param("b/", "a/x", 2, ["b/x", "b/y"], id="after a key before the prefix"),
        pytest.param("b/", "c", 0, [], id="after the last of the prefix"),
        pytest.param("", "b/z", 0, ["c"], id="after without prefix"),
        pytest.param("", "z", 0, [], id="after everything"),
        pytest.param("bb/", "", 0, [], id="nothing has the prefix"),
    ],
)
def test_a_range_is_what_has_the_prefix_and_comes_after(prefix, after, limit, expected):
    """A range is sorted by key, starts after a key, and stops at the limit."""
    collection = Collection(map(record, NAMES))
    assert keys(collection.range(prefix, after, limit)) == expected


def test_a_count_is_the_length_of_the_range():
    """Counting needs no records."""
    collection = Collection(map(record, NAMES))
    assert (collection.count(), collection.count("b/"), collection.count("b/", "b/y")) == (7, 3, 1)


def test_a_record_put_again_replaces_the_old_one():
    """One key has one record, the last."""
    collection = Collection()
    collection.put(record("a", 1))
    collection.put(record("a", 2))
    assert collection.range() == [record("a", 2)]
    assert collection.find("a") == record("a", 2)
    assert len(collection) == 1


def test_a_removed_record_is_gone():
    """What was removed is neither found nor listed, down to the last one."""
    collection = Collection([record("a"), record("b")])
    collection.remove("a")
    collection.remove("b")
    assert (collection.find("a"), collection.range(), len(collection)) == (None, [], 0)


@settings(max_examples=depth.examples(30))
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4000)), max_size=60), st.integers(0, 4000))
def test_a_large_collection_keeps_its_order(changes, after):
    """Through any changes, ranges of thousands equal those of a plainly sorted list."""
    collection = Collection(record(f"{n:04}") for n in range(0, 4000, 2))
    model = set(keys(collection.range()))
    for add, number in changes:
        key = f"{number:04}"
        if add:
            collection.put(record(key))
            model.add(key)
        elif key in model:
            collection.remove(key)
            model.remove(key)
    assert keys(collection.range()) == sorted(model)
    assert collection.count(after=f"{after:04}") == sum(key > f"{after:04}" for key in model)


@pytest.mark.parametrize("step", [1, -1, 7], ids=["ascending", "descending", "scattered"])
def test_keys_may_come_in_any_order(step):
    """Adding thousands one by one, then taking them away, holds the order all the time."""
    numbers = [i * step % 3001 for i in range(3001)]
    collection = Collection()
    for number in numbers:
        collection.put(record(f"{number:04}"))
    assert keys(collection.range()) == [f"{n:04}" for n in range(3001)]
    for number in numbers[1:]:
        collection.remove(f"{number:04}")
    assert keys(collection.range()) == ["0000"]
