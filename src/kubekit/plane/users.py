"""Users, as authentication identifies them and authorization judges them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

MASTERS: Final = "system:masters"
AUTHENTICATED: Final = "system:authenticated"


@dataclass(frozen=True, slots=True)
class User:
    """An authenticated user. ``extra`` holds further attributes."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ANONYMOUS: Final = User("system:anonymous", ("system:unauthenticated",))
ITSELF: Final = User("system:plane", (MASTERS, AUTHENTICATED))
"""The plane itself, for changes without a request."""
