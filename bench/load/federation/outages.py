"""The API server of the hub is killed, and is back after a while."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from bench.load.federation import agent
from bench.load.federation.orders import ALONE, by_writers, single
from bench.load.federation.results import Recovery
from bench.load.federation.site import CITIES
from bench.load.federation.timeline import Stage
from bench.load.federation.trial import Trial
from compute.api.compute import WorkloadDeployment
from kubekit.api.errors import AlreadyExists, ApiError
from kubekit.api.kinds.core import Namespace
from kubekit.client.transport import ResourceLocation

_HUB_SERVER: Final = "hub-kube-apiserver"
_PAUSE: Final = 0.05


async def outage_alone(trial: Trial) -> Recovery:
    """Without our managers: a status from a cell, and a deployment sent when the hub answers."""
    before, after = single("alone-outage", 2, CITIES[:1])
    await trial.create_alone(before)
    await trial.reached(Stage.IN_CELL, [before])
    async with _without_hub(trial) as answered, trial.site.client(CITIES[0].lower()) as cell:
        (name,) = before.deployments
        copy = await cell.raw.get(ResourceLocation(WorkloadDeployment.RESOURCE, ALONE, name))
        await agent.serve(cell, copy)
    await _retried(trial, lambda: trial.create_alone(after))
    ends = [
        await trial.reached(Stage.ON_HUB, [after]),
        await trial.reached(Stage.IN_CELL, [after]),
        await trial.reached(Stage.HUB_STATUS, [before]),
    ]
    await by_writers(trial.delete_alone, [before, after])
    await trial.reached(Stage.GONE_FROM_CELL, [before, after])
    return _recovery(trial, answered[0], ends)


async def outage(trial: Trial) -> dict[str, Recovery]:
    """A Workload is created while the hub is away; beside it one that only Karmada delivers."""
    (order,), (beside,) = single("outage", 1, CITIES), single("outage-beside", 1, CITIES)
    async with _without_hub(trial) as answered:
        await trial.create(order)
    await _retried(trial, lambda: trial.create_alone(beside))
    found = {}
    for name, each, last in (
        ("managed", order, Stage.AVAILABLE),
        ("beside", beside, Stage.IN_CELL),
    ):
        stages = (Stage.ON_HUB, Stage.IN_CELL, last)
        found[name] = _recovery(
            trial, answered[0], [await trial.reached(s, [each]) for s in stages]
        )
    await trial.delete_alone(beside)
    await trial.reached(Stage.GONE_FROM_CELL, [beside])
    await trial.clear([order])
    return found


@asynccontextmanager
async def _without_hub(trial: Trial) -> AsyncIterator[list[int]]:
    """The API server of the hub is away; in the list is when it answers again, at the end."""
    answered: list[int] = []
    ends = asyncio.get_running_loop().time() + trial.sizes.outage
    await asyncio.to_thread(trial.site.kill, _HUB_SERVER)
    try:
        yield answered
        await asyncio.sleep(ends - asyncio.get_running_loop().time())
    finally:
        await asyncio.to_thread(trial.site.start, _HUB_SERVER)
    await _retried(trial, lambda: trial.hub.get(Namespace, ALONE))
    answered.append(time.perf_counter_ns())


async def _retried(trial: Trial, send: Callable[[], Awaitable[object]]) -> None:
    """Send it until it is answered."""
    async with asyncio.timeout(trial.sizes.patience):
        await _answered(send)


async def _answered(send: Callable[[], Awaitable[object]]) -> None:
    while True:
        try:
            await send()
        except AlreadyExists:  # an answer was lost
            return
        except (ApiError, OSError):
            await asyncio.sleep(_PAUSE)
        else:
            return


def _recovery(trial: Trial, answered: int, ends: Sequence[int]) -> Recovery:
    return Recovery(trial.sizes.outage, *(max(0, end - answered) / 1e9 for end in ends))
