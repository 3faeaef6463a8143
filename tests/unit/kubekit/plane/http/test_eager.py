"""Coroutines that run at once, without a task."""

import asyncio

import pytest

from kubekit.plane.http import eager


async def word(text):
    return text


def test_what_need_not_wait_is_there_at_once():
    """No future, no turn of the loop."""

    async def story():
        return eager.run(word("here"), asyncio.get_running_loop())

    assert asyncio.run(story()) == "here"


def test_what_is_raised_at_once_is_raised_to_the_caller():
    """As by a call of a plain function."""

    async def broken():
        raise ValueError("broken")

    async def story():
        eager.run(broken(), asyncio.get_running_loop())

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(story())


def test_a_waiting_coroutine_continues_when_its_future_is_done():
    """Several waits, each with its result, and bare turns of the loop between them."""

    async def story():
        loop = asyncio.get_running_loop()
        first, second = loop.create_future(), loop.create_future()

        async def waits():
            one = await first
            await asyncio.sleep(0)
            return one + await second

        outcome = eager.run(waits(), loop)
        loop.call_soon(first.set_result, 1)
        loop.call_later(0.001, second.set_result, 2)
        return await outcome

    assert asyncio.run(story()) == 3


def test_what_fails_later_fails_its_future():
    """Both a failed wait and an error after it."""

    async def story():
        loop = asyncio.get_running_loop()
        failing = loop.create_future()

        async def waits():
            await failing

        outcome = eager.run(waits(), loop)
        loop.call_soon(failing.set_exception, ValueError("later"))
        await outcome

    with pytest.raises(ValueError, match="later"):
        asyncio.run(story())


def test_an_outcome_without_a_waiter_does_no_harm():
    """The waiter has cancelled; the coroutine still runs to its end."""
    done = []

    async def story(*, error):
        loop = asyncio.get_running_loop()
        waited = loop.create_future()

        async def waits():
            await waited
            done.append(error)
            if error:
                raise ValueError("this is not observed")

        outcome = eager.run(waits(), loop)
        outcome.cancel()
        waited.set_result(None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(story(error=False))
    asyncio.run(story(error=True))
    assert done == [False, True]


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_process_is_not_kept_from_it(ending):
    """As with a task: a second Ctrl-C does not wait for a request."""

    async def story():
        loop = asyncio.get_running_loop()
        waited = loop.create_future()

        async def waits():
            await waited
            raise ending

        outcome = eager.run(waits(), loop)
        waited.set_result(None)
        await asyncio.wait([outcome])
        outcome.exception()

    with pytest.raises(ending):
        asyncio.run(story())
