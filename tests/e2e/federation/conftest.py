"""What the tests of the whole chain share: one stack, our platform on it, and stages for stories."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any

import pytest

from tests.e2e.federation.real_stage import PlatformStage, RealStage
from tests.peers.deployed import permission_use
from tests.peers.deployed.kustomizations import Kustomize
from tests.peers.deployed.platform import Platform
from tests.peers.stack.running import RunningStack
from tools.peers import catalog

_NUMBERS = itertools.count(1)
_UNUSED = pytest.StashKey[list[permission_use.Permission]]()
_FAULTS = ("forbidden", "traceback", "unauthorized")
_TERMINATING = "because it is being terminated"  # the admission of namespaces says so
_SHOWN = 20


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the stack alone come first: afterwards our controllers work on what they create."""
    items.sort(key=lambda item: item.get_closest_marker("stack") is None or _needs_platform(item))


def _needs_platform(item: pytest.Item) -> bool:
    return "platform" in getattr(item, "fixturenames", ())


@pytest.fixture
def on_stack(
    running_stack: RunningStack,
) -> Callable[[Callable[[RealStage], Coroutine[Any, Any, None]]], None]:
    """Runs a story on the stack, in a namespace of the project that no other test uses."""

    async def main(story: Callable[[RealStage], Coroutine[Any, Any, None]]) -> None:
        async with RealStage(running_stack, f"story-{next(_NUMBERS)}") as stage:
            await stage.make_namespace()
            await story(stage)

    return lambda story: asyncio.run(main(story))


@pytest.fixture(scope="session")
def platform(running_stack: RunningStack, pytestconfig: pytest.Config) -> Iterator[Platform]:
    """Our platform on the stack, which all tests share: each leaves it running.

    At the end the suite fails if a process lacked a permission, or failed in an unknown way.
    """
    kubectl = catalog.folder() / "bin" / "kubectl"
    platform = Platform(running_stack, Kustomize(kubectl, running_stack.folder))

    async def start() -> None:
        await platform.install()
        await platform.start()
        async with PlatformStage(platform, "default") as stage:
            await stage.make_project()

    asyncio.run(start())
    yield platform
    asked = [each for plane in platform.rendered for each in _requests(platform, plane)]
    used = {each.permission for each in asked}
    grants = (permission_use.granted(*each) for each in platform.rendered.items())
    pytestconfig.stash[_UNUSED] = sorted(set().union(*grants) - used)
    faults = [str(each) for each in asked if not each.allowed]
    faults += [f"{name}: {line}" for name in platform.started for line in _faults(platform, name)]
    assert not faults, "\n".join(faults[:_SHOWN])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Which permissions no test used: either a test is missing, or the permission is not needed."""
    unused = config.stash.get(_UNUSED, [])
    if unused:
        terminalreporter.section("permissions that no test used")
        for permission in unused:
            terminalreporter.write_line(str(permission))


def _requests(platform: Platform, plane: str) -> Iterable[permission_use.AuditedRequest]:
    return permission_use.requests(plane, platform.stack.lines(f"{plane}-audit"))


def _faults(platform: Platform, name: str) -> Iterable[str]:
    """The lines of a log that no process of ours should write."""
    lines = (line for line in platform.stack.lines(name) if _TERMINATING not in line)
    return [line for line in lines if any(word in line.lower() for word in _FAULTS)]


@pytest.fixture
def play(
    platform: Platform,
) -> Callable[[Callable[[PlatformStage], Coroutine[Any, Any, None]]], None]:
    """Runs a story on the platform, in a namespace of the project that no other test uses."""

    async def main(story: Callable[[PlatformStage], Coroutine[Any, Any, None]]) -> None:
        async with PlatformStage(platform, f"story-{next(_NUMBERS)}") as stage:
            await stage.make_namespace()
            try:
                await story(stage)
            finally:
                await stage.clear()

    return lambda story: asyncio.run(main(story))
