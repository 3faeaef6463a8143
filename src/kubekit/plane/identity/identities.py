"""The identity of a client, and how it was authenticated."""

from dataclasses import dataclass
from typing import Final

from kubekit.plane.registry.registry import Registry
from kubekit.plane.users import ANONYMOUS, AUTHENTICATED, User

CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"
"""The key of a user's extra attribute that identifies the credential, for the audit log."""
UNAUTHENTICATED: Final = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class Identity:
    """A user, and how it was authenticated.

    ``how`` is token, certificate, serviceaccount or anonymous. ``original`` is the authenticated
    user, if it impersonates ``user``. ``registry`` is that of the only plane where the user is
    valid; None means every plane of the server.
    """

    user: User
    how: str
    original: User | None = None
    registry: Registry | None = None

    def is_known_in(self, registry: Registry) -> bool:
        return self.registry is None or self.registry is registry


def authenticated(user: User) -> User:
    """The user with the group of all authenticated users, unless it is anonymous."""
    groups = user.groups
    if user.name == ANONYMOUS.name or AUTHENTICATED in groups or UNAUTHENTICATED in groups:
        return user
    return User(user.name, (*groups, AUTHENTICATED), user.uid, user.extra)
