"""The meaning of a response: errors as `api.errors`, warnings as text."""

import logging
import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from kubekit.api import errors
from kubekit.api.errors import ApiError, Unauthorized
from kubekit.api.excerpt import excerpt
from kubekit.api.status import Status
from kubekit.client.http.bodies import UNREADABLE
from kubekit.client.http.exchanges import HttpResponse
from kubekit.client.http.requests import HttpRequest

_REDIRECTS: Final = range(300, 400)
_WARNING: Final = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(r"\\(.)")
_REMEMBERED: Final = 1000
_LONGEST: Final = 500  # characters of a warning
_BY_CODE: Final = {
    401: "check the token, certificate or exec plugin of the user in the kubeconfig",
    404: "does the server's address lead to an API server, and does that serve this kind?",
    502: "a proxy in between answered; is the server behind it running?",
    503: "the server, or a proxy in between, is not ready",
    504: "a proxy in between answered; is the server behind it running?",
}

_log = logging.getLogger(__name__)


def refusal(response: HttpResponse, request: HttpRequest, server: str) -> ApiError:
    """The error of the server. Its address is in the notes."""
    status = _status(response)
    if status is None:
        error = errors.from_status(Status(code=response.status, message=_plain(response, server)))
    else:
        error = errors.from_status(status)
    if isinstance(error, Unauthorized) and error.message == "Unauthorized":
        # Kubernetes gives no more details.
        error = Unauthorized(f"Unauthorized by {server}: {_BY_CODE[401]}", error.details)
    error.add_note(f"{request}, answered by {server}")
    return error


class Warnings:
    """Logs the warnings of servers, each text once."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._known: dict[str, None] = {}

    def __call__(self, text: str) -> None:
        if text in self._known or len(self._known) >= _REMEMBERED:
            return
        self._known[text] = None
        # In the message, because a plain log shows no other fields.
        _log.warning("server warns: %s", excerpt(text, _LONGEST), extra={"server": self._server})


def warnings(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[str]:
    """The texts of the warning headers."""
    for name, value in headers:
        if name == b"warning":
            for text in _WARNING.findall(value.decode("utf-8", "replace")):
                yield _ESCAPE.sub(r"\1", text)


def _status(response: HttpResponse) -> Status | None:
    """The Status in the response, if it has a message or a reason."""
    try:
        status = msgspec.json.decode(response.body, type=Status)
    except UNREADABLE:
        return None
    if not (status.message or status.reason):
        return None
    return status if status.code else msgspec.structs.replace(status, code=response.status)


def _plain(response: HttpResponse, server: str) -> str:
    """The message for a response without a Status: from a proxy, or the outermost server."""
    if response.status in _REDIRECTS:
        target = excerpt(response.header(b"location").decode("utf-8", "replace"))
        return (
            f"{server} answered {response.status} and points to {target}; redirects are not followed: "
            "set the cluster's server to the final address"
        )
    text = response.body[:1000].decode("utf-8", "replace").strip()
    summary = f"{server} answered {response.status}"
    return ": ".join(filter(None, (summary, text and excerpt(text)))) + _hint(response.status)


def _hint(status: int) -> str:
    return f"; {_BY_CODE[status]}" if status in _BY_CODE else ""
