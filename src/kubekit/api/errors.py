"""The errors by which a plane refuses a request.

The server raises these and sends them as ``Status`` objects, and the client raises the same class
again. So a reconciler catches the same errors from a local plane and from a remote one.

    ApiError
      BadRequest            400  the request cannot be understood
      Unauthorized          401  the caller is not authenticated
      Forbidden             403  the caller may not do this
      NotFound              404  there is no such object
      MethodNotAllowed      405  the kind does not have this verb
      NotAcceptable         406  no response in a format that the caller accepts
      AlreadyExists         409  the name is taken
      Conflict              409  the object has changed since it was read: read it again
      Expired               410  the revision was compacted: list again
      TooLarge              413  the body is larger than the plane accepts
      UnsupportedMediaType  415  the plane cannot read the format of the body
      Invalid               422  the object breaks its rules; retrying cannot help
      TooManyRequests       429  too many requests; retry after the stated time
      InternalError         500  an internal error of the plane
      Unavailable           503  no server answered; a retry may help
        Unreachable              the plane is known to be unreachable; logged already
      Timeout               504  no answer in time; the request may have taken effect
"""

from collections.abc import Iterable
from typing import ClassVar, Final

from kubekit.api.fields import FieldError
from kubekit.api.resource import Resource
from kubekit.api.status import Status, StatusCause, StatusDetails

NAMESPACE_TERMINATING: Final = "NamespaceTerminating"
"""The cause of a `Forbidden`: nothing can be created in a namespace that is being deleted."""


class ApiError(Exception):
    """A refusal. ``details`` names the object and, for `Invalid`, each field."""

    code: ClassVar[int] = 500
    reason: ClassVar[str] = ""

    def __init__(self, message: str, details: StatusDetails | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def to_status(self) -> Status:
        """The error as a Status object."""
        return Status(
            status="Failure",
            message=self.message,
            reason=self.reason,
            details=self.details,
            code=self.code,
        )

    def has_cause(self, reason: str) -> bool:
        """Whether the server gives this reason among the causes."""
        causes = self.details.causes if self.details is not None else ()
        return any(cause.reason == reason for cause in causes)


class BadRequest(ApiError):
    code, reason = 400, "BadRequest"


class Unauthorized(ApiError):
    code, reason = 401, "Unauthorized"


class Forbidden(ApiError):
    code, reason = 403, "Forbidden"


class NotFound(ApiError):
    code, reason = 404, "NotFound"


class MethodNotAllowed(ApiError):
    code, reason = 405, "MethodNotAllowed"


class NotAcceptable(ApiError):
    code, reason = 406, "NotAcceptable"


class AlreadyExists(ApiError):
    code, reason = 409, "AlreadyExists"


class Conflict(ApiError):
    code, reason = 409, "Conflict"


class Expired(ApiError):
    code, reason = 410, "Expired"


class TooLarge(ApiError):
    code, reason = 413, "RequestEntityTooLarge"


class UnsupportedMediaType(ApiError):
    code, reason = 415, "UnsupportedMediaType"


class Invalid(ApiError):
    code, reason = 422, "Invalid"


class TooManyRequests(ApiError):
    code, reason = 429, "TooManyRequests"


class InternalError(ApiError):
    code, reason = 500, "InternalError"


class Unavailable(ApiError):
    code, reason = 503, "ServiceUnavailable"


class Unreachable(Unavailable):
    """The plane is unreachable, and that has been logged once.

    A caller that fails because of it logs at debug level only.
    """


class Timeout(ApiError):
    code, reason = 504, "Timeout"


_BY_REASON: dict[str, type[ApiError]] = {kind.reason: kind for kind in ApiError.__subclasses__()}
# Reasons of other servers that have the same meaning.
_BY_REASON |= {"Gone": Expired, "ServerTimeout": Unavailable}
_BY_CODE: dict[int, type[ApiError]] = {
    kind.code: kind for kind in reversed(ApiError.__subclasses__())
} | {408: Timeout, 409: Conflict, 502: Unavailable}


def from_status(status: Status) -> ApiError:
    """The error in a Status. For an unknown reason the code decides."""
    kind = _BY_REASON.get(status.reason) or _BY_CODE.get(status.code, InternalError)
    return kind(status.message or f"the server answered {status.code}", status.details)


def not_found(resource: Resource, name: str) -> NotFound:
    subject = _subject(resource, name)
    return NotFound(f'{_qualified_plural(resource)} "{name}" not found', subject)


def already_exists(resource: Resource, name: str) -> AlreadyExists:
    subject = _subject(resource, name)
    return AlreadyExists(f'{_qualified_plural(resource)} "{name}" already exists', subject)


def conflict(resource: Resource, name: str, why: str) -> Conflict:
    subject = _subject(resource, name)
    return Conflict(
        f'Operation cannot be fulfilled on {_qualified_plural(resource)} "{name}": {why}', subject
    )


def invalid(resource: Resource, name: str, errors: Iterable[FieldError]) -> Invalid:
    """The refusal of an object, with one cause for each field that is wrong."""
    errors = tuple(errors)
    causes = tuple(
        StatusCause(reason=e.problem.value, message=e.message, field=str(e.path)) for e in errors
    )
    messages = ", ".join(str(e) for e in errors)
    text = f"[{messages}]" if len(errors) > 1 else messages
    kind = ".".join(filter(None, (resource.kind, resource.group)))
    details = StatusDetails(name=name, group=resource.group, kind=resource.kind, causes=causes)
    return Invalid(f'{kind} "{name}" is invalid: {text}', details)


def _subject(resource: Resource, name: str) -> StatusDetails:
    return StatusDetails(name=name, group=resource.group, kind=resource.plural)


def _qualified_plural(resource: Resource) -> str:
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural
