"""Waiting until deleted workloads are gone: their deployments and instances too.

An instance is in the project for as long as its city reports it. So this is the end in the cities as
well, as far as it can be seen from here.
"""

import asyncio
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from compute.api import labels
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output.phrases import counted, listed
from compute.cli.output.terminal import is_terminal
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session
from compute.decide import joins
from compute.views.live import LiveObjects, live_objects
from kubekit.api.meta import Object
from kubekit.client.options import ListOptions

_TICK: Final = 1.0  # seconds until the limit is compared again while nothing changes


class _Left(NamedTuple):
    """What is left of the workloads."""

    names: tuple[str, ...]
    instances: int
    cities: tuple[str, ...]

    def __str__(self) -> str:
        if not self.cities:
            return self._without_instances()
        where = ", ".join(self.cities)
        if not self.instances:
            return f"the last of what ran in {where}"
        return f"{counted(self.instances, 'instance')} in {where}"

    def _without_instances(self) -> str:
        if len(self.names) == 1:
            return f"workload {self.names[0]} itself"
        return f"workloads {listed(self.names)} themselves"


async def until_gone(session: Session, workloads: Sequence[Workload], limit: timedelta) -> Exit:
    """Wait until all is gone; a limit of zero is none. Ctrl-C ends the wait, not the deletion."""
    names = " ".join(workload.metadata.name for workload in workloads)
    uids = [workload.metadata.uid for workload in workloads]
    owned = ListOptions(label_selector=f"{labels.WORKLOAD_UID} in ({','.join(uids)})")
    selectors: dict[type[Object], ListOptions] = {
        Workload: ListOptions(),
        WorkloadDeployment: owned,
        Instance: owned,
    }
    try:
        async with live_objects(
            session.client, session.environment, session.namespace, *selectors, selectors=selectors
        ) as live:
            await _gone_in_time(live, frozenset(uids), names, limit)
    except asyncio.CancelledError:
        return _interrupted(names)
    notify("All is gone.")
    return Exit.OK


async def _gone_in_time(
    live: LiveObjects, uids: frozenset[str], names: str, limit: timedelta
) -> None:
    try:
        async with asyncio.timeout(limit.total_seconds() or None):
            await live.listed()
            await _watch(live, uids)
    except TimeoutError as error:
        raise _late(live, uids, names) from error


async def _watch(live: LiveObjects, uids: frozenset[str]) -> None:
    said = ""
    while not live.complete or (left := _left(live, uids)) is not None:
        text = str(left) if live.complete else ""
        if text and text != said:
            notify(f"Waiting: {text}.")
            said = text
        await live.changed(_TICK)


def _left(live: LiveObjects, uids: frozenset[str]) -> _Left | None:
    """What is left; None if nothing is."""
    workloads = [w for w in live.all(Workload) if w.metadata.uid in uids]
    instances, deployments = live.all(Instance), live.all(WorkloadDeployment)
    if not (workloads or instances or deployments):
        return None
    cities = {*map(joins.city, instances), *(d.spec.city_code for d in deployments)}
    names = tuple(workload.metadata.name for workload in workloads)
    return _Left(names, len(instances), tuple(sorted(filter(None, cities))))


def _late(live: LiveObjects, uids: frozenset[str], names: str) -> Failure:
    look = f"compute wait {names} --for deleted"
    if live.lost_since is not None:
        return Failure(
            "the server cannot be reached any more; the deletion goes on",
            Exit.UNKNOWN,
            next_step=look,
        )
    left = _left(live, uids)
    what = f"{left} left" if left else "something is left"
    return Failure(
        f"the time is over and not all is gone: {what}; the deletion goes on",
        Exit.TIMED_OUT,
        next_step=look,
        city=left.cities[0] if left and left.cities else "",
    )


def _interrupted(names: str) -> Exit:
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
    look = typed(f"compute wait {names} --for deleted")
    notify(f"\nThe deletion goes on. Look again with: {look}")
    return Exit.OK if is_terminal(sys.stdout) else Exit.INTERRUPTED
