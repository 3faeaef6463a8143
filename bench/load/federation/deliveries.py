"""Workloads one by one: how long each hop takes, which requests they cause, and what an idle site does."""

import asyncio
from collections.abc import Sequence
from typing import Final

from bench.load.federation import agent
from bench.load.federation.audit import AuditMark
from bench.load.federation.managers import MANAGEMENT, STAND_INS
from bench.load.federation.orders import Order, by_writers, single
from bench.load.federation.results import Hop, Life, Rest
from bench.load.federation.site import CITIES
from bench.load.federation.timeline import OF_WORKLOAD, Stage
from bench.load.federation.trial import QUIET, SETTLED, Trial
from bench.load.federation.usage import UsageMeter
from bench.load.report import percentile

_HOPS_ALONE: Final = {
    "hub to cell": (Stage.ON_HUB, Stage.IN_CELL),
    "cell status to hub": (Stage.CELL_STATUS, Stage.HUB_STATUS),
}
_HOPS: Final = {
    "accepted to cell": (Stage.ACCEPTED, Stage.IN_CELL),
    "accepted to hub": (Stage.ACCEPTED, Stage.ON_HUB),
    **_HOPS_ALONE,
    "hub status to project": (Stage.HUB_STATUS, Stage.PROJECT_STATUS),
    "cell status to project": (Stage.CELL_STATUS, Stage.PROJECT_STATUS),
    "accepted to Available": (Stage.ACCEPTED, Stage.AVAILABLE),
}


async def latencies_alone(trial: Trial) -> dict[str, Hop]:
    """One deployment after the other, without our managers."""
    orders = single("alone", trial.sizes.latencies + len(CITIES), CITIES)
    async with agent.answering(trial.site, trial.timeline):
        for order in orders:
            await trial.create_alone(order)
            await trial.reached(Stage.HUB_STATUS, [order])
            await asyncio.sleep(SETTLED)
        await by_writers(trial.delete_alone, orders)
        await trial.reached(Stage.GONE_FROM_CELL, orders)
    return _hops(trial, _HOPS_ALONE, orders[len(CITIES) :])


async def latencies(trial: Trial) -> dict[str, Hop]:
    """One Workload after the other; the first of each city prepares its policy."""
    orders = single("one", trial.sizes.latencies + len(CITIES), CITIES)
    for order in orders:
        await trial.create(order)
        await trial.reached(Stage.AVAILABLE, [order])
        await trial.reached(Stage.PROJECT_STATUS, [order])
        await asyncio.sleep(SETTLED)
    await trial.clear(orders)
    return _hops(trial, _HOPS, orders[len(CITIES) :])


async def rest(trial: Trial) -> Rest:
    """A Workload runs in every city, and nothing happens."""
    orders = single("resting", len(CITIES), CITIES)
    for order in orders:
        await trial.create(order)
    await trial.reached(Stage.AVAILABLE, orders)
    await asyncio.sleep(2 * QUIET)
    mark = AuditMark(trial.site.audit_logs) if trial.site.engine == "karmada" else None
    meter = UsageMeter(trial.site)
    await asyncio.sleep(trial.sizes.rest)
    usage = meter.read()
    writes = None
    if mark is not None:
        found = mark.requests(MANAGEMENT, STAND_INS, *trial.managers.cells)
        writes = {" ".join(r[:3]): count for r, count in found.items() if r.is_write}
    await trial.clear(orders)
    return Rest(trial.sizes.rest, writes, usage)


async def lives(trial: Trial) -> Life:
    """Workloads come and go, one at a time: the requests of management for each."""
    mark = AuditMark(trial.site.audit_logs)
    orders = single("life", trial.sizes.lives, CITIES)
    for order in orders:
        await trial.create(order)
        await trial.reached(Stage.AVAILABLE, [order])
        await asyncio.sleep(SETTLED)
        await trial.clear([order])
    found = mark.requests(MANAGEMENT)
    each = {
        f"{r.plane} {r.verb} {r.resource} {r.code}": count / len(orders)
        for r, count in found.most_common()
    }
    return Life(len(orders), each)


def _hops(
    trial: Trial, hops: dict[str, tuple[Stage, Stage]], orders: Sequence[Order]
) -> dict[str, Hop]:
    """The durations of each hop. Each Workload here has one deployment."""
    found = {}
    for name, (first, last) in hops.items():
        start, end = _by_order(trial, first, orders), _by_order(trial, last, orders)
        took = [end[order.name] - start[order.name] for order in orders]
        found[name] = Hop(len(took), percentile(took, 0.5), percentile(took, 0.99))
    return found


def _by_order(trial: Trial, stage: Stage, orders: Sequence[Order]) -> dict[str, int]:
    times = trial.timeline.times(stage)
    is_own = stage in OF_WORKLOAD
    return {o.name: times[o.name if is_own else o.deployments[0]] for o in orders}
