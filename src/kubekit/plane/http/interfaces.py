"""The interfaces of the HTTP layer: planes, authorization, and the read-only pages."""

from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from kubekit.plane.access.attributes import Attributes
from kubekit.plane.access.authorizer import Authorizer
from kubekit.plane.http.audit.audit_log import Audit
from kubekit.plane.http.fairness import FairnessLimits
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
    """What the HTTP layer needs of a plane."""

    @property
    def kinds(self) -> Kinds: ...

    @property
    def registry(self) -> Registry: ...

    @property
    def access(self) -> Authorizer: ...


class AccessCheck(Protocol):
    """Authorizes requests. Raises ``errors.Forbidden``."""

    def check(self, plane: PlaneBackend, user: User, attributes: Attributes) -> None: ...


class AllowAll:
    """Every authenticated user may do everything."""

    def check(self, plane: PlaneBackend, user: User, attributes: Attributes) -> None:
        return


class RbacCheck:
    """Authorizes by the roles and bindings of the requested plane."""

    def check(self, plane: PlaneBackend, user: User, attributes: Attributes) -> None:
        plane.access.check(user, attributes)


class PageHandler(Protocol):
    """The pages that describe a plane: discovery, OpenAPI, version, health, metrics.

    The path of the request is without the plane's prefix. ``None`` means that there is no such page.
    """

    def answer(self, plane: PlaneBackend, request: ServerRequest) -> Response | None: ...

    def observe(
        self, plane: PlaneBackend | None, attributes: Attributes, status: int, seconds: float
    ) -> None:
        """Called after each response; for a watch, at its start.

        ``plane`` is None for an unauthenticated request.
        """
        ...


class NoPages:
    """A server without pages."""

    def answer(self, plane: PlaneBackend, request: ServerRequest) -> Response | None:
        return None

    def observe(
        self, plane: PlaneBackend | None, attributes: Attributes, status: int, seconds: float
    ) -> None:
        return


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """The options of a server."""

    site: PageHandler = field(default_factory=NoPages)
    access: AccessCheck = field(default_factory=AllowAll)
    limits: Limits = field(default_factory=Limits)
    signing: SigningKey | None = None
    """The key for service account tokens; without it, tokens are lost at the next restart."""
    anonymous_health: bool = False
    """Whether anonymous requests for /livez, /readyz and /version are allowed."""
    audit: Audit | None = None
    """The audit log for requests that change something or are refused."""
    fairness: FairnessLimits = field(default_factory=FairnessLimits)
    """The limits by which the planes share the server."""


PLAIN: Final = ServerOptions()
