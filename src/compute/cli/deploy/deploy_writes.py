"""The writes of a deploy, one object after the other, and what is known when one of them fails."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from compute.cli.change.planned_changes import PlannedChange
from compute.cli.change.planned_writes import create_network, written
from compute.cli.deploy.plan_text import result_line
from compute.cli.deploy.planning import DeployPlan
from compute.cli.exits import Failure
from compute.cli.output.tables import plain
from compute.cli.shell.project_work import explained
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session
from compute.views.deploy_plans import Action, action_of
from kubekit.api.errors import ApiError
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object


async def written_objects(
    session: Session, plan: DeployPlan, *, quiet: bool
) -> list[tuple[PlannedChange, Object]]:
    """The changes of a plan with the objects as they are then.

    Networks that are missing may be in a namespace that the plan creates.
    """
    writes = _Writes(session, quiet=quiet, alone=len(plan.changes) + len(plan.missing) == 1)
    first = [c for c in plan.changes if isinstance(c.wanted, Namespace)]
    others = [c for c in plan.changes if not isinstance(c.wanted, Namespace)]
    stored = [(change, await writes.write(change)) for change in first]
    for namespace, name in plan.missing:
        await writes.create_network(namespace, name)
    return [*stored, *[(change, await writes.write(change)) for change in others]]


class _Writes:
    """Writes objects, and keeps their titles for the failure of a later one."""

    def __init__(self, session: Session, *, quiet: bool, alone: bool) -> None:
        self._session = session
        self._quiet = quiet
        self._alone = alone
        self._done: list[str] = []

    async def write(self, change: PlannedChange) -> Object:
        """Write a change, if it is one, and say so. The result is the object as it is then."""
        action = action_of(change.existing, change.wanted)
        if not change.is_change:
            self._report(change.title, action)
            return change.wanted
        with self._one(change.title):
            stored = await written(self._session, change)
        self._report(change.title, action)
        return stored

    async def create_network(self, namespace: str, name: str) -> None:
        with self._one(f"network/{name}"):
            await create_network(self._session, namespace, name)
        self._report(f"network/{name}", "create")

    def _report(self, title: str, action: Action) -> None:
        if not self._quiet:
            notify(result_line(title, action))

    @contextmanager
    def _one(self, title: str) -> Iterator[None]:
        """Say of a write that fails which one it is, and what was written before it."""
        try:
            yield
        except asyncio.CancelledError:
            notify()
            notify(plain(f"It is not known whether {title} was written{self._before()}."))
            raise
        except ApiError as error:
            raise self._with_others(title, explained(error, self._session.target)) from error
        except Failure as failure:
            raise self._with_others(title, failure) from failure
        self._done.append(title)

    def _with_others(self, title: str, failure: Failure) -> Failure:
        if self._alone:
            return failure
        cause = str(failure)
        named = cause if title in cause else f"{title}: {cause}"
        return Failure(
            named + self._before(),
            failure.code,
            next_step=failure.next_step,
            reason=failure.reason,
            city=failure.city,
        )

    def _before(self) -> str:
        """The objects that are written, and stay so."""
        return f"; written before it, and not undone: {', '.join(self._done)}" if self._done else ""
