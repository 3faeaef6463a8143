"""Leader election: of many processes, one at a time does the work.

    compete --> lead: the work runs beside the renewals --> compete again, or the end
                      lost    the work is cancelled; its writes are refused before that
                      ended   the work has ended, then the Lease is released

A `Term` says whether its process may still act. It ends before another process can start its own. Each
process uses its own clock: a term counts from before the last renewal was *sent*, while the other
candidates wait for a whole lease after they *saw* that renewal. The time between the renew deadline and
the end of the lease is for writes in flight. `Term.number` never decreases while the Lease exists,
so a server that stores it can refuse a writer of an earlier term.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.lease_lock import HeldLease, LeaseLock, LeaseLockSettings
from kubekit.runtime.scope import Scope

_log: Final = logging.getLogger(__name__)

_JITTER: Final = 1.2  # of the retry, added at most; candidates must not retry all at once


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionSettings:
    """Which Lease, and its times in seconds, named as in client-go. ``release`` frees it at the end."""

    name: str
    namespace: str
    lease: int = 15
    renew_deadline: float = 10.0
    retry: float = 2.0
    release: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.retry * _JITTER < self.renew_deadline < self.lease:
            raise ValueError(
                f"the lease ({self.lease} s) must be longer than the renew deadline "
                f"({self.renew_deadline:g} s), and that longer than {_JITTER} retries "
                f"({self.retry:g} s)"
            )


class Term:
    """The time during which one process leads; ``until`` is a time of the loop.

    Reconcilers check whether it holds. The rest is for the elector.
    """

    __slots__ = ("_clock", "_ended", "number", "until")

    def __init__(self, number: int, until: float, clock: Callable[[], float]) -> None:
        self.number = number
        self.until = until
        self._clock = clock
        self._ended = False

    def holds(self) -> bool:
        """Whether this process may act. Check it right before each write."""
        return not self._ended and self._clock() < self.until

    def extend(self, until: float) -> None:
        """Extend the term, unless it was ended."""
        if not self._ended:
            self.until = until

    def end(self) -> None:
        """End the term. It cannot be extended afterwards."""
        self.until = min(self.until, self._clock())
        self._ended = True


Work = Callable[[Term], Awaitable[None]]


class Elector:
    """One candidate. Its identity is made unique, so that two processes are never mistaken for one."""

    def __init__(
        self,
        client: Client,
        identity: str,
        environment: ExecutionEnvironment,
        settings: ElectionSettings,
    ) -> None:
        self.name = settings.name
        self.identity = f"{identity}_{environment.uid()}"
        self.term: Term | None = None
        self._settings = settings
        self._chance = environment.chance
        lock_settings = LeaseLockSettings(settings.name, settings.namespace, settings.lease)
        self._lock = LeaseLock(client, self.identity, environment, lock_settings)
        self._last_problem = ""

    async def lead(self, work: Work, competes_again: Callable[[], bool] = lambda: True) -> None:
        """Do the work whenever, and only while, this process leads.

        After a lost term it competes again, unless ``competes_again`` returns False. It returns when the work
        has ended by itself and the Lease is released; an exception of the work is raised. Cancelling
        this cancels the work, and the Lease is renewed until the work has ended.
        """
        while not await self._serve(await self._acquired(), work) and competes_again():
            _log.info("competing again", extra=self._about())

    def problems(self) -> list[str]:
        """Problems for a health check: the work still runs long after its term has ended."""
        if self.term is None or _loop_time() < self.term.until + self._settings.lease:
            return []
        return [f"the lease {self._settings.name} was lost and the work has not ended"]

    async def _acquired(self) -> Term:
        try:
            while (term := await self._attempt()) is None:
                pause = self._settings.retry * (1 + _JITTER * self._chance.random())
                await asyncio.sleep(pause)
        except asyncio.CancelledError:
            await self._release()
            raise
        return term

    async def _attempt(self) -> Term | None:
        try:
            async with asyncio.timeout(self._patience):
                held = await self._lock.acquire()
        except Exception as error:  # noqa: BLE001 - whatever it is, there is another attempt
            self._log_problem(error)
            return None
        self._last_problem = ""
        return None if held is None else self._term(held)

    def _term(self, held: HeldLease) -> Term:
        return Term(held.number, self._end_of(held), asyncio.get_running_loop().time)

    def _end_of(self, held: HeldLease) -> float:
        return held.since + self._settings.renew_deadline

    @property
    def _patience(self) -> float:
        """The time limit of one attempt, so that there is time for a second."""
        return self._settings.renew_deadline / 2

    async def _serve(self, term: Term, work: Work) -> bool:
        """Whether the work ended by itself, and not with the term."""
        self.term = term
        _log.info("leading", extra=self._about() | {"term": term.number})
        scope = Scope("election")
        renewing = scope.spawn(self._renewals(term), "renewals")
        working = scope.spawn(_awaited(work(term)), "work")
        lost = False
        try:
            await asyncio.wait([renewing, working], return_when=asyncio.FIRST_COMPLETED)
            lost = not working.done()
        finally:
            await self._finish(scope, term, lost=lost)
        if not working.cancelled():
            working.result()
        return not lost

    async def _finish(self, scope: Scope, term: Term, *, lost: bool) -> None:
        try:
            await scope.close()  # the work first, while the renewals go on
        finally:
            term.end()
            self.term = None
            _log.info("not leading", extra=self._about() | {"term": term.number, "lost": lost})
        if not lost:
            await self._release()

    async def _renewals(self, term: Term) -> None:
        """Renew until the Lease is lost: another process holds it, or the deadline has passed."""
        started = _loop_time()
        while term.holds():
            await asyncio.sleep(min(started + self._settings.retry, term.until) - _loop_time())
            started = _loop_time()
            try:
                async with asyncio.timeout_at(min(started + self._patience, term.until)):
                    held = await self._lock.renew()
            except Exception as error:  # noqa: BLE001 - whatever it is, the deadline decides
                self._log_problem(error)
                continue
            self._last_problem = ""
            if held is None:
                term.end()
            else:
                term.extend(self._end_of(held))

    async def _release(self) -> None:
        """Release the Lease if the settings ask for it. If that fails the Lease expires by itself."""
        if not self._settings.release:
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._lock.release()
        except Exception as error:  # noqa: BLE001 - whatever it is, the handover only takes longer
            self._log_problem(error)

    def _log_problem(self, error: Exception) -> None:
        """Log a problem when it starts and when it changes, not at each attempt."""
        problem = f"{type(error).__name__}: {error}"
        if isinstance(error, TimeoutError):
            problem = f"no answer within {self._patience:g} s"
        if problem != self._last_problem:
            self._last_problem = problem
            _log.warning("lease request failed", extra=self._about() | {"error": problem})

    def _about(self) -> dict[str, object]:
        settings = self._settings
        return {"lease": f"{settings.namespace}/{settings.name}", "identity": self.identity}


async def _awaited(work: Awaitable[None]) -> None:
    await work


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
