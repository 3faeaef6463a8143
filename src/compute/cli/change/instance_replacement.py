"""Single instances that are replaced on request, each by one of the same template.

await check_instances(session, workload, names)
replaced = await request_replacement(session, workload.metadata.name, names)
return await end_of_replacement(session, replaced, names, choice)
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from compute.api import annotations, labels, names
from compute.api.compute import Instance, Workload
from compute.cli.change.rollout_follow import detached, ended_badly
from compute.cli.change.waiting import WaitChoice
from compute.cli.change.workload_change import change_workload, not_found
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output import phrases
from compute.cli.shell.groups import nearest
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session
from compute.decide import joins
from compute.decide.deployment.slots import is_ready
from compute.decide.overrides import can_be_replaced, replaced
from compute.decide.overrides.replaced_instances import requests
from compute.decide.progress import (
    PhaseTimeouts,
    RolloutEnding,
    RolloutSnapshot,
    Waiting,
    ending,
    observe,
    verdict,
)
from compute.views.live_rollout import LiveRollout, WorkloadGone, live_rollout
from compute.views.reading import ProjectReader
from compute.views.rollouts import rollout_view
from kubekit.client.options import ListOptions

_TIMEOUTS: Final = PhaseTimeouts()


async def check_instances(
    session: Session, workload: Workload, instance_names: Sequence[str]
) -> None:
    """Refuse an instance that the Workload does not have, with the nearest name that it does."""
    owned = ListOptions(label_selector=f"{labels.WORKLOAD_UID}={workload.metadata.uid}")
    reader = ProjectReader(session.client, session.namespace)
    found = await reader.if_served(Instance, owned)
    known = None if found is None else sorted(i.metadata.name for i in found)
    for name in instance_names:
        if known is not None and name not in known:
            raise _unknown(workload, name, known)
        if not can_be_replaced(workload, name):
            raise Failure(
                f"instance {name} is not part of workload {workload.metadata.name} any more: it is "
                "being removed",
                next_step=f"compute instances --workload {workload.metadata.name}",
            )


def _unknown(workload: Workload, name: str, known: Sequence[str]) -> Failure:
    near = nearest(name, known)
    if near:
        hint = f"did you mean {near}?"
    else:
        hint = f"it has {', '.join(known)}" if known else "it has none"
    return Failure(
        f"workload {workload.metadata.name} has no instance {name}; {hint}",
        Exit.NOT_FOUND,
        next_step=f"compute instances --workload {workload.metadata.name}",
        reason="NotFound",
    )


async def request_replacement(
    session: Session, name: str, instance_names: Sequence[str]
) -> Workload:
    """Request the replacement of these instances of a Workload, which has the requests then."""
    changed = await change_workload(
        session, name, lambda w: replaced(w, instance_names, session.now())
    )
    return changed.after


async def end_of_replacement(
    session: Session, workload: Workload, instance_names: Sequence[str], choice: WaitChoice
) -> Exit:
    """Wait until each of these instances is replaced and ready, or say how to look."""
    name = workload.metadata.name
    if not choice.wait:
        if choice.output == "table":
            notify(f"Look again with: {typed(f'compute instances --workload {name}')}")
        return Exit.OK
    stamps = {each: requests(workload)[each] for each in instance_names}
    started = session.now()
    waiting = Waiting(since=started, limit=choice.timeout or None)
    try:
        async with live_rollout(session.client, session.environment, workload) as live:
            await _until_replaced(session, live, stamps, waiting)
    except WorkloadGone:
        raise await not_found(session, name) from None
    except asyncio.CancelledError:
        return detached(name)
    if choice.output == "table":
        notify(f"Replaced in {phrases.long_duration(session.now() - started)}.")
    return Exit.OK


async def _until_replaced(
    session: Session, live: LiveRollout, stamps: Mapping[str, str], waiting: Waiting
) -> None:
    while True:
        await live.step()
        now = session.now()
        missing = [name for name in stamps if not _is_replaced(live.snapshot, name, stamps[name])]
        if not missing:
            return
        waiting = _judged(live.snapshot, missing, waiting, now)


def _judged(
    snapshot: RolloutSnapshot, missing: Collection[str], waiting: Waiting, now: datetime
) -> Waiting:
    """The wait after this snapshot. Raises a Failure if it is over."""
    # Without the rollout before: a city that was done counts as done although an instance is missing.
    rollout = observe(snapshot).only({_city(snapshot, name) for name in missing})
    view = rollout_view(snapshot, rollout, now)
    judged = verdict(rollout, now)
    waiting = waiting.after(judged, now)
    how = ending(judged, waiting, now, _TIMEOUTS)
    if how in {RolloutEnding.FAILED, RolloutEnding.UNKNOWN, RolloutEnding.BLOCKED}:
        raise ended_badly(how, view)
    if waiting.limit is not None and now - waiting.since >= waiting.limit:
        raise Failure(
            f"{', '.join(missing)} not replaced yet, and the time is over; it goes on",
            Exit.TIMED_OUT,
            next_step=f"compute status {view.name}",
        )
    return waiting


def _is_replaced(snapshot: RolloutSnapshot, name: str, stamp: str) -> bool:
    return any(
        instance.metadata.name == name
        and instance.metadata.annotations.get(annotations.REPLACED_AT) == stamp
        and not instance.deleting
        and is_ready(instance)
        for instance in snapshot.instances
    )


def _city(snapshot: RolloutSnapshot, name: str) -> str:
    """The city of an instance, from its deployment: it may be gone itself while it is replaced."""
    parts = names.instance_parts(name)
    owner = parts[0] if parts else ""
    cities = (joins.placement_city(d)[1] for d in snapshot.deployments if d.metadata.name == owner)
    return next(cities, "")
