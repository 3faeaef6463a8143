"""Scopes: tasks that end together, in a known order."""

import asyncio
from contextvars import ContextVar

import pytest

from kubekit.runtime.scope import Scope
from tests.support.kubekit.virtual_time import run


def test_tasks_end_youngest_first():
    """Closing ends each task before the one that was started before it."""
    ends = []

    async def failures(name):
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(1)  # an end takes its time, and the next one waits for it
            ends.append(name)

    async def story():
        scope = Scope("test")
        for name in ("a", "b", "c"):
            scope.spawn(failures(name), name)
        await asyncio.sleep(1)
        await scope.close()

    run(story())
    assert ends == ["c", "b", "a"]


def test_a_failure_is_reported_and_ends_no_other_task():
    """The callback of the scope gets the task's name and its error; other tasks continue."""
    failures = []

    async def fail():
        raise LookupError("no")

    async def story():
        scope = Scope("test", lambda name, why: failures.append((name, repr(why))))
        other = scope.spawn(asyncio.sleep(5, "done"), "other")
        scope.spawn(fail(), "bad")
        assert await other == "done"
        await scope.close()

    run(story())
    assert failures == [("test/bad", "LookupError('no')")]


def test_a_failure_without_a_callback_is_logged(caplog):
    """Without a listener the log has it, with the name of the task."""

    async def fail():
        raise LookupError("no")

    async def story():
        scope = Scope("test")
        scope.spawn(fail(), "bad")
        await asyncio.sleep(0)
        await scope.close()

    run(story())
    [record] = caplog.records
    assert (record.message, record.task) == ("task failed", "test/bad")


def test_a_task_inherits_from_its_scope_and_not_from_its_caller():
    """A task that is started during a pass, in a scope that outlives the pass, is no part of the pass."""
    mark = ContextVar("mark", default="none")
    seen = []

    async def look():
        seen.append(mark.get())

    async def story():
        outer = Scope("outer")
        mark.set("a pass")
        inner = Scope("inner")
        for scope in (outer, inner):
            await scope.spawn(look(), "look")
            await scope.close()

    run(story())
    assert seen == ["none", "a pass"]


def test_nothing_begins_after_the_end():
    """A scope that has closed takes no more tasks, and leaves no coroutine behind."""

    async def story():
        scope = Scope("test")
        await scope.close()
        with pytest.raises(RuntimeError, match="test has ended, so late cannot start"):
            scope.spawn(asyncio.sleep(1), "late")

    run(story())


def test_being_cancelled_while_closing_is_passed_on():
    """The closing task can be cancelled too: that is not mistaken for the end of another task."""

    async def stubborn():
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(1000)

    async def story():
        scope = Scope("test")
        scope.spawn(stubborn(), "stubborn")
        await asyncio.sleep(1)
        closing = asyncio.ensure_future(scope.close())
        await asyncio.sleep(1)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing

    run(story())
