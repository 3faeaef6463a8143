"""What the tests of the whole chain share: one stack, our platform on it, and stages for stories."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tests.e2e.federation.real_stage import PlatformStage, RealStage
from tests.peers.deployed.kustomizations import Kustomize
from tests.peers.deployed.platform import Platform
from tests.peers.stack.running import RunningStack
from tools.peers import catalog

_NUMBERS = itertools.count(1)


@pytest.fixture
def tell(
    running_stack: RunningStack,
) -> Callable[[Callable[[RealStage], Coroutine[Any, Any, None]]], None]:
    """Runs a story on the stack, in a namespace of the project that no other test uses."""

    async def main(story: Callable[[RealStage], Coroutine[Any, Any, None]]) -> None:
        async with RealStage(running_stack, f"story-{next(_NUMBERS)}") as stage:
            await story(stage)

    return lambda story: asyncio.run(main(story))


@pytest.fixture(scope="session")
def platform(running_stack: RunningStack) -> Platform:
    """Our platform on the stack, which all tests share: each leaves it running."""
    kubectl = catalog.folder() / "bin" / "kubectl"
    platform = Platform(
        running_stack, Kustomize(kubectl, running_stack.folder), os.environ.get("TRYP", "pods")
    )

    async def start() -> None:
        await platform.install()
        await platform.start()
        async with PlatformStage(platform, "default") as stage:
            await stage.make_project()

    asyncio.run(start())
    return platform


@pytest.fixture
def play(
    platform: Platform,
) -> Callable[[Callable[[PlatformStage], Coroutine[Any, Any, None]]], None]:
    """Runs a story on the platform, in a namespace of the project that no other test uses."""

    async def main(story: Callable[[PlatformStage], Coroutine[Any, Any, None]]) -> None:
        async with PlatformStage(platform, f"story-{next(_NUMBERS)}") as stage:
            await stage.make_namespace()
            await story(stage)
            await stage.clear()

    return lambda story: asyncio.run(main(story))
