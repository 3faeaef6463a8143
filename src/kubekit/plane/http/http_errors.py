"""The errors of HTTP itself, as the same Status documents that the API uses."""

from kubekit.api import errors
from kubekit.api.status import StatusDetails


class UriTooLong(errors.ApiError):
    code, reason = 414, "RequestURITooLong"


class ExpectationFailed(errors.ApiError):
    code, reason = 417, "ExpectationFailed"


class HeadersTooLarge(errors.ApiError):
    code, reason = 431, "RequestHeaderFieldsTooLarge"


class TooSlow(errors.ApiError):
    """The request did not arrive in time."""

    code, reason = 408, "Timeout"


def unauthorized() -> errors.Unauthorized:
    """Says no more than Kubernetes does: the client must not learn why a credential is wrong."""
    return errors.Unauthorized("Unauthorized")


def no_such_resource() -> errors.NotFound:
    message = "the server could not find the requested resource"
    return errors.NotFound(message, StatusDetails())


def no_such_method() -> errors.MethodNotAllowed:
    message = "the server does not allow this method on the requested resource"
    return errors.MethodNotAllowed(message, StatusDetails())


def body_too_large(limit: int) -> errors.TooLarge:
    return errors.TooLarge(f"Request entity too large: limit is {limit}")


def too_many_bodies(limit: int) -> errors.TooManyRequests:
    details = StatusDetails(retry_after_seconds=1)
    message = f"the bodies of all requests in flight exceed {limit} bytes together; try again"
    return errors.TooManyRequests(message, details)


def too_many_connections(limit: int) -> errors.TooManyRequests:
    details = StatusDetails(retry_after_seconds=1)
    return errors.TooManyRequests(f"the server has {limit} connections already; try again", details)
