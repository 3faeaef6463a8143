"""What a handler of the server receives and returns."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from kubekit.api import scheme
from kubekit.api.errors import ApiError

TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"
_NO_FIELDS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class IncomingRequest:
    """A request that has arrived whole. The names of ``fields`` are in lower case."""

    method: str
    path: str  # as sent, still with percent escapes
    query: str
    fields: Mapping[str, str]
    body: bytes
    keep_alive: bool = True


@dataclass(frozen=True, slots=True)
class OutgoingResponse:
    """A response. ``close`` ends the connection after it."""

    status: int
    body: bytes = b""
    content_type: str = TEXT
    fields: Mapping[str, str] = field(default_factory=dict)
    close: bool = False

    def encoded(self, *, close: bool, with_body: bool = True) -> bytes:
        """The response as bytes. Without its body it is the response to a HEAD."""
        fields = {
            "Content-Type": self.content_type,
            "Content-Length": str(len(self.body)),
            "X-Content-Type-Options": "nosniff",
            **({"Connection": "close"} if close else {}),
            **self.fields,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        head = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}\r\n{lines}\r\n".encode()
        return head + self.body if with_body else head


Handler = Callable[[IncomingRequest], Awaitable[OutgoingResponse]]
"""Answers one request. An exception becomes a response with the code 500."""


class HttpRefusal(Exception):
    """A request that is refused with this code. The text goes to the client."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def text_response(
    status: int, text: str, fields: Mapping[str, str] = _NO_FIELDS
) -> OutgoingResponse:
    """A page for people."""
    return OutgoingResponse(status, text.encode(), TEXT, fields)


def status_response(error: ApiError) -> OutgoingResponse:
    """An error in the form of Kubernetes: a Status as JSON."""
    return OutgoingResponse(error.code, scheme.encode(error.to_status()), JSON)
