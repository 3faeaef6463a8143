"""The checker of histories must find what is wrong, or its silence proves nothing."""

from tests.support.generated.linearizability import Operation, violations


def _op(verb, answer, when, value=None, expected=None):
    start, end = when
    return Operation(
        key="k", verb=verb, answer=answer, value=value, expected=expected, start=start, end=end
    )


def test_a_plain_sequence_is_explained():
    """One after the other, each answer fits the one before."""
    history = [
        _op("create", "done", (0, 1), "a"),
        _op("update", "done", (2, 3), "b", expected="a"),
        _op("get", "done", (4, 5), "b"),
        _op("delete", "done", (6, 7), expected="b"),
        _op("get", "absent", (8, 9)),
    ]
    assert violations(history) == []


def test_overlapping_operations_may_have_happened_in_either_order():
    """A read beside a write may see either side of it."""
    write = _op("update", "done", (2, 9), "b", expected="a")
    before = [_op("create", "done", (0, 1), "a"), write, _op("get", "done", (3, 4), "a")]
    after = [_op("create", "done", (0, 1), "a"), write, _op("get", "done", (3, 4), "b")]
    assert violations(before) == []
    assert violations(after) == []


def test_a_stale_read_is_found():
    """A read that started after a write was acknowledged must see it."""
    history = [
        _op("create", "done", (0, 1), "a"),
        _op("update", "done", (2, 3), "b", expected="a"),
        _op("get", "done", (4, 5), "a"),
    ]
    assert violations(history) == ["k"]


def test_a_read_that_goes_back_in_time_is_found():
    """Two reads one after the other may not see the new and then the old."""
    history = [
        _op("create", "done", (0, 1), "a"),
        _op("update", "done", (2, 9), "b", expected="a"),
        _op("get", "done", (3, 4), "b"),
        _op("get", "done", (5, 6), "a"),
    ]
    assert violations(history) == ["k"]


def test_a_lost_update_is_found():
    """Two updates of the same version cannot both succeed."""
    history = [
        _op("create", "done", (0, 1), "a"),
        _op("update", "done", (2, 5), "b", expected="a"),
        _op("update", "done", (2, 5), "c", expected="a"),
    ]
    assert violations(history) == ["k"]


def test_a_lost_acknowledged_create_is_found():
    """What was acknowledged may not be absent later."""
    history = [_op("create", "done", (0, 1), "a"), _op("get", "absent", (2, 3))]
    assert violations(history) == ["k"]


def test_an_update_that_was_never_overtaken_cannot_be_refused_as_moved():
    """A conflict needs another write."""
    history = [_op("create", "done", (0, 1), "a"), _op("update", "moved", (2, 3), "b", "a")]
    assert violations(history) == ["k"]


def test_a_write_without_an_answer_may_or_may_not_have_happened():
    """Both what follows from it and what follows from its absence are fine."""
    unknown = _op("update", "unknown", (2, 3), "b", expected="a")
    create = _op("create", "done", (0, 1), "a")
    assert violations([create, unknown, _op("get", "done", (4, 5), "b")]) == []
    assert violations([create, unknown, _op("get", "done", (4, 5), "a")]) == []


def test_a_write_without_an_answer_happens_at_most_once():
    """Seen and then not seen is still wrong."""
    history = [
        _op("create", "done", (0, 1), "a"),
        _op("update", "unknown", (2, 3), "b", expected="a"),
        _op("get", "done", (4, 5), "b"),
        _op("get", "done", (6, 7), "a"),
    ]
    assert violations(history) == ["k"]
