"""Checks of a request's head that the parser does not make."""

from typing import Final, NamedTuple

from kubekit.api.errors import BadRequest
from kubekit.plane.http import http_errors
from kubekit.plane.http.limits import Limits

# The usual header names, so that they are not decoded for each request.
_SPELLINGS: Final = (
    "Host", "User-Agent", "Accept", "Accept-Encoding", "Authorization", "Content-Type",
    "Content-Length", "Connection", "Transfer-Encoding", "Content-Encoding", "Expect",
)  # fmt: skip
KNOWN_NAMES: Final = {
    spelling.encode(): spelling.lower() for name in _SPELLINGS for spelling in (name, name.lower())
}
_VERSIONS: Final = ("1.1", "1.0")
_ONLY_IN_HEADS: Final = (b"authorization", b"impersonate")


class RequestTarget(NamedTuple):
    """The path and the query, as they were sent."""

    path: str
    query: str


def header_name(raw: bytes) -> str:
    """A header's name in lower case."""
    return raw.decode("latin-1").lower()


def check(version: str, headers: dict[str, str], limits: Limits) -> None:
    """Refuse a head that is ambiguous, or announces too large a body."""
    if version not in _VERSIONS:
        raise BadRequest(f"HTTP/{version} is not supported: use HTTP/1.1")
    if version == "1.1":
        _check_host(headers)
    coding = headers.get("transfer-encoding")
    if coding is not None and (version == "1.0" or coding.lower() != "chunked"):
        raise BadRequest("header Transfer-Encoding: only chunked is supported, in HTTP/1.1")
    length = headers.get("content-length")
    if length is not None and int(length) > limits.body:
        raise http_errors.body_too_large(limits.body)
    expected = headers.get("expect")
    if expected is not None and expected.lower() != "100-continue":
        raise http_errors.ExpectationFailed("header Expect: only 100-continue is supported")


def check_trailer(name: bytes) -> None:
    """Refuse trailers that must come before the body: they are not evaluated after it."""
    if name.lower().startswith(_ONLY_IN_HEADS):
        raise BadRequest(f"header {header_name(name)} must not come after the body")


def target(url: bytes) -> RequestTarget:
    """The path and query of a request line. A proxy may also send the absolute URL."""
    text = url.decode("latin-1")
    if not text.startswith("/"):
        text = _without_authority(text)
    path, _, query = text.partition("?")
    return RequestTarget(path, query)


def _check_host(headers: dict[str, str]) -> None:
    host = headers.get("host")
    if host is None:
        raise BadRequest("header Host is missing")
    if ", " in host or "/" in host or "@" in host:
        raise BadRequest("header Host must name one host")


def _without_authority(text: str) -> str:
    scheme, found, rest = text.partition("://")
    if not found or scheme.lower() not in ("http", "https"):
        raise BadRequest("the request line must name a path that starts with /")
    authority, _, path = rest.partition("/")
    if not authority or "?" in authority:
        raise BadRequest("the request line must name a path that starts with /")
    return "/" + path
