"""Leader election: of many processes, one at a time does the work.

    compete --> lead: the work runs beside the renewals --> compete again, or the end
                      lost    the work is cancelled; its writes were refused before that
                      ended   the work came to its end, then the Lease is let go of

A `Term` tells whether its process may still act. It ends, by the clock of the process itself, before
anybody else can begin: it is counted from before the last renewal was *sent*, while the others wait
for a whole lease from when they *saw* that renewal. What is between the renew deadline and the lease
is left for writes that are on their way. `Term.number` never falls as long as the Lease exists, so
whoever keeps it can refuse a writer of an earlier term.
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

_JITTER: Final = 1.2  # of the retry, added at most; candidates must not come all at once


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionSettings:
    """Which Lease, and the seconds that client-go names so. ``release`` lets go of it at the end."""

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
    """The time for which one process leads; ``until`` is a time of the loop.

    Reconcilers ask whether it holds. The rest is for the elector.
    """

    __slots__ = ("_clock", "_ended", "number", "until")

    def __init__(self, number: int, until: float, clock: Callable[[], float]) -> None:
        self.number = number
        self.until = until
        self._clock = clock
        self._ended = False

    def holds(self) -> bool:
        """Whether this process may act. Ask right before each write."""
        return not self._ended and self._clock() < self.until

    def extend(self, until: float) -> None:
        """Go on for longer, unless it was given up."""
        if not self._ended:
            self.until = until

    def end(self) -> None:
        """Give the rest of it up, for good."""
        self.until = min(self.until, self._clock())
        self._ended = True


Work = Callable[[Term], Awaitable[None]]


class Elector:
    """One candidate. Its identity is made unique, so that no two processes are taken for one."""

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
        place = LeaseLockSettings(settings.name, settings.namespace, settings.lease)
        self._hold = LeaseLock(client, self.identity, environment, place)
        self._trouble = ""

    async def lead(self, work: Work, again: Callable[[], bool] = lambda: True) -> None:
        """Do the work whenever, and only while, this process leads.

        After a term that was lost it competes again, unless ``again`` says no.
        It ends when the work ends by itself, after the Lease was let go of; what the work raises is
        raised. When this is cancelled the work is cancelled, and the Lease renewed until it is over.
        """
        while not await self._serve(await self._acquired(), work) and again():
            _log.info("competing again", extra=self._about())

    def problems(self) -> list[str]:
        """What is wrong, for a health check: the term is over for long, and the work is not."""
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
                held = await self._hold.acquire()
        except Exception as error:  # noqa: BLE001 - of whatever kind: there is another attempt
            self._note(error)
            return None
        self._trouble = ""
        return None if held is None else self._term(held)

    def _term(self, held: HeldLease) -> Term:
        return Term(held.number, self._end_of(held), asyncio.get_running_loop().time)

    def _end_of(self, held: HeldLease) -> float:
        return held.since + self._settings.renew_deadline

    @property
    def _patience(self) -> float:
        """How long one attempt may take, so that there is time for a second."""
        return self._settings.renew_deadline / 2

    async def _serve(self, term: Term, work: Work) -> bool:
        """Whether the work ended by itself, and not with the term."""
        self.term = term
        _log.info("leading", extra=self._about() | {"term": term.number})
        scope = Scope("election")
        keeping = scope.spawn(self._renewals(term), "renewals")
        working = scope.spawn(_awaited(work(term)), "work")
        lost = False
        try:
            await asyncio.wait([keeping, working], return_when=asyncio.FIRST_COMPLETED)
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
        """Renew until the Lease is lost: it is another's, or the deadline passed."""
        started = _loop_time()
        while term.holds():
            await asyncio.sleep(min(started + self._settings.retry, term.until) - _loop_time())
            started = _loop_time()
            try:
                async with asyncio.timeout_at(min(started + self._patience, term.until)):
                    held = await self._hold.renew()
            except Exception as error:  # noqa: BLE001 - of whatever kind: the deadline decides
                self._note(error)
                continue
            self._trouble = ""
            if held is None:
                term.end()
            else:
                term.extend(self._end_of(held))

    async def _release(self) -> None:
        """Hand over, if that is wanted and can be done. Otherwise the Lease runs out by itself."""
        if not self._settings.release:
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._hold.release()
        except Exception as error:  # noqa: BLE001 - of whatever kind: it only takes longer then
            self._note(error)

    def _note(self, error: Exception) -> None:
        """Log what is wrong when it begins and when it changes, not at each attempt."""
        trouble = f"{type(error).__name__}: {error}"
        if isinstance(error, TimeoutError):
            trouble = f"no answer within {self._patience:g} s"
        if trouble != self._trouble:
            self._trouble = trouble
            _log.warning("no answer about the lease", extra=self._about() | {"error": trouble})

    def _about(self) -> dict[str, object]:
        settings = self._settings
        return {"lease": f"{settings.namespace}/{settings.name}", "identity": self.identity}


async def _awaited(work: Awaitable[None]) -> None:
    await work


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
