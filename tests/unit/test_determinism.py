"""Code that runs in the simulation leaves nothing to a clock, to chance, or to the order of a set."""

from pathlib import Path

import pytest

from tests.sim.lint import faults

SOURCE = Path(__file__).parents[2] / "src"
FOLDERS = (
    "kubekit/runtime",
    "compute/controllers",
    "compute/federation",
    "compute/services",
    "compute/providers",
)
FILES = sorted(
    [
        SOURCE / "kubekit" / "client" / "list_watch.py",
        *(path for folder in FOLDERS for path in (SOURCE / folder).rglob("*.py")),
    ]
)
SPAWNS = SOURCE / "kubekit" / "runtime" / "scope.py"

CAUGHT = {
    "a clock": "import time",
    "a clock by name": "from time import monotonic",
    "the time of day": "now = datetime.now(UTC)",
    "the time of day, in full": "now = datetime.datetime.now()",
    "today": "day = date.today()",
    "chance": "import random",
    "chance by name": "from random import choice",
    "a generator of one's own": "chance = Random(1)",
    "a uuid": "from uuid import uuid4",
    "a secret": "import secrets",
    "random bytes": "key = os.urandom(16)",
    "a thread": "import threading",
    "a pool": "from concurrent.futures import ThreadPoolExecutor",
    "an executor": "await loop.run_in_executor(None, work)",
    "a thread in disguise": "await asyncio.to_thread(work)",
    "a loose task": "task = asyncio.create_task(work())",
    "a loose future": "task = asyncio.ensure_future(work())",
    "a loose task of a loop": "asyncio.get_running_loop().create_task(work())",
    "a loose task by name": "from asyncio import create_task",
    "all tasks": "for task in asyncio.all_tasks(): task.cancel()",
    "a task group": "async with asyncio.TaskGroup() as group: pass",
    "a gathering": "await asyncio.gather(*tasks)",
    "as completed": "for task in asyncio.as_completed(tasks): pass",
    "the result of a wait": "done, pending = await asyncio.wait(tasks)",
    "the result of a wait for two": "done, _ = await asyncio.wait([first, second])",
    "a literal set": "for name in {'a', 'b'}: pass",
    "a set of something": "for name in set(names): pass",
    "a frozen one": "for name in frozenset(names): pass",
    "a comprehension of a set": "found = [name for name in {n for n in names}]",
    "a generator over a set": "found = ','.join(name for name in {'a', 'b'})",
    "a name for a set": "names = {'a', 'b'}\nfor name in names: pass",
    "a name within a function": "def f():\n    names = set()\n    return [n for n in names]",
    "an annotated name": "names: set[str] = load()\nfor name in names: pass",
    "a final one": "NAMES: Final = frozenset({'a'})\ndef f():\n    return list(NAMES)",
    "an annotated final one": "NAMES: Final[frozenset[str]] = load()\nx = tuple(NAMES)",
    "a parameter": "def f(names: set[str]) -> None:\n    for name in names: pass",
    "a quoted parameter": "def f(names: 'set[str] | None') -> None:\n    for name in names: pass",
    "an abstract parameter": "def f(names: AbstractSet[str]) -> None:\n    return tuple(names)",
    "an attribute": (
        "class A:\n    def __init__(self):\n        self.names: set[str] = set()\n"
        "    def all(self):\n        return [n for n in self.names]"
    ),
    "a field": "class A:\n    names: frozenset[str]\ndef f(a):\n    for name in a.names: pass",
    "a union": "for name in old | {'a'}: pass",
    "a difference of keys": "for name in old.keys() - new.keys(): pass",
    "a union by method": "for name in old.union(new): pass",
    "the list of a set": "names = list({'a', 'b'})",
    "an enumerated set": "for number, name in enumerate({'a', 'b'}): pass",
    "the first of a set": "name = next(iter({'a', 'b'}))",
    "any of a set": "names = {'a'}\nname = names.pop()",
    "an unpacked set": "names = [*{'a', 'b'}]",
    "a joined set": "text = ', '.join({'a', 'b'})",
    "a dict of a set": "names = dict.fromkeys({'a', 'b'})",
    "yielded from a set": "def f():\n    yield from {'a', 'b'}",
    "an order by address": "tasks.sort(key=id)",
    "an order by address in a lambda": "sorted(tasks, key=lambda task: id(task))",
    "addresses compared": "first = id(a) < id(b)",
    "a hash": "part = hash(name) % 8",
    "a last word": "class A:\n    def __del__(self): self.close()",
    "a swallowed error": "try:\n    work()\nexcept Exception:\n    pass",
    "anything swallowed": "try:\n    work()\nexcept BaseException:\n    continue_ = 1\n    pass"
    "\ntry:\n    work()\nexcept:\n    pass",
    "one of several swallowed": "try:\n    work()\nexcept (OSError, Exception):\n    ...",
    "a suppressed error": "with suppress(Exception):\n    work()",
}
PASSED = {
    "time of the loop": "now = asyncio.get_running_loop().time()",
    "time of the environment": "now = environment.now()",
    "a span of time": "from datetime import datetime, timedelta\nday = timedelta(days=1)",
    "a named generator": "from random import Random\ndef f(chance: Random): return chance.random()",
    "a wait for one": "await asyncio.wait([task])",
    "a wait for one, unpacked": "done, _ = await asyncio.wait([task], timeout=5.0)",
    "a wait for many, untold": "await asyncio.wait(tasks)",
    "a kept task": "scope.spawn(work(), 'work')",
    "a timer": "loop.call_later(1.0, tick)",
    "a set to look in": "if name in {'a', 'b'}: pass",
    "a sorted set": "for name in sorted({'a', 'b'}): pass",
    "a sorted pick of a set": "names = {'a'}\nfound = sorted(n for n in names if n)",
    "the size of a set": "names = {'a'}\ncount = len(names)",
    "a set of a set": "names = {'a'}\nothers = {n.upper() for n in names}",
    "whether any of a set": "names = {'a'}\nfound = any(n for n in names)",
    "an ordered set": "names: dict[str, None] = {}\nfor name in names: pass",
    "keys of a dict": "for name in names.keys(): pass",
    "a dict of sets": "names: dict[str, set[str]] = {}\nfor name in names: pass",
    "a merged dict": "for name in old | new: pass",
    "the same name elsewhere": (
        "def f():\n    names = {'a'}\n    return len(names)\n"
        "def g(names: list[str]):\n    return [n for n in names]"
    ),
    "the last of a list": "name = names.pop()",
    "an address as a key": "seen[id(obj)] = obj",
    "equal addresses": "same = id(a) == id(b)",
    "a method called hash": "digest = obj.hash()",
    "an error that is logged": "try:\n    work()\nexcept Exception:\n    log.exception('no')",
    "an error that is expected": "try:\n    work()\nexcept NotFound:\n    pass",
    "an expected error suppressed": "with suppress(NotFound):\n    work()",
    "no import of ours": "from kubekit.runtime.queueing.queue import WorkQueue",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_seed_decides(path):
    """No file that runs in the simulation does what a seed cannot repeat."""
    assert faults(path.read_text(), spawns=path == SPAWNS) == []


def test_there_is_something_to_check():
    """The runtime is among the files that are read."""
    assert SPAWNS in FILES


@pytest.mark.parametrize("snippet", CAUGHT.values(), ids=CAUGHT)
def test_what_is_caught(snippet):
    """Each of these is named, with its line."""
    found = faults(snippet)

    assert found
    assert all(fault.startswith("line ") for fault in found)


@pytest.mark.parametrize("snippet", PASSED.values(), ids=PASSED)
def test_what_passes(snippet):
    """Each of these is as good as it looks."""
    assert faults(snippet) == []
