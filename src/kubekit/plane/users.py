"""Who asks. Everything that is decided about a request is decided about one of these."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

MASTERS: Final = "system:masters"
AUTHENTICATED: Final = "system:authenticated"


@dataclass(frozen=True, slots=True)
class User:
    """Somebody, as the authentication found out. ``extra`` is what else it knows of him."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ANONYMOUS: Final = User("system:anonymous", ("system:unauthenticated",))
ITSELF: Final = User("system:plane", (MASTERS, AUTHENTICATED))
"""The plane, when nobody asked it to."""
