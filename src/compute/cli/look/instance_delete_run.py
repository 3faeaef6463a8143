"""What `compute instances delete` does."""

import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from compute.api import annotations
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.cli.change.workload_change import change_workload, read_to_change
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.look.instance_evidence import read_instance
from compute.cli.output import phrases
from compute.cli.output.formats import show_names
from compute.cli.output.tables import plain
from compute.cli.shell.prompts import ASSUME_YES, can_ask, confirmed, notify
from compute.cli.shell.session import Session, in_project
from compute.decide import joins
from compute.decide.instance_state import InstanceStanding, InstanceState, standing
from compute.decide.overrides import can_be_replaced, replaced
from compute.decide.overrides.replaced_instances import requests
from compute.decide.ranking import rank
from compute.views.live import LiveObjects, live_objects
from kubekit.client.options import ListOptions

_TICK = 1.0  # seconds


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    assume_yes: bool
    wait: bool
    timeout: timedelta


def run(name: str, *, assume_yes: bool, wait: bool, timeout: timedelta, output: str) -> int:
    """Run it. The arguments are those of the command."""
    in_project(lambda session: _delete(session, _Wanted(name, assume_yes, wait, timeout)))
    if output == "name":
        show_names("instance", [name])
    return Exit.OK


async def _delete(session: Session, wanted: _Wanted) -> None:
    instance = await read_instance(session, wanted.name)
    owner = joins.workload_name(instance)
    if not owner:
        raise Failure(f"instance {wanted.name} belongs to no workload, so nothing would replace it")
    await read_to_change(session, owner)
    if not _agreed(instance, wanted):
        notify("Nothing was changed.")
        return
    now = session.now()
    changed = await change_workload(session, owner, partial(_replaced, wanted.name, now))
    stamp = requests(changed.after).get(wanted.name, "")
    notify(f"Instance {wanted.name} is being replaced.")
    if wanted.wait:
        await _until_ready(session, wanted, instance, stamp)
    else:
        notify(f"Watch it with: {typed(f'compute instances --workload {owner} -w')}")


def _agreed(instance: Instance, wanted: _Wanted) -> bool:
    if wanted.assume_yes or os.environ.get(ASSUME_YES) == "1":
        return True
    if not can_ask():
        raise Failure(
            f"replacing instance {wanted.name} stops it; without a terminal, confirm with -y",
            Exit.USAGE,
            next_step=f"compute instances delete {wanted.name} -y",
        )
    workload, city = joins.workload_name(instance), joins.city(instance)
    named = f"instance {wanted.name} of {workload} in {city}"
    question = f"Stop {named}, and start a new one in its place?"
    return confirmed(plain(question), default=True)


def _replaced(name: str, now: datetime, workload: Workload) -> Workload:
    if not can_be_replaced(workload, name):
        owner = workload.metadata.name
        raise Failure(
            f"instance {name} is not part of workload {owner} any more: it is being removed, "
            "and nothing comes in its place",
            next_step=f"compute instances --workload {owner}",
        )
    return replaced(workload, [name], now)


async def _until_ready(session: Session, wanted: _Wanted, old: Instance, stamp: str) -> None:
    """Wait until the new Instance is ready, and say so."""
    started = session.now()
    kinds = (Instance, WorkloadDeployment)
    selectors: dict[type, ListOptions] = {
        Instance: ListOptions(field_selector=f"metadata.name={wanted.name}"),
        WorkloadDeployment: ListOptions(
            field_selector=f"metadata.name={joins.deployment_name(old)}"
        ),
    }
    shown = ""
    async with live_objects(
        session.client, session.environment, session.namespace, *kinds, selectors=selectors
    ) as live:
        while True:
            await live.changed(_TICK)
            now = session.now()
            found = live.find(Instance, wanted.name)
            is_new = found is not None and _stamp(found) == stamp
            judged = _judged(live, found or old, now)
            elapsed = phrases.long_duration(now - started)
            if is_new and judged.text != shown:
                shown = judged.text
                notify(plain(f"{elapsed:<7}   {wanted.name}   {shown}"))
            if is_new and judged.state is InstanceState.AVAILABLE:
                notify(f"The new instance is ready after {elapsed}.")
                return
            over = bool(wanted.timeout) and now - started >= wanted.timeout
            if over or (is_new and judged.state is InstanceState.FAILED):
                raise _unfinished(wanted.name, judged, is_new=is_new)


def _stamp(instance: Instance) -> str | None:
    return instance.metadata.annotations.get(annotations.REPLACED_AT)


def _judged(live: LiveObjects, instance: Instance, now: datetime) -> InstanceStanding:
    deployment = next(iter(live.all(WorkloadDeployment)), None)
    return standing(instance, deployment, now=now)


def _unfinished(name: str, judged: InstanceStanding, *, is_new: bool) -> Failure:
    is_lost = judged.state is InstanceState.UNREACHABLE
    if is_new or is_lost:
        subject = "the new instance" if is_new else "instance"
        missing = "is not ready" if is_new else "has not been replaced yet"
        detail = f": {judged.message}" if judged.message else ""
        cause = f"{subject} {name} {missing}: {judged.text}{detail}"
    else:
        cause = f"instance {name} has not been replaced yet, and the time is over; it goes on"
    return Failure(
        cause,
        _code(judged) if is_new or is_lost else Exit.TIMED_OUT,
        next_step=f"compute instances describe {name}",
        reason=judged.reason,
    )


def _code(judged: InstanceStanding) -> Exit:
    match judged.state:
        case InstanceState.FAILED:
            return Exit.FAILED
        case InstanceState.UNREACHABLE:
            return Exit.UNKNOWN
        case InstanceState.PENDING if rank(judged.reason):
            return Exit.BLOCKED
        case _:
            return Exit.TIMED_OUT
