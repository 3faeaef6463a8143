"""Waiting for a rollout: what `rollout status`, `deploy` and all that change a template show.

It follows the objects by watch, ends with the truth, and says in each city what is wrong and what to
type next. Interrupting it does not interrupt the rollout.
"""

import asyncio
import sys
from collections.abc import Collection
from datetime import timedelta
from typing import Final, NamedTuple

from compute.cli.change.existing_workload import not_found, read_workload
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output import phrases
from compute.cli.output.city_rows import (
    PROGRESS_HEADERS,
    city_table,
    next_steps,
    progress,
    since,
    why,
)
from compute.cli.output.formats import show_data
from compute.cli.output.rollout_screens import RolloutScreen, screen_for
from compute.cli.output.tables import plain, table
from compute.cli.output.terminal import is_terminal
from compute.cli.shell.contact_notices import ContactNotices
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session
from compute.cli.streams import show
from compute.decide.progress import (
    PhaseTimeouts,
    RolloutEnding,
    RolloutVerdict,
    RolloutWait,
    ending,
    observe,
)
from compute.views.live_history import LiveHistory
from compute.views.live_rollout import LiveRollout, WorkloadGone, live_rollout
from compute.views.reading import ProjectReader
from compute.views.rollouts import RolloutView, rollout_view

_TIMEOUTS: Final = PhaseTimeouts()
_LOST: Final = "The server cannot be reached; trying again. The rollout goes on meanwhile."
ENDING_CODES: Final = {
    RolloutEnding.FAILED: Exit.FAILED,
    RolloutEnding.PAUSED: Exit.NOT_YET,
    RolloutEnding.BLOCKED: Exit.BLOCKED,
    RolloutEnding.UNKNOWN: Exit.UNKNOWN,
    RolloutEnding.TIMED_OUT: Exit.TIMED_OUT,
}
_ONCE: Final = {
    RolloutVerdict.DONE: Exit.OK,
    RolloutVerdict.FAILED: Exit.FAILED,
    RolloutVerdict.UNKNOWN: Exit.UNKNOWN,
}


class EndedRollout(NamedTuple):
    """How a rollout ended that was followed, and what was seen of it last."""

    how: RolloutEnding
    view: RolloutView


async def follow_rollout(
    session: Session,
    name: str,
    *,
    cities: Collection[str] = (),
    timeout: timedelta,  # noqa: ASYNC109 -- how long the rollout may take, not the call
    output: str = "table",
) -> Exit:
    """Show the rollout until it ends, in these cities or in all. A timeout of 0 is none.

    Raises a `Failure` unless it is done: its code says how it ended, and its next step what to type.
    """
    ended = await ended_rollout(session, name, cities=cities, timeout=timeout, output=output)
    if ended is None:
        return detached_code()
    if output in {"json", "yaml"}:
        show_data(ended.view, output)
    if ended.how is not RolloutEnding.DONE:
        raise ended_badly(*ended)
    return Exit.OK


async def ended_rollout(
    session: Session,
    name: str,
    *,
    cities: Collection[str] = (),
    timeout: timedelta,  # noqa: ASYNC109 -- as above
    output: str = "table",
) -> EndedRollout | None:
    """Show the rollout until it ends, without a document. None if the user detaches with Ctrl-C."""
    workload = await read_workload(session, name)
    started = session.now()
    screen = screen_for(output, started)
    waiting = RolloutWait(since=started, limit=timeout or None)
    try:
        async with live_rollout(session.client, session.environment, workload) as live:
            ended = await _until_ended(session, live, waiting, cities, screen)
    except WorkloadGone:
        raise await not_found(session, name) from None
    except asyncio.CancelledError:
        screen.close()
        notify_detached(name)
        return None
    finally:
        screen.close()
    if output == "table" and ended.how is RolloutEnding.DONE:
        where = f"in {', '.join(cities)} after" if cities else "in"
        length = phrases.long_duration(session.now() - started)
        notify(plain(f"Rollout complete {where} {length}."))
    elif output == "table":
        _report(ended.view, session)
    return ended


async def show_once(session: Session, name: str, *, cities: Collection[str], output: str) -> Exit:
    """Show the rollout as it is now. The code says whether it is done."""
    reader = ProjectReader(session.client, session.namespace)
    objects, revisions = await asyncio.gather(reader.of_workload(name), reader.known_history(name))
    snapshot = objects.snapshot(session.now())
    rollout = observe(snapshot)
    view = rollout_view(
        snapshot, rollout.only(cities) if cities else rollout, session.now(), revisions
    )
    if output == "table":
        now = session.now()
        rows = [(*progress(c), since(c, now), why(c) or phrases.NONE) for c in view.cities]
        show("\n".join(city_table((*PROGRESS_HEADERS, "SINCE", "WHY"), rows)))
        for line in next_steps(view.open):
            notify(line)
    else:
        show_data(view, output)
    return _ONCE.get(view.verdict, Exit.NOT_YET)


async def _until_ended(
    session: Session,
    live: LiveRollout,
    waiting: RolloutWait,
    cities: Collection[str],
    screen: RolloutScreen,
) -> EndedRollout:
    history = LiveHistory(ProjectReader(session.client, session.namespace))
    contact = ContactNotices(live, _LOST)
    while True:
        rollout = await live.step()
        rollout = rollout.only(cities) if cities else rollout
        now = session.now()
        view = rollout_view(live.snapshot, rollout, now, await history.of(live.snapshot.workload))
        if contact.report():
            screen.restart()
        if not contact.lost:
            screen.show(view, now)
        waiting = waiting.after(view.verdict, now)
        how = ending(view.verdict, waiting, now, _TIMEOUTS)
        if how is not None:
            # What was seen before the server was lost is no result.
            stale = contact.lost and how in {RolloutEnding.BLOCKED, RolloutEnding.TIMED_OUT}
            return EndedRollout(RolloutEnding.UNKNOWN if stale else how, view)


def ended_badly(how: RolloutEnding, view: RolloutView) -> Failure:
    """The failure of a command whose rollout did not become done."""
    worst = view.open[0] if view.open else None
    alike = [city.city for city in view.open if worst and city.state is worst.state]
    city = f" in {', '.join(dict.fromkeys(alike))}" if alike else ""
    cause = {
        RolloutEnding.FAILED: f"the rollout of {view.name} failed{city}",
        RolloutEnding.PAUSED: f"the rollout of {view.name} is paused{city}",
        RolloutEnding.BLOCKED: f"the rollout of {view.name} is blocked{city}, and the time is over",
        RolloutEnding.UNKNOWN: (
            f"the result of the rollout of {view.name} is not known{city}; it goes on by itself"
        ),
        RolloutEnding.TIMED_OUT: (
            f"the rollout of {view.name} is not complete{city}, and the time is over; it goes on"
        ),
    }[how]
    detail = f": {worst.why}" if worst and worst.why else ""
    look = f"compute rollout status {view.name}"
    return Failure(
        cause + detail,
        ENDING_CODES[how],
        next_step=(worst.next if worst else "") or look,
        reason=worst.reason if worst else "",
        city=worst.city if worst else "",
    )


def _report(view: RolloutView, session: Session) -> None:
    """The cities that are not done, each with its cause, and what to do.

    On a terminal the last table is still there.
    """
    now = session.now()
    rows = [(*progress(city), since(city, now), why(city) or phrases.NONE) for city in view.open]
    if rows and not is_terminal(sys.stdout):
        notify("\n" + table((*PROGRESS_HEADERS, "SINCE", "WHY"), rows))
    steps = next_steps(view.open)
    if steps:
        notify("\nWhat to do:\n" + "\n".join(steps))
    if rows:
        notify()


def notify_detached(name: str) -> None:
    """The answer to Ctrl-C: the rollout goes on without this command."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
    notify(f"\nThe rollout goes on. Look again with: {typed(f'compute rollout status {name}')}")


def detached_code() -> Exit:
    """Leaving is a success for a person, and an interruption for a script."""
    return Exit.OK if is_terminal(sys.stdout) else Exit.INTERRUPTED
