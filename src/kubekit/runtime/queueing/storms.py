"""Storms: an object that is reconciled again and again without a change of its spec.

Each of its passes succeeds, so nothing else reports it.
"""

import logging
from collections.abc import Callable
from math import inf
from typing import Final

from kubekit.runtime.reporting.counters import BusiestObject
from kubekit.runtime.requests import Request

_log: Final = logging.getLogger(__name__)

Generation = Callable[[Request], int | None]


class StormDetector:
    """Logs a warning for an object with too many passes within a minute, as ``busiest`` counts them.

    ``generation`` returns the generation of the object that a request names, which rises with each
    change of the spec. It is called only when a storm is near.
    """

    def __init__(
        self, controller: str, limit: int, generation: Generation, busiest: BusiestObject
    ) -> None:
        self._controller = controller
        self._limit = limit
        self._generation = generation
        self._busiest = busiest
        self._minute = 0.0
        # The objects that are near a storm in this minute: the count from which to judge, and the
        # generation before.
        self._near: dict[Request, tuple[float, int | None]] = {}

    def passed(self, request: Request, now: float) -> None:
        """Count a pass at this loop time."""
        count = self._busiest.add(request, now)
        if self._busiest.started != self._minute:
            self._minute = self._busiest.started
            self._near.clear()
        if count < self._limit // 2:
            return
        if request not in self._near:
            self._near[request] = self._limit, self._generation(request)
        elif count > self._near[request][0]:
            self._judge(request, count)

    def _judge(self, request: Request, count: int) -> None:
        """Warn once in a minute, or wait for as many passes again if the spec has changed."""
        _, before = self._near[request]
        generation = self._generation(request)
        if generation != before:
            self._near[request] = count + self._limit, generation
            return
        self._near[request] = inf, generation
        about = {"controller": self._controller, "request": str(request), "passes": count}
        _log.warning(
            "reconcile storm: the object is reconciled again and again without a change of its "
            "spec within a minute",
            extra=about,
        )
