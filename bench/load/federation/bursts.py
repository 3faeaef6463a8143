"""Many deployments at once, carried by the engine alone and by our managers."""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from bench.load.federation import agent
from bench.load.federation.orders import Order, by_writers, deployments, single
from bench.load.federation.results import Burst
from bench.load.federation.site import CITIES
from bench.load.federation.timeline import Stage
from bench.load.federation.trial import QUIET, Trial
from bench.load.federation.usage import UsageMeter

_STAGES: Final = list(Stage)[: list(Stage).index(Stage.AVAILABLE) + 1]
_STAGES_ALONE: Final = (Stage.ON_HUB, Stage.IN_CELL, Stage.CELL_STATUS, Stage.HUB_STATUS)


async def burst_alone(trial: Trial) -> Burst:
    """All deployments at once, without our managers."""
    orders = single("alone-burst", trial.sizes.burst, CITIES)
    async with agent.answering(trial.site, trial.timeline):
        meter, start = UsageMeter(trial.site), time.perf_counter_ns()
        await by_writers(trial.create_alone, orders)
        stages = await _stages(trial, _STAGES_ALONE, orders, start)
        usage, gone_from = meter.read(), time.perf_counter_ns()
        await by_writers(trial.delete_alone, orders)
        gone = await trial.reached(Stage.GONE_FROM_CELL, orders)
    await asyncio.sleep(QUIET)
    return Burst(len(deployments(orders)), stages, (gone - gone_from) / 1e9, usage)


async def burst_carried(trial: Trial) -> Burst:
    """The same from the project, with management and without managers in cells."""
    await trial.managers.stop(*trial.managers.cells)
    try:
        async with agent.answering(trial.site, trial.timeline):
            orders = single("carried-burst", trial.sizes.burst, CITIES)
            return await burst(trial, orders, Stage.PROJECT_STATUS)
    finally:
        await trial.managers.start(*trial.managers.cells)


async def burst(trial: Trial, orders: Sequence[Order], last: Stage) -> Burst:
    """Workloads at once, until they have got to the last stage."""
    meter, start = UsageMeter(trial.site), time.perf_counter_ns()
    await by_writers(trial.create, orders)
    stages = await _stages(trial, _STAGES[: _STAGES.index(last) + 1], orders, start)
    usage, gone_from = meter.read(), time.perf_counter_ns()
    gone = await trial.clear(orders)
    return Burst(len(deployments(orders)), stages, (gone - gone_from) / 1e9, usage)


async def _stages(
    trial: Trial, stages: Sequence[Stage], orders: Sequence[Order], start: int
) -> dict[str, float]:
    """Seconds until all of these got to each stage."""
    return {stage.value: (await trial.reached(stage, orders) - start) / 1e9 for stage in stages}
