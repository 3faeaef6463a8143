"""Who asks, and how that is known."""

from dataclasses import dataclass
from typing import Final

from kubekit.plane.registry.registry import Registry
from kubekit.plane.users import ANONYMOUS, AUTHENTICATED, User

CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"
"""What is known of a user beside the name: which credential it was, for a log."""
UNAUTHENTICATED: Final = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody, and how it is known that it is he.

    ``how`` is token, certificate, serviceaccount or anonymous. ``original`` is who really asks,
    where he asks in the name of the user. ``registry`` is of the only plane where the user is
    known; None means every plane of the server.
    """

    user: User
    how: str
    original: User | None = None
    registry: Registry | None = None

    def is_known_in(self, registry: Registry) -> bool:
        return self.registry is None or self.registry is registry


def authenticated(user: User) -> User:
    """The user, who is now one of all who are known. The anonymous one never is."""
    groups = user.groups
    if user.name == ANONYMOUS.name or AUTHENTICATED in groups or UNAUTHENTICATED in groups:
        return user
    return User(user.name, (*groups, AUTHENTICATED), user.uid, user.extra)
