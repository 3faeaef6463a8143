"""What the door is handed from outside: planes, who may do what, and the read-only pages."""

from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from kubekit.plane.access.attributes import Attributes
from kubekit.plane.access.authorizer import Authorizer
from kubekit.plane.http.audit.audit_log import Audit
from kubekit.plane.http.fairness import Shares
from kubekit.plane.http.limits import Limits
from kubekit.plane.http.messages import Response, ServerRequest
from kubekit.plane.identity.web_tokens import SigningKey
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.users import User

__all__ = [
    "PLAIN",
    "AccessCheck",
    "AllowAll",
    "Attributes",
    "NoPages",
    "PageHandler",
    "PlaneBackend",
    "ServerOptions",
    "Verb",
]

Verb = Literal["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]


class PlaneBackend(Protocol):
    """What the door needs of a plane."""

    @property
    def kinds(self) -> Kinds: ...

    @property
    def registry(self) -> Registry: ...

    @property
    def access(self) -> Authorizer: ...


class AccessCheck(Protocol):
    """Who may do what. Raises ``errors.Forbidden``."""

    def check(self, plane: PlaneBackend, user: User, attributes: Attributes) -> None: ...


class AllowAll:
    """Whoever is authenticated may do everything."""

    def check(self, plane: PlaneBackend, user: User, attributes: Attributes) -> None:
        return


class PageHandler(Protocol):
    """The pages that describe a plane: discovery, OpenAPI, version, health, metrics.

    The path of the request is without the plane's prefix. ``None`` means that there is no such
    page, and the request is one for a resource.
    """

    def answer(self, plane: PlaneBackend, request: ServerRequest) -> Response | None: ...

    def observe(
        self, plane: PlaneBackend | None, attributes: Attributes, status: int, seconds: float
    ) -> None:
        """Told after each answer. A watch is told when it begins. Strangers are in no plane."""
        ...


class NoPages:
    """A door without descriptions."""

    def answer(self, plane: PlaneBackend, request: ServerRequest) -> Response | None:
        return None

    def observe(
        self, plane: PlaneBackend | None, attributes: Attributes, status: int, seconds: float
    ) -> None:
        return


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How a server differs from the plain one."""

    site: PageHandler = field(default_factory=NoPages)
    access: AccessCheck = field(default_factory=AllowAll)
    limits: Limits = field(default_factory=Limits)
    signing: SigningKey | None = None
    """What signs the tokens of service accounts; without one they end with the process."""
    anonymous_health: bool = False
    """Whether everybody may ask for /livez, /readyz and /version."""
    audit: Audit | None = None
    """Who remembers the requests that change something or are refused."""
    shares: Shares = field(default_factory=Shares)
    """How the planes share the server."""


PLAIN: Final = ServerOptions()
