"""A work queue with workers. A key is reconciled by at most one worker at a time.

A key that is added while it is being reconciled is requeued. So a reconcile pass decides by the
stored state and never by events. A pass that raises `ApiError` is retried with exponential backoff.
Nothing runs while the queue is empty.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

from kubekit.api.errors import ApiError

K = TypeVar("K", bound=Hashable)

_FIRST_RETRY: Final = 0.05  # seconds; doubled with each refusal of the same key
_LAST_RETRY: Final = 30.0
_log: Final = logging.getLogger(__name__)


class KeyedWorker(Generic[K]):
    """A queue of keys and the function that reconciles them."""

    def __init__(
        self, reconcile: Callable[[K], Awaitable[None]], *, max_concurrent: int = 64
    ) -> None:
        self._reconcile = reconcile
        self._max_concurrent = max_concurrent
        self._waiting: deque[K] = deque()
        self._due: set[K] = set()  # waiting, or to be requeued after its pass
        self._running: dict[K, asyncio.Task[None]] = {}
        self._later: dict[K, asyncio.TimerHandle] = {}
        self._refusals: dict[K, int] = {}
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._closed = False
        self._stop_listening: Callable[[], None] = _nothing

    def add(self, key: K) -> None:
        """Reconcile this key as soon as a worker is free."""
        if self._closed:
            return
        if timer := self._later.pop(key, None):
            timer.cancel()
        if key in self._due:
            return
        self._due.add(key)
        self._at_rest.clear()
        if key not in self._running:
            self._waiting.append(key)
            self._start()

    def on_close(self, stop_listening: Callable[[], None]) -> None:
        """Call ``stop_listening`` when the worker is closed."""
        self._stop_listening = stop_listening

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do, now or later."""
        return not (self._due or self._running or self._later)

    async def rest(self) -> None:
        """Wait until there is nothing to do."""
        await self._at_rest.wait()

    async def settle(self) -> None:
        """Wait until every queued key was reconciled; refused keys may still be retried later."""
        while self._running:
            await asyncio.wait(self._running.values(), return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Drop what waits and stop what runs."""
        self._closed = True
        self._stop_listening()
        self._waiting.clear()
        self._due.clear()
        for timer in self._later.values():
            timer.cancel()
        self._later.clear()
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._at_rest.set()

    def _start(self) -> None:
        while self._waiting and len(self._running) < self._max_concurrent:
            key = self._waiting.popleft()
            self._running[key] = asyncio.get_running_loop().create_task(self._run(key))

    async def _run(self, key: K) -> None:
        self._due.discard(key)
        try:
            await self._reconcile(key)
        except ApiError as refusal:
            self._postpone(key, refusal)
        except Exception:  # noqa: BLE001 - logged below, and it is one object of many
            # A bug with one object must not stop the work on all others.
            _log.exception("reconcile failed", extra={"key": repr(key)})
            self._refusals.pop(key, None)
        else:
            self._refusals.pop(key, None)
        finally:
            del self._running[key]
            if key in self._due:
                self._waiting.append(key)
            self._start()
            if self.idle:
                self._at_rest.set()

    def _postpone(self, key: K, refusal: ApiError) -> None:
        refusals = self._refusals.get(key, 0)
        self._refusals[key] = refusals + 1
        delay = min(_LAST_RETRY, _FIRST_RETRY * 2.0 ** min(refusals, 20))
        _log.info(
            "reconcile refused", extra={"key": repr(key), "why": str(refusal), "retry": delay}
        )
        if not self._closed:
            self._later[key] = asyncio.get_running_loop().call_later(delay, self.add, key)


def _nothing() -> None:
    """The default before `on_close`."""
