"""Attempts that brought no answer, and what a caller is told of them.

    Failure
      NotSent   nothing reached the server, so asking again can do no harm
      Lost      the connection ended after something was sent
      Late      no answer in time, after something was sent

A caller gets `Unavailable` where nothing can have happened and `Timeout` where it may have. Neither
holds anything of a header or a body: there are tokens in them.
"""

from typing import Final

from kubekit.api.errors import ApiError, Timeout, Unavailable
from kubekit.client.http.requests import HttpRequest

_UNCERTAIN: Final = "it may or may not have happened: look before asking again"


class AttemptFailure(Exception):
    """An attempt without an answer."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class NotSent(AttemptFailure):
    """Nothing was sent. ``advice`` says what to look at; ``hopeless``, not to try again."""

    def __init__(self, why: str, advice: str = "", *, hopeless: bool = False) -> None:
        super().__init__(why)
        self.advice = advice
        self.hopeless = hopeless


class Lost(AttemptFailure):
    """The connection ended. ``heard`` if an answer had begun."""

    def __init__(self, why: str, *, heard: bool) -> None:
        super().__init__(why)
        self.heard = heard


class Late(AttemptFailure):
    """Time ran out."""


def told(failure: AttemptFailure, request: HttpRequest, server: str) -> ApiError:
    """What the caller is told."""
    if isinstance(failure, NotSent):
        said = f"the server {server} was not reached, so nothing was sent: {failure.why}"
        advice = failure.advice
    else:
        said = f"the server {server} gave no answer: {failure.why}"
        advice = "" if request.is_read else _UNCERTAIN
    message = "; ".join(filter(None, (f"{request}: {said}", advice)))
    return _kind(failure, request)(message)


def garbled(request: HttpRequest, server: str, why: str) -> ApiError:
    """What the caller is told of an answer that makes no sense."""
    return told(
        Lost(f"{why}; is it a Kubernetes API server, and not a proxy that answers?", heard=True),
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
