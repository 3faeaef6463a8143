"""What the tests of the whole chain share: one stack, and clients that wait for states."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tests.e2e.federation.real_stage import RealStage
from tests.peers.stack.running import RunningStack

Story = Callable[[RealStage], Coroutine[Any, Any, None]]
_NUMBERS = itertools.count(1)


@pytest.fixture
def tell(running_stack: RunningStack) -> Callable[[Story], None]:
    """Runs a story on the stack, in a namespace of the project that no other test uses."""

    async def main(story: Story) -> None:
        async with RealStage(running_stack, f"story-{next(_NUMBERS)}") as stage:
            await story(stage)

    return lambda story: asyncio.run(main(story))
