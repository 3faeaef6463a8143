"""Each test runs once against each server, in a namespace of its own, on the loop of the server.

A test is a coroutine function; it gets collections, and cannot tell which server holds them.
Where CONTRACT_DISPOSABLE is set, the server goes after the run and namespaces are left to it: a real
one takes seconds for each, and those that a test deletes and waits for would stand behind the rest.
"""

import asyncio
import fcntl
import inspect
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any, TypeVar, cast

import pytest

from kubekit.api.errors import Conflict, NotFound
from kubekit.client.transport import Transport
from tests.contract import kinds, servers
from tests.contract.collection import Collection
from tests.contract.servers import ContractServer, Forget

T = TypeVar("T")
Run = Callable[[Coroutine[Any, Any, T]], T]

NAMED = {"server": servers.named_server}
OURS = {"local": servers.local, "http": servers.http}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # Asked when tests are collected: this file may be read before a server is started and named.
    if "opened" in metafunc.fixturenames:
        named = "CONTRACT_SERVER" in os.environ
        metafunc.parametrize("opened", NAMED if named else OURS, indirect=True, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # What the server cannot do for want of a neighbour is left out, unless neighbours are required.
    if (
        "CONTRACT_SERVER" not in os.environ
        or "CONTRACT_CONTROLLERS" in os.environ
        or "REQUIRE_PEERS" in os.environ
    ):
        return
    for item in items:
        if item.get_closest_marker("controllers"):
            item.add_marker(pytest.mark.skip(reason="the server runs without controllers"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine function on the loop of its server."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    run = cast("Run[None]", pyfuncitem.funcargs["run"])
    run(pyfuncitem.obj(**arguments))
    return True


@pytest.fixture(scope="session")
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[asyncio.Runner, ContractServer]]:
    directory = tmp_path_factory.mktemp(request.param)
    with asyncio.Runner() as runner:
        context = (NAMED | OURS)[request.param](directory)
        server = runner.run(context.__aenter__())
        yield runner, server
        runner.run(context.__aexit__(None, None, None))


@pytest.fixture(autouse=True)
def run(opened: tuple[asyncio.Runner, ContractServer]) -> Run[Any]:
    return opened[0].run


@pytest.fixture
def server(opened: tuple[asyncio.Runner, ContractServer]) -> ContractServer:
    return opened[1]


@pytest.fixture(autouse=True)
def _undisturbed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Lets a test that makes the server forget be alone on it, where processes share the server."""
    if not {"CONTRACT_SERVER", "PYTEST_XDIST_WORKER"} <= os.environ.keys():
        yield
        return
    common = tmp_path_factory.getbasetemp().parent  # of the folders of all processes of a run
    with (common / "contract.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX if "forget" in request.fixturenames else fcntl.LOCK_SH)
        yield


@pytest.fixture
def forget(server: ContractServer) -> Forget:
    """Lets the server forget. Of ours each can; of another only if its etcd is named."""
    if server.forget is None and "REQUIRE_PEERS" not in os.environ:
        pytest.skip("the etcd of the server is not named, so it cannot be compacted")
    assert server.forget is not None, "name the server's etcd in CONTRACT_ETCD"
    return server.forget


@pytest.fixture
def transport(server: ContractServer) -> Transport:
    return server.transport


@pytest.fixture
def namespaces(transport: Transport) -> Collection:
    return Collection(transport, kinds.NAMESPACE)


@pytest.fixture
def space(run: Run[Any], namespaces: Collection) -> Iterator[str]:
    """The name of a fresh namespace. It is unique on the server, so tests also use it as a mark."""
    made = run(namespaces.make(metadata={"generateName": "contract-"}))
    name = made["metadata"]["name"]
    yield name
    if "CONTRACT_DISPOSABLE" not in os.environ:
        with suppress(NotFound, Conflict):  # a test may have deleted it
            run(namespaces.delete(name))


@pytest.fixture
def widgets(transport: Transport, space: str) -> Collection:
    return Collection(transport, kinds.WIDGET, space)


@pytest.fixture
def config_maps(transport: Transport, space: str) -> Collection:
    return Collection(transport, kinds.CONFIG_MAP, space)


@pytest.fixture
def gadgets(transport: Transport) -> Collection:
    return Collection(transport, kinds.GADGET)
