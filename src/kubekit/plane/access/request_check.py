"""The check at the door of a server, by the rules of the plane that is asked for."""

from typing import Protocol

from kubekit.plane.access.attributes import Attributes
from kubekit.plane.access.authorizer import Authorizer
from kubekit.plane.users import User


class Guarded(Protocol):
    """A plane that knows who may do what."""

    @property
    def access(self) -> Authorizer: ...


class RbacCheck:
    """The door's question, answered by the plane that is asked about."""

    def check(self, plane: Guarded, user: User, attributes: Attributes) -> None:
        plane.access.check(user, attributes)
