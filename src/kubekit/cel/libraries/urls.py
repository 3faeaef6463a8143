"""URLs, parsed as strictly and as leniently as Go does."""

import re
from typing import Final
from urllib.parse import quote, unquote, unquote_to_bytes

from kubekit.cel.declarations import Overload, function, method
from kubekit.cel.errors import EvaluationError
from kubekit.cel.libraries.formatting import go_quoted
from kubekit.cel.operations.opaques import Url
from kubekit.cel.types import BOOL, STRING, URL, list_of, map_of
from kubekit.cel.values import Value

_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
_USER: Final = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_HOST: Final = re.compile(r"""[A-Za-z0-9_.~!$&'()*+,;=:\[\]<>"%\x80-\U0010ffff-]*""")
_HOST_ESCAPE: Final = re.compile(r"%(?!25)[0-7][0-9a-fA-F]")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
_PATH_SAFE: Final = "$&+,/:;=@"  # not escaped by Go in a path
_PATH: Final = re.compile(r"[A-Za-z0-9_.~!$&'()*+,;=:@\[\]/%-]*")


class BadUrl(ValueError):
    """The text is not an absolute URL or path."""


def parse(text: str) -> Url:
    """The URL that the text spells. Raises `BadUrl`."""
    try:
        _parsed(text)  # a fragment belongs to the path here, and must be right as part of it
        whole, _, fragment = text.partition("#")
        return _parsed(whole, fragment)
    except BadUrl as error:
        raise BadUrl(f"parse {go_quoted(text)}: {error}") from error


def _parsed(text: str, fragment: str = "") -> Url:
    if any(char < " " or char == "\x7f" for char in text):
        raise BadUrl("net/url: invalid control character in URL")
    if not text:
        raise BadUrl("empty url")
    scheme, rest = _scheme(text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, "", "", "", query, fragment)
        if text == "*":
            return Url("", "", "", "*", "", fragment)
        raise BadUrl("invalid URI for request")
    user = host = ""
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, host = _authority(authority)
    _check_escapes(rest)
    return Url(scheme, user, host, rest, query, fragment)


def _scheme(text: str) -> tuple[str, str]:
    if text.startswith(":"):
        raise BadUrl("missing protocol scheme")
    match = _SCHEME.match(text)
    return (match[1].lower(), text[match.end() :]) if match else ("", text)


def _authority(text: str) -> tuple[str, str]:
    user, at, host = text.rpartition("@")
    if at and not _USER.fullmatch(user):
        raise BadUrl("net/url: invalid userinfo")
    _check_escapes(user)
    if host.startswith("["):
        closing = host.rfind("]")
        if closing < 0:
            raise BadUrl("missing ']' in host")
        port = host[closing + 1 :]
    else:
        port = host[host.rindex(":") :] if ":" in host else ""
    if not _PORT.fullmatch(port):
        raise BadUrl(f"invalid port {go_quoted(port)} after host")
    _check_host(host)
    return user, unquote(host)


def _check_host(host: str) -> None:
    _check_escapes(host)
    wrong = _HOST_ESCAPE.search(host)
    if wrong:
        raise BadUrl(f"invalid URL escape {go_quoted(wrong[0])}")
    end = _HOST.match(host).end()  # type: ignore[union-attr] # it matches the empty text
    if end < len(host):
        raise BadUrl(f"invalid character {go_quoted(host[end])} in host name")


def _check_escapes(text: str) -> None:
    wrong = _BAD_ESCAPE.search(text)
    if wrong:
        raise BadUrl(f"invalid URL escape {go_quoted(text[wrong.start() : wrong.start() + 3])}")


def _url(text: str) -> Url:
    try:
        return parse(text)
    except BadUrl as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from error


def _is_url(text: str) -> bool:
    try:
        _parsed(text)
    except BadUrl:
        return False
    return True


def _hostname(url: Url) -> str:
    if url.host.startswith("["):
        return url.host[1 : url.host.rindex("]")]
    return url.host.rpartition(":")[0] if ":" in url.host else url.host


def _port(url: Url) -> str:
    after = url.host[url.host.rindex("]") :] if url.host.startswith("[") else url.host
    return after.rpartition(":")[2] if ":" in after else ""


def _escaped_path(url: Url) -> str:
    if _PATH.fullmatch(url.path):
        return url.path
    return quote(unquote_to_bytes(url.path), safe=_PATH_SAFE)


def _query(url: Url) -> dict[str, list[str]]:
    """The values of each name. An invalid pair is ignored."""
    found: dict[str, list[str]] = {}
    for pair in url.query.split("&"):
        if not pair or ";" in pair or _BAD_ESCAPE.search(pair):
            continue
        name, _, value = pair.partition("=")
        found.setdefault(_query_text(name), []).append(_query_text(value))
    return found


def _query_text(text: str) -> str:
    return unquote(text.replace("+", " "))


def _getter(name: str) -> Value:
    return lambda url: getattr(url, name)


OVERLOADS: Final[tuple[Overload, ...]] = (
    function("url", "string_to_url", (STRING,), URL, _url),
    function("isURL", "is_url_string", (STRING,), BOOL, _is_url),
    method("getScheme", "url_get_scheme", (URL,), STRING, _getter("scheme")),
    method("getHost", "url_get_host", (URL,), STRING, _getter("host")),
    method("getHostname", "url_get_hostname", (URL,), STRING, _hostname),
    method("getPort", "url_get_port", (URL,), STRING, _port),
    method("getEscapedPath", "url_get_escaped_path", (URL,), STRING, _escaped_path),
    method("getQuery", "url_get_query", (URL,), map_of(STRING, list_of(STRING)), _query),
)
