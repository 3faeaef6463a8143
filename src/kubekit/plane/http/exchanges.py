"""One request on its way: what is found out about it, for those who count and those who remember."""

from typing import Final

from msgspec.structs import replace

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.http.audit.audit_lines import LONGEST_AGENT, shortened
from kubekit.plane.http.audit.audit_log import HEADER, Audit, AuditEntry, is_due
from kubekit.plane.http.interfaces import PlaneBackend
from kubekit.plane.http.messages import Response, ServerRequest
from kubekit.plane.identity.identities import Identity
from kubekit.plane.users import ANONYMOUS

_UNKNOWN = Attributes(verb="")
# No path of an object is as long. Anybody may send one that is, and entries wait for the disk.
_LONGEST_PATH: Final = 1024


class Exchange:
    """A request and what is known of it so far. ``allowed`` once access was granted."""

    __slots__ = ("allowed", "attributes", "identity", "plane", "request", "started")

    def __init__(self, request: ServerRequest, identity: Identity | None, started: float) -> None:
        self.request = request
        self.identity = identity
        self.started = started
        self.attributes = _UNKNOWN
        self.allowed = False
        self.plane: PlaneBackend | None = None

    def is_due(self, code: int) -> bool:
        """Whether the audit log wants to know of it."""
        identity = self.identity
        impersonated = identity is not None and identity.original is not None
        return is_due(self.attributes.verb, code, impersonated=impersonated)

    def recorded(
        self, audit: Audit, environment: ExecutionEnvironment, response: Response, seconds: float
    ) -> Response:
        """The response with the number under which the audit log has the request."""
        identity, request = self.identity, self.request
        attributes = self.attributes
        if request.subject and not attributes.name:
            attributes = replace(attributes, name=request.subject)
        number = audit.identify()
        audit.record(
            AuditEntry(
                id=number,
                at=environment.now(),
                seconds=seconds,
                attributes=attributes,
                path=shortened(request.path, _LONGEST_PATH),
                code=response.status,
                allowed=self.allowed,
                user=ANONYMOUS if identity is None else identity.user,
                original=None if identity is None else identity.original,
                how="" if identity is None else identity.how,
                source=request.caller.address,
                agent=request.headers.get("user-agent", "")[:LONGEST_AGENT],
                plane=request.prefix or "/",
                dry_run=request.dry_run,
            )
        )
        return Response(
            response.status,
            response.body,
            response.content_type,
            (*response.headers, (HEADER, number)),
            response.close,
        )
