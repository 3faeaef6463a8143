"""Single instances that are replaced on request, each by one of the same template.

await check_instances(session, workload, names)
replaced = await request_replacement(session, workload.metadata.name, names)
return await end_of_replacement(session, replaced, names, choice)
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from compute.api import labels
from compute.api.compute import Instance, Workload
from compute.cli.change.existing_workload import not_found
from compute.cli.change.rollout_follow import ENDING_CODES, detached_code, notify_detached
from compute.cli.change.waiting import WaitChoice
from compute.cli.change.workload_change import change_workload
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output import phrases
from compute.cli.output.tables import plain
from compute.cli.shell.groups import nearest
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session
from compute.decide.instance_replacement import Replacement, replacement_verdict, replacements
from compute.decide.overrides import can_be_replaced, replaced
from compute.decide.overrides.replaced_instances import requests
from compute.decide.progress import PhaseTimeouts, RolloutEnding, RolloutWait, ending
from compute.views.live_rollout import LiveRollout, WorkloadGone, live_rollout
from compute.views.reading import ProjectReader
from kubekit.client.options import ListOptions

_TIMEOUTS: Final = PhaseTimeouts()
_CAUSES: Final = {
    RolloutEnding.FAILED: "the new instance {} cannot run",
    RolloutEnding.BLOCKED: "instance {} is not replaced yet, and the time is over",
    RolloutEnding.TIMED_OUT: "instance {} is not replaced yet, and the time is over; it goes on",
    RolloutEnding.UNKNOWN: "it is not known whether instance {} was replaced; it goes on by itself",
}


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
    name, quiet = workload.metadata.name, choice.output != "table"
    if not choice.wait:
        if not quiet:
            notify(f"Watch it with: {typed(f'compute instances --workload {name} -w')}")
        return Exit.OK
    stamps = {each: requests(workload)[each] for each in instance_names}
    started = session.now()
    say = _Progress(started, quiet=quiet).show
    waiting = RolloutWait(since=started, limit=choice.timeout or None)
    try:
        async with live_rollout(session.client, session.environment, workload) as live:
            await _until_replaced(session, live, stamps, waiting, say)
    except WorkloadGone:
        raise await not_found(session, name) from None
    except asyncio.CancelledError:
        notify_detached(name)
        return detached_code()
    return Exit.OK


class _Progress:
    """Prints a line for each change of an instance that is being replaced."""

    def __init__(self, started: datetime, *, quiet: bool) -> None:
        self._started = started
        self._quiet = quiet
        self._shown: dict[str, str] = {}

    def show(self, found: Sequence[Replacement], now: datetime) -> None:
        elapsed = phrases.long_duration(now - self._started)
        for each in found:
            if self._shown.get(each.name) != each.text and not self._quiet:
                notify(plain(f"{elapsed:<7}   {each.name}   {each.text}"))
            self._shown[each.name] = each.text


async def _until_replaced(
    session: Session,
    live: LiveRollout,
    stamps: Mapping[str, str],
    waiting: RolloutWait,
    say: Callable[[Sequence[Replacement], datetime], None],
) -> None:
    while True:
        await live.step()
        now = session.now()
        found = replacements(live.snapshot, stamps)
        say(found, now)
        verdict = replacement_verdict(found, live.snapshot, now)
        waiting = waiting.after(verdict, now)
        how = ending(verdict, waiting, now, _TIMEOUTS)
        if how is RolloutEnding.DONE:
            return
        if how is not None:
            raise _failure(how, [each for each in found if not each.is_done])


def _failure(how: RolloutEnding, missing: Sequence[Replacement]) -> Failure:
    """Why the wait ended before all of them were ready."""
    worst = next((each for each in missing if each.standing), missing[0])
    known = worst.standing
    details = [worst.text, known.message if known else ""]
    return Failure(
        f"{_CAUSES[how].format(worst.name)}: {': '.join(filter(None, details))}",
        ENDING_CODES[how],
        next_step=f"compute instances describe {worst.name}",
        reason=known.reason if known else "",
    )
