"""One run on one site: everything that is measured there, in order."""

from collections.abc import Collection
from contextlib import AsyncExitStack
from typing import Final

from bench.load.federation import bursts, deliveries, outages, preparations
from bench.load.federation.managers import Managers
from bench.load.federation.orders import everywhere, single
from bench.load.federation.results import SiteResult, Sizes
from bench.load.federation.site import CITIES, Engine, running
from bench.load.federation.timeline import Stage, Timeline
from bench.load.federation.trial import Trial

PARTS: Final = ("latencies", "bursts", "rest", "lives", "outages")
"""What can be asked for. Without real servers there is no audit log, and no single hub to kill."""


async def measured(engine: Engine, sizes: Sizes, parts: Collection[str]) -> SiteResult:
    """Measure these parts on planes of their own. What is late ends the run, and is named."""
    result = SiteResult(engine=engine)
    async with AsyncExitStack() as stack:
        site = stack.enter_context(running(engine))
        timeline = Timeline()
        project = await stack.enter_async_context(site.client("project"))
        hub = await stack.enter_async_context(site.client("hub"))
        await stack.enter_async_context(timeline.watching(site))
        trial = Trial(site, timeline, Managers(site), project, hub, sizes)
        try:
            await _alone(trial, parts, result)
            await _managed(trial, parts, result)
        except* TimeoutError as late:
            result.failed = "; ".join(map(str, late.exceptions)) or "the project was late"
    return result


async def _alone(trial: Trial, parts: Collection[str], result: SiteResult) -> None:
    await preparations.prepare_alone(trial)
    if "latencies" in parts:
        result.alone.hops = await deliveries.latencies_alone(trial)
    if "bursts" in parts:
        result.alone.burst = await bursts.burst_alone(trial)
    if "outages" in parts and trial.site.engine == "karmada":
        result.alone.recovery = await outages.outage_alone(trial)


async def _managed(trial: Trial, parts: Collection[str], result: SiteResult) -> None:
    sizes, is_real = trial.sizes, trial.site.engine == "karmada"
    await preparations.prepare_managers(trial)
    if "latencies" in parts:
        result.managed.hops = await deliveries.latencies(trial)
    if "rest" in parts:
        result.rest = await deliveries.rest(trial)
    if "lives" in parts and is_real:
        result.life = await deliveries.lives(trial)
    if "bursts" in parts:
        result.carried = await bursts.burst_carried(trial)
        orders = single("burst", sizes.burst, CITIES)
        result.managed.burst = await bursts.burst(trial, orders, Stage.AVAILABLE)
        orders = everywhere("wide-burst", sizes.burst_everywhere, CITIES)
        result.everywhere = await bursts.burst(trial, orders, Stage.AVAILABLE)
    if "outages" in parts and is_real:
        found = await outages.outage(trial)
        result.managed.recovery, result.beside = found["managed"], found["beside"]
