"""Refusals that concern one object of many: the others are looked after all the same."""

from collections.abc import Iterator
from contextlib import contextmanager

from kubekit.api.errors import ApiError, Forbidden, Invalid, TooLarge


class Refusals:
    """What was refused in a pass. Trying again at once cannot help, but somebody may change it."""

    def __init__(self) -> None:
        self._noted: list[ApiError] = []

    def __bool__(self) -> bool:
        return bool(self._noted)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Go on after a refusal; anything else that goes wrong ends the pass."""
        try:
            yield
        except (Forbidden, Invalid, TooLarge) as refusal:
            self._noted.append(refusal)

    def tell(self) -> None:
        """Raise the first refusal, if there was one: the pass is then tried again, later and later."""
        if self._noted:
            raise self._noted[0]
