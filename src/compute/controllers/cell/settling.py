"""How long a copy may wait for the Instance it is of to come to rest."""

import asyncio
from datetime import timedelta

from compute.api.compute import Instance
from compute.decide import settling
from compute.runtime.requests import Request


class Settling:
    """Instances that are about to be written again, and when they are copied at the latest."""

    def __init__(self) -> None:
        self._until: dict[Request, float] = {}

    def left(self, request: Request, instance: Instance) -> timedelta | None:
        """How much longer to wait for an Instance; None when it is to be copied as it is."""
        if settling.is_settled(instance):
            self.forget(request)
            return None
        now = asyncio.get_running_loop().time()
        left = self._until.setdefault(request, now + settling.MOMENT.total_seconds()) - now
        return timedelta(seconds=left) if left > 0 else None

    def forget(self, request: Request) -> None:
        """The Instance has settled, or gone."""
        self._until.pop(request, None)
