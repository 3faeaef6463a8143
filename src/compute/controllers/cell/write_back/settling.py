"""How long a copy may wait for the Instance it is of to come to rest."""

import asyncio
from datetime import timedelta

from compute.api.compute import Instance
from compute.decide import settling
from kubekit.runtime.requests import Request


class Settling:
    """Instances that are about to be written again, and since when."""

    def __init__(self) -> None:
        self._since: dict[Request, float] = {}
        self._usual = settling.StartupTime()

    def left(self, request: Request, instance: Instance) -> timedelta | None:
        """How much longer to wait for an Instance; None when it is to be copied as it is."""
        now = asyncio.get_running_loop().time()
        if settling.is_settled(instance):
            since = self._since.pop(request, None)
            if since is not None:
                self._usual.took(timedelta(seconds=now - since))
            return None
        waited = timedelta(seconds=now - self._since.setdefault(request, now))
        left = self._usual.moment - waited
        return left if left > timedelta() else None

    def forget(self, request: Request) -> None:
        """The Instance has settled, or gone."""
        self._since.pop(request, None)
