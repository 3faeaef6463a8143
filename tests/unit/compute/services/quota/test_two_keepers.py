"""Two keepers, each with a view of its own that may be old, never give more than there is."""

import asyncio
from collections.abc import Callable
from functools import partial
from random import Random

import msgspec
import pytest

from compute.api import names
from compute.api.quota import AllowanceBucket, ResourceClaim, ResourceGrant
from compute.decide import quota
from compute.services.planes import ServicePlanes
from compute.services.quota import service
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from tests.support.compute.budget_builders import reason, reasons
from tests.support.compute.service_builders import CORE, claim, grant, project
from tests.support.kubekit.deaf import SilenceableTransport, listener
from tests.support.kubekit.stage import Stage, staged

LIMIT = 5
KITS: list[ControllerFactory] = []  # of the copies, the youngest last
LAGS = (0.0, 0.001, 0.02, 0.5, 7.0)  # seconds; the last is longer than a keeper waits for another


async def copy(
    stage: Stage, number: int, lag: Callable[[str], float]
) -> list[SilenceableTransport]:
    """A process of its own, with caches and books of its own, whose writes take their time."""
    ears = []
    for role in ("core", "projects"):
        name = "core" if role == "core" else "shop"
        ear, client = listener(await stage.plane(name), partial(lag, role))
        await stage.role(f"{role}-{number}").engage(cluster_name(name), client)
        ears.append(ear)
    planes = ServicePlanes(
        core=stage.role(f"core-{number}"),
        hub=stage.role("hub"),
        projects=stage.role(f"projects-{number}"),
        cells=stage.role("cells"),
    )
    factory = ControllerFactory(stage.environment, Metrics(), f"copy-{number}")
    KITS.append(factory)
    stage.start(*service.controllers(planes, factory, {quota.INSTANCES: LIMIT}))
    return ears


async def act(
    stage: Stage, chance: Random, ears: list[SilenceableTransport], numbers: list[int]
) -> None:
    """Claims come and go, the younger before the older; of some, one keeper hears late."""
    client = stage.client("shop")
    ear = chance.choice(ears)
    for number in numbers:
        await client.create(claim(number, cell=""))
        await asyncio.sleep(chance.choice(LAGS[:3]))
        if chance.random() < 0.3:
            ear.stop()
    await asyncio.sleep(chance.choice(LAGS))
    ear.deaf = False
    there = (await client.every(ResourceClaim)).items
    for gone in chance.sample(there, min(len(there), chance.randrange(6))):
        await client.delete(gone)


@pytest.mark.parametrize("seed", range(6))
def test_never_more_than_the_limit_whatever_who_hears_when(tmp_path, seed):
    """At no moment are more claims granted than the limit; in the end all of it is used."""

    async def story(stage: Stage) -> None:
        chance = Random(seed)
        ears = [
            ear
            for number in (1, 2)
            for ear in (await copy(stage, number, lambda _: chance.choice(LAGS)))[1:]
        ]
        await stage.client("core").create(project())
        await stage.rest()
        numbers = chance.sample(range(1000, 2000), 160)
        for first in range(0, 160, 4):
            await act(stage, chance, ears, numbers[first : first + 4])
            assert (await reasons(stage)).get("QuotaAvailable", 0) <= LIMIT
        for ear in ears:
            ear.deaf = False
        for number in range(100, 100 + LIMIT):
            await stage.client("shop").create(claim(number, cell=""))
        await stage.rest(300)
        assert (await reasons(stage))["QuotaAvailable"] == LIMIT
        assert await stage.quiet() == []

    staged(tmp_path, story)


async def limited(stage: Stage, kind: str, amount: int) -> None:
    """The project may use so much, and no more; both keepers know."""
    core = stage.client("core")
    first = await core.get(ResourceGrant, names.grant("shop"), CORE)
    spec = grant("any", {kind: amount}).spec
    await core.patch(first, msgspec.structs.replace(first, spec=spec))
    await stage.rest()


def test_a_keeper_with_a_stale_budget_grants_no_more_than_the_current_one(tmp_path):
    """A watch may stand still for minutes, so what is about to be given is counted live."""

    async def story(stage: Stage) -> None:
        core, _ = await copy(stage, 1, lambda _: 0.0)
        await stage.client("core").create(project())
        await stage.client("shop").create(claim(0, cell=""))
        await stage.rest()
        core.stop()
        await limited(stage, quota.INSTANCES, 1)
        await stage.client("shop").create(claim(1, cell=""))
        await stage.rest()
        assert (await reasons(stage))["QuotaAvailable"] == 1

    staged(tmp_path, story)


def test_a_claim_that_is_gone_and_still_cached_causes_no_busy_loop(tmp_path):
    """While the watch of claims stands still no claim can be answered; it is tried once a second."""

    async def story(stage: Stage) -> None:
        slow: list[float] = []
        _, shop = await copy(stage, 1, lambda role: slow.pop() if role != "core" and slow else 0.0)
        await stage.client("core").create(project())
        await stage.rest()
        slow.append(5.0)
        gone = await stage.client("shop").create(claim(0, cell=""))
        await asyncio.sleep(1.0)  # the promise is written down, and the answer on its way
        shop.stop()
        await stage.client("shop").delete(gone)
        await asyncio.sleep(20.0)
        before = sum(KITS[-1].metrics.controller("quota").results.values())
        await asyncio.sleep(60.0)
        assert sum(KITS[-1].metrics.controller("quota").results.values()) - before <= 120

    staged(tmp_path, story)


async def status(stage: Stage, name: str) -> str:
    return reason(await stage.client("shop").get(ResourceClaim, name, "default"))


def named(name: str, vcpus: int) -> ResourceClaim:
    """A claim of this name for so many millicores."""
    made = claim(vcpus=vcpus, cell="")
    return msgspec.structs.replace(
        made,
        metadata=msgspec.structs.replace(made.metadata, name=name),
        spec=msgspec.structs.replace(made.spec, requests=made.spec.requests[1:]),
    )


async def pair(stage: Stage, lag: list[float]) -> SilenceableTransport:
    """Two keepers over one project without budget: what the first writes to claims takes ``lag``.

    The ear is the second's, on the claims.
    """
    await copy(stage, 1, lambda role: lag[0] if role == "projects" else 0.0)
    _, ear = await copy(stage, 2, lambda _: 0.0)
    await stage.client("core").create(project())
    await stage.rest()
    return ear


def test_what_another_reserved_and_has_not_granted_yet_is_not_given_away(tmp_path):
    """A claim whose turn would be first waits while the only budget is on its way to another."""

    async def story(stage: Stage) -> None:
        lag = [0.0]
        ear = await pair(stage, lag)
        await limited(stage, quota.VCPUS, 1)
        ear.stop()
        lag[0] = 3.0
        client = stage.client("shop")
        await client.create(named("younger", 1))
        await asyncio.sleep(0.01)  # the first keeper has promised it, and is about to tell it
        await client.create(named("elder", 1))  # of the same second, so its name comes first
        ear.deaf = False
        await stage.rest()
        assert await status(stage, "younger") == "QuotaAvailable"
        assert await status(stage, "elder") == "QuotaExceeded"

    staged(tmp_path, story)


def test_who_does_not_know_what_was_given_gives_nothing(tmp_path):
    """A ledger that names none of the claims one knows is no leave to give the budget again."""

    async def story(stage: Stage) -> None:
        ear = await pair(stage, [0.0])
        await limited(stage, quota.VCPUS, 0)
        client = stage.client("shop")
        await client.create(named("large", 2))
        await stage.rest()
        ear.stop()
        await client.create(named("small", 1))
        await stage.rest()
        await limited(stage, quota.VCPUS, 1)
        await limited(stage, quota.VCPUS, 2)
        await client.create(named("small-too", 1))
        await stage.rest()
        assert await status(stage, "large") == "QuotaExceeded"
        assert await reasons(stage) == {"QuotaAvailable": 2, "QuotaExceeded": 1}
        ear.deaf = False
        await stage.rest(300)
        assert await reasons(stage) == {"QuotaAvailable": 2, "QuotaExceeded": 1}

    staged(tmp_path, story)


def test_keepers_that_disagree_about_a_bucket_write_it_less_and_less_often(tmp_path):
    """A watch that stands still is noticed after minutes. Then both agree at once."""

    async def story(stage: Stage) -> None:
        core, _ = await copy(stage, 1, lambda _: 0.0)
        await copy(stage, 2, lambda _: 0.0)
        await stage.client("core").create(project())
        await stage.rest()
        core.stop(ResourceGrant)
        first = await stage.client("core").get(ResourceGrant, names.grant("shop"), CORE)
        spec = grant("any", {quota.INSTANCES: 3}).spec
        await stage.client("core").patch(first, msgspec.structs.replace(first, spec=spec))
        written = [each for each in await stage.quiet(600) if "allowancebuckets" in each[1]]
        assert sum(plane == "core" for plane, _, _ in written) <= 60
        core.deaf = False
        await asyncio.sleep(30.0)  # the longest pause of an informer that fails
        await stage.rest()
        name = names.bucket(quota.INSTANCES, "Project", "shop")
        bucket = await stage.client("core").get(AllowanceBucket, name, CORE)
        assert bucket.status.limit == 3

    staged(tmp_path, story)
