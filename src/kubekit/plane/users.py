"""The user of a request: the result of authentication, and the input of authorization."""

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
PLANE_USER: Final = User("system:plane", (MASTERS, AUTHENTICATED))
"""The user of changes that the plane itself makes, such as those of its controllers."""
