"""The errors for denials and failures of webhooks. Clients rely on these messages."""

from functools import lru_cache
from typing import Final, cast

from kubekit.api import errors
from kubekit.api.errors import ApiError, BadRequest, Forbidden, InternalError
from kubekit.api.kinds.admission import AdmissionStatus
from kubekit.api.resource import Resource
from kubekit.api.status import Status, StatusCause, StatusDetails

_LEAST_CODE: Final = 400
_MOST_CODE: Final = 599
_LONGEST_MESSAGE: Final = 16 * 1024
_LONGEST_REASON: Final = 256
_MOST_CAUSES: Final = 100


class CallFailed(Exception):
    """A webhook could not be called, or its response is invalid. ``failurePolicy`` decides."""


def failed(name: str, why: str) -> InternalError:
    """The error for a change whose required webhook did not answer."""
    return _internal(f'failed calling webhook "{name}": {why}')


def bad_patch(name: str, why: str) -> InternalError:
    """The error for a change that a webhook would make invalid."""
    return _internal(f'admission webhook "{name}" {why}')


def no_dry_run(name: str) -> BadRequest:
    return BadRequest(f'admission webhook "{name}" does not support dry run')


def undecided(resource: Resource, name: str, why: str) -> Forbidden:
    """The error for a change when the match conditions of a webhook cannot be evaluated."""
    words = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    details = StatusDetails(name=name, group=resource.group, kind=resource.plural)
    return Forbidden(f'{words} "{name}" is forbidden: {why}', details)


def denied(name: str, status: AdmissionStatus | None) -> ApiError:
    """The error for a webhook's denial, with the webhook's code and reason.

    The error is of the class that an HTTP client would raise. A response may have megabytes; the
    texts from it are cut.
    """
    status = status or AdmissionStatus()
    code = status.code if _LEAST_CODE <= status.code <= _MOST_CODE else _LEAST_CODE
    reason = status.reason[:_LONGEST_REASON]
    why = status.message[:_LONGEST_MESSAGE] or reason
    words = f'admission webhook "{name}" denied the request'
    message = f"{words}: {why}" if why else f"{words} without explanation"
    return _class_of(code, reason)(message, _cut(status.details))


@lru_cache(256)
def _class_of(code: int, reason: str) -> type[ApiError]:
    """That class, with the webhook's own code and reason."""
    kind = type(errors.from_status(Status(reason=reason, code=code)))
    return cast("type[ApiError]", type("Denied", (kind,), {"code": code, "reason": reason}))


def _cut(details: StatusDetails | None) -> StatusDetails | None:
    if details is None or len(details.causes) <= _MOST_CAUSES:
        return details
    return StatusDetails(
        name=details.name,
        group=details.group,
        kind=details.kind,
        uid=details.uid,
        causes=details.causes[:_MOST_CAUSES],
        retry_after_seconds=details.retry_after_seconds,
    )


def _internal(why: str) -> InternalError:
    details = StatusDetails(causes=(StatusCause(message=why),))
    return InternalError(f"Internal error occurred: {why}", details)
