"""Seals all rows with the newest key while the store is in use, one piece at a time.

It starts when a store is opened whose rows are not all sealed as configured: there is a new first
key, other resources have to be sealed, or an earlier process did not finish.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from kubekit.plane.store.errors import KeysRefused, UnreadableStore, WritesStopped
from kubekit.plane.store.log import Log
from kubekit.plane.store.sqlite_errors import closed
from kubekit.plane.store.writer import Writer, run_job

Result = TypeVar("Result")

_log: Final = logging.getLogger(__name__)
_RETRY: Final = 60.0  # seconds


class Resealing:
    """Keeps the rows of one store sealed with the newest key."""

    def __init__(self, log: Log, writer: Writer) -> None:
        self._log = log
        self._writer = writer
        self._exclusive = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._in_background())

    def stop(self) -> None:
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    async def run(self) -> None:
        """Seal everything with the key that is now the first one.

        One run at a time: otherwise one could remove the data key that the other still uses.
        """
        async with self._exclusive:
            if not await self._run_job(lambda: self._log.outdated):
                return
            generation = await self._run_job(self._log.renew)
            position: int | None = 0
            while position is not None:
                position = await self._run_job(partial(self._log.reseal, position))
            await self._run_job(partial(self._log.retire, generation))
            _log.info("everything is sealed with the newest key", extra={"path": self._log.path})

    async def _run_job(self, job: Callable[[], Result]) -> Result:
        """The result of a job.

        No job starts once the store closes: the next process continues.
        """
        if self._stopped:
            raise closed(self._log.path)
        return await run_job(self._writer, job)

    async def _in_background(self) -> None:
        """Retry until everything is sealed, or cannot be."""
        while self._log.stopped is None:
            try:
                await self.run()
            except (KeysRefused, WritesStopped) as refusal:
                _log.warning(
                    "not sealed with the newest key yet",
                    extra={"why": str(refusal), "retry": _RETRY},
                )
                await asyncio.sleep(_RETRY)
            except UnreadableStore as damage:
                _log.error("not sealed with the newest key", extra={"why": str(damage)})
                return
            else:
                return
