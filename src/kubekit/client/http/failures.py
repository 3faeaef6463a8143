"""Attempts without a response, and the errors that a caller gets for them.

    AttemptFailure
      NotSent   nothing reached the server, so a retry is safe
      Lost      the connection ended after something was sent
      Late      no response in time, after something was sent

A caller gets `Unavailable` if the request cannot have taken effect and `Timeout` if it may have.
Neither contains a header or a body, because these hold tokens.
"""

from typing import Final

from kubekit.api.errors import ApiError, Timeout, Unavailable
from kubekit.client.http.requests import HttpRequest

_UNCERTAIN: Final = "it may or may not have happened: check before you retry"


class AttemptFailure(Exception):
    """An attempt without a response."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class NotSent(AttemptFailure):
    """Nothing was sent. ``advice`` says what to check; ``hopeless`` means that a retry is useless."""

    def __init__(self, why: str, advice: str = "", *, hopeless: bool = False) -> None:
        super().__init__(why)
        self.advice = advice
        self.hopeless = hopeless


class Lost(AttemptFailure):
    """The connection ended. ``response_started`` says whether a response had started."""

    def __init__(self, why: str, *, response_started: bool) -> None:
        super().__init__(why)
        self.response_started = response_started


class Late(AttemptFailure):
    """There was no complete response in time."""


def api_error(failure: AttemptFailure, request: HttpRequest, server: str) -> ApiError:
    """The error that the caller gets."""
    if isinstance(failure, NotSent):
        problem = f"the server {server} was not reached, so nothing was sent: {failure.why}"
        advice = failure.advice
    else:
        problem = f"the server {server} gave no answer: {failure.why}"
        advice = "" if request.is_read else _UNCERTAIN
    message = "; ".join(filter(None, (f"{request}: {problem}", advice)))
    return _kind(failure, request)(message)


def malformed_response(request: HttpRequest, server: str, why: str) -> ApiError:
    """The error for a response that is not one of a Kubernetes API."""
    return api_error(
        Lost(
            f"{why}; is it a Kubernetes API server, and not a proxy that answers?",
            response_started=True,
        ),
        request,
        server,
    )


def _kind(failure: AttemptFailure, request: HttpRequest) -> type[ApiError]:
    match failure:
        case Late():
            return Timeout
        case Lost() if not request.is_read:
            return Timeout
        case _:
            return Unavailable
