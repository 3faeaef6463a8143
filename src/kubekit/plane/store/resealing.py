"""Sealing everything anew while the store is in use: a piece at a time, writes go in between.

It begins by itself when a store is opened whose rows are not all sealed as they should be: there is
a new key in front, or other resources are to be sealed, or an earlier life did not come to the end.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from kubekit.plane.store.errors import KeysRefused, UnreadableStore, WritesStopped
from kubekit.plane.store.log import Log
from kubekit.plane.store.sqlite_errors import closed
from kubekit.plane.store.writer import Writer, done

Result = TypeVar("Result")

_log: Final = logging.getLogger(__name__)
_LATER: Final = 60.0  # seconds until it is tried again


class Resealing:
    """Keeps the rows of one store sealed with the newest key."""

    def __init__(self, log: Log, writer: Writer) -> None:
        self._log = log
        self._writer = writer
        self._alone = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._in_background())

    def stop(self) -> None:
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    async def run(self) -> None:
        """Seal everything with the key that is the first one now.

        One at a time: of two, one could forget the data key that the other still seals with.
        """
        async with self._alone:
            if not await self._done(lambda: self._log.outdated):
                return
            generation = await self._done(self._log.renew)
            further: int | None = 0
            while further is not None:
                further = await self._done(partial(self._log.reseal, further))
            await self._done(partial(self._log.retire, generation))
            _log.info("everything is sealed with the newest key", extra={"path": self._log.path})

    async def _done(self, job: Callable[[], Result]) -> Result:
        """The result of a job. Nobody does any once the store closes: the next life goes on."""
        if self._stopped:
            raise closed(self._log.path)
        return await done(self._writer, job)

    async def _in_background(self) -> None:
        """Try until it is done, or can never be."""
        while self._log.stopped is None:
            try:
                await self.run()
            except (KeysRefused, WritesStopped) as refusal:
                _log.warning("not sealed anew yet", extra={"why": str(refusal), "retry": _LATER})
                await asyncio.sleep(_LATER)
            except UnreadableStore as damage:
                _log.error("not sealed anew", extra={"why": str(damage)})
                return
            else:
                return
