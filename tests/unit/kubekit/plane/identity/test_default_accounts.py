"""Every namespace has a service account called default."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from kubekit.api.errors import AlreadyExists, NotFound
from kubekit.client.options import PLAIN_WRITE, DeleteOptions
from kubekit.plane.identity.default_accounts import DefaultAccounts
from kubekit.plane.registry.admission import Attempt
from tests.support.kubekit.registry_builders import SPACE, World, scenario


def accounts(world: World, namespace: str = SPACE) -> list[str]:
    records = world.store.collection("/serviceaccounts").range(prefix=f"{namespace}/")
    return [record.key for record in records]


async def started(world: World) -> DefaultAccounts:
    defaults = DefaultAccounts(world.store, world.registry)
    defaults.start()
    await defaults.worker.rest()
    return defaults


async def within(world: World, act: Callable[[], Awaitable[object]]) -> None:
    """Do something while the accounts are looked after, and wait until that is done."""
    defaults = await started(world)
    await act()
    await defaults.worker.rest()
    await defaults.worker.close()


@scenario
async def test_namespaces_that_are_there_get_theirs(world):
    """At the start, and only those that have none."""
    await within(world, _nothing)
    revision = world.store.revision
    await within(world, _nothing)
    assert accounts(world) == [f"{SPACE}/default"]
    assert world.store.revision == revision


@scenario
async def test_a_new_namespace_gets_its_own(world):
    """As soon as it is made."""
    await within(world, lambda: world.namespaces.make("another"))
    assert accounts(world, "another") == ["another/default"]


@scenario
async def test_what_is_deleted_comes_back(world):
    """But only the account of that name."""
    kind = world.registry.kinds.require("v1", "ServiceAccount")

    async def delete_both() -> None:
        await world.registry.create(kind, SPACE, {"metadata": {"name": "own"}}, PLAIN_WRITE)
        for name in ("default", "own"):
            await world.registry.delete(kind, SPACE, name, DeleteOptions())

    await within(world, delete_both)
    assert accounts(world) == [f"{SPACE}/default"]


@scenario
async def test_w1_a_refusal_is_not_taken_for_an_account_that_is_there(world):
    """An admission plugin may refuse with any reason: the account is created once it does not."""
    asked: list[str] = []

    def refuse(attempt: Attempt) -> None:
        asked.append(attempt.name)
        if len(asked) < 4:
            raise AlreadyExists("not here")

    world.registry.admission.validating.append(refuse)
    await within(world, _nothing)
    assert accounts(world) == [f"{SPACE}/default"]


@scenario
async def test_a_namespace_that_ends_is_left_alone(world):
    """Nothing is created there any more, and there are no endless retries."""
    kind = world.registry.kinds.require("v1", "ServiceAccount")
    namespaces = world.registry.kinds.require("v1", "Namespace")

    async def end() -> None:
        await world.registry.delete(namespaces, "", SPACE, DeleteOptions())
        with suppress(NotFound):
            await world.registry.delete(kind, SPACE, "default", DeleteOptions())

    await within(world, end)
    assert accounts(world) == []


@scenario
async def test_a_namespace_that_goes_at_once_is_left_alone(world):
    """It is gone before it is reconciled."""

    async def come_and_go() -> None:
        kind = world.registry.kinds.require("v1", "Namespace")
        await world.namespaces.make("brief")
        await world.registry.delete(kind, "", "brief", DeleteOptions())

    await within(world, come_and_go)
    assert [key for key in accounts(world, "brief") if key != "brief/default"] == []


async def _nothing() -> None:
    return
