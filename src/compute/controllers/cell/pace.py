"""How soon a deployment is looked at again.

A look goes through all Instances of the deployment, and each of them changes many times on its way
up. One look per change would cost the square of their number, and a write of the deployment's status
for each. So the next look waits for a time that grows with their number, and sees all changes of it.
"""

import asyncio
from datetime import timedelta
from typing import Final

from compute.runtime.requests import Request

_EACH: Final = 0.001  # seconds per Instance
_MOST: Final = 0.25  # four looks a second at a thousand Instances


class Pace:
    """When each deployment may be looked at next. What failed is not held back by it."""

    def __init__(self) -> None:
        self._next: dict[Request, float] = {}

    def early(self, request: Request) -> timedelta | None:
        """How much too early a look would be; None when it is time."""
        left = self._next.get(request, 0.0) - asyncio.get_running_loop().time()
        return timedelta(seconds=left) if left > 0 else None

    def looked(self, request: Request, instances: int) -> None:
        """A look has ended well, and went through so many Instances."""
        now = asyncio.get_running_loop().time()
        self._next[request] = now + min(instances * _EACH, _MOST)

    def forget(self, request: Request) -> None:
        """The deployment has gone."""
        self._next.pop(request, None)
