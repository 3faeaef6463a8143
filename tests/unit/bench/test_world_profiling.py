"""Reading what py-spy has recorded."""

import pytest

from bench.load.world import profiling

STACKS = ["main (a.py:1);work (b.py:2);work (b.py:3) 3\n", "main (a.py:1);rest (c.py:9) 1\n"]


def test_a_function_counts_once_in_each_stack():
    """A function that calls itself is seen once, and whatever line it was at is the same function."""
    own, whole, seen = profiling.shares(STACKS)
    assert seen == 4
    assert own == {"work (b.py": 3, "rest (c.py": 1}
    assert whole == {"main (a.py": 4, "work (b.py": 3, "rest (c.py": 1}


def test_the_largest_share_comes_first():
    """A table has the functions by their shares, as many as are wanted."""
    assert profiling.table(STACKS, 1).splitlines() == [
        "by itself, of 4 samples",
        "   75.0 %  work (b.py",
        "with what it calls, of 4 samples",
        "  100.0 %  main (a.py",
    ]


def test_nothing_is_recorded_without_a_folder(monkeypatch):
    """Who does not ask for profiles needs no py-spy."""
    monkeypatch.setenv("PATH", "")
    with profiling.recorded("", "growing"):
        pass
    with pytest.raises(SystemExit, match="py-spy"), profiling.recorded("/", "growing"):
        pass
