"""Validates the client configuration of a webhook: URL, service and certificates."""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from kubekit.api.fields import FieldError, Path, Problem, invalid, required

_FORM: Final = "; desired format: https://host[/path]"
_LONGEST: Final = 253
_SUBDOMAIN: Final = re.compile(
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII
)
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SUBDOMAIN.pattern}')"
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}", re.DOTALL)
_BAD_IN_HOST: Final = re.compile(r"[^-a-zA-Z0-9._~!$&'()*+,;=:\[\]%]")
_PORT: Final = re.compile(r"(?:\[[^\]]*\]|[^:]*)(:.*)?", re.DOTALL)
_MOST_PORTS: Final = 65535


def client_errors(client: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    """A webhook has one address, and certificates in base64."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _url_errors(url, path.child("url"))
    elif service is not None:
        yield from _service_errors(service, path.child("service"))
    if not _is_base64(client.get("caBundle") or ""):
        bundle_path = path.child("caBundle")
        yield FieldError(bundle_path, Problem.TYPE_INVALID, "must be base64", "(not shown)")


def subdomain_fault(text: str) -> str | None:
    """The error in a DNS name; None if it is valid."""
    if len(text) > _LONGEST:
        return f"must be no more than {_LONGEST} characters"
    return None if _SUBDOMAIN.fullmatch(text) else _SUBDOMAIN_RULE


def _url_errors(url: str, path: Path) -> Iterator[FieldError]:
    fault = _url_fault(url)
    if fault:
        message = f'url must be a valid URL: parse "{url[:_LONGEST]}": {fault}{_FORM}'
        yield required(path, message)
        return
    parts = urlsplit(url)
    if parts.scheme != "https":
        yield invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    if not parts.netloc.rpartition("@")[2]:
        yield invalid(path, "", f"host must be specified{_FORM}")
    yield from _surplus_errors(parts, path)


def _surplus_errors(parts: SplitResult, path: Path) -> Iterator[FieldError]:
    """The errors of URL parts that a webhook's URL may not have."""
    user = parts.netloc.rpartition("@")[0]
    for value, message in (
        (user, "user information is not permitted in the URL"),
        (parts.fragment, "fragments are not permitted in the URL"),
        (parts.query, "query parameters are not permitted in the URL"),
    ):
        if value:
            yield invalid(path, value, message)


def _url_fault(url: str) -> str:
    """Why the text is not a URL, with the message of Go; empty if it is one.

    Python accepts blanks and control characters, and would call another address than the written
    one.
    """
    if _CONTROL.search(url):
        return "net/url: invalid control character in URL"
    if url.startswith(":"):
        return "missing protocol scheme"
    if escape := _BAD_ESCAPE.search(url):
        return f'invalid URL escape "{escape[0]}"'
    try:
        host = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return "missing ']' in host"
    return _host_fault(host)


def _host_fault(host: str) -> str:
    if bad := _BAD_IN_HOST.search(host):
        return f'invalid character "{bad[0]}" in host name'
    if host.startswith("[") and "]" not in host:
        return "missing ']' in host"
    match = _PORT.fullmatch(host)
    port = match[1] if match else host
    if port and port[1:] and not (port[1:].isascii() and port[1:].isdigit()):
        return f'invalid port "{port}" after host'
    return ""


def _service_errors(service: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    for name in ("name", "namespace"):
        if not service.get(name):
            yield required(path.child(name))
    port = service.get("port")
    if port is not None and not 1 <= port <= _MOST_PORTS:
        message = f"port is not valid: must be between 1 and {_MOST_PORTS}, inclusive"
        yield invalid(path.child("port"), port, message)
    if service.get("path"):
        yield from _path_errors(service["path"], path.child("path"))


def _path_errors(given: str, path: Path) -> Iterator[FieldError]:
    if given == "/":
        return
    if not given.startswith("/"):
        yield invalid(path, given, "must start with a '/'")
        return
    segments = given[1:].removesuffix("/").split("/")
    for position, segment in enumerate(segments):
        if not segment:
            yield invalid(path, given, f"segment[{position}] may not be empty")
        elif fault := subdomain_fault(segment):
            yield invalid(path, given, f"segment[{position}]: {fault}")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except ValueError:
        return False
    return True
