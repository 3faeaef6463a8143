"""The state of one request while it is processed, for metrics and the audit log."""

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
# Longer than the path of any object. Clients may send more, and entries are buffered in memory.
_LONGEST_PATH: Final = 1024


class Exchange:
    """A request and its state so far. ``allowed`` is set once it is authorized."""

    __slots__ = ("allowed", "attributes", "identity", "plane", "request", "started")

    def __init__(self, request: ServerRequest, identity: Identity | None, started: float) -> None:
        self.request = request
        self.identity = identity
        self.started = started
        self.attributes = _UNKNOWN
        self.allowed = False
        self.plane: PlaneBackend | None = None

    def is_due(self, code: int) -> bool:
        """Whether the request is recorded in the audit log."""
        identity = self.identity
        impersonated = identity is not None and identity.original is not None
        return is_due(self.attributes.verb, code, impersonated=impersonated)

    def recorded(
        self, audit: Audit, environment: ExecutionEnvironment, response: Response, seconds: float
    ) -> Response:
        """Record the request. The response gets its id in the audit log as a header."""
        identity, request = self.identity, self.request
        attributes = self.attributes
        if request.subject and not attributes.name:
            attributes = replace(attributes, name=request.subject)
        audit_id = audit.identify()
        audit.record(
            AuditEntry(
                id=audit_id,
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
            (*response.headers, (HEADER, audit_id)),
            response.close,
        )
