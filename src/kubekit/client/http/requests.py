"""What is asked of a server: the path, the query and the body, in the words of its API."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from kubekit.api.errors import BadRequest
from kubekit.api.excerpt import excerpt
from kubekit.api.selectors.field_selectors import FieldRequirement
from kubekit.client.credentials import sendable
from kubekit.client.options import DeleteOptions, ListOptions, WatchOptions, WriteOptions
from kubekit.client.transport import Document, ResourceLocation

JSON: Final = "application/json"
Query = dict[str, str]

_PLAIN: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._:~-]*\Z")
_METHOD: Final = re.compile("[A-Z]+")
_PATH: Final = re.compile("/[!-~]*")
_MEDIA: Final = re.compile("[ -~]+")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request, as often as it is sent. ``about`` is its object in words."""

    method: str
    target: str
    about: str | ResourceLocation
    body: bytes | None = None
    media: str = JSON

    @property
    def is_read(self) -> bool:
        return self.method == "GET"

    def __str__(self) -> str:
        about = self.about
        return f"{self.method} {about if isinstance(about, str) else words(about)}"

    def encoded(self, prefix: str, headers: str) -> bytes:
        """The request as it is sent to a server whose paths begin with ``prefix``."""
        head = f"{self.method} {prefix}{self.target} HTTP/1.1\r\n{headers}"
        if self.body is None:
            return f"{head}\r\n".encode()
        length = len(self.body)
        return f"{head}Content-Type: {self.media}\r\nContent-Length: {length}\r\n\r\n".encode() + (
            self.body
        )


def header_lines(headers: Iterable[tuple[str, str]]) -> str:
    """Headers as they are sent. The `ValueError` for one that cannot be names it, not its value."""
    lines = []
    for name, value in headers:
        if not sendable(f"{name}{value}"):
            raise ValueError(f"the header {name!r} would hold a line break or a control character")
        lines.append(f"{name}: {value}\r\n")
    return "".join(lines)


def anywhere(
    method: str, path: str, query: Mapping[str, str], body: bytes | None, media: str
) -> HttpRequest:
    """A request to any path. `BadRequest` for what would be sent as something else.

    The answer to a HEAD has the headers of one with a body, and is not understood here.
    """
    if not _METHOD.fullmatch(method) or method == "HEAD":
        raise BadRequest(f"the method {excerpt(method)} cannot be sent")
    if not _PATH.fullmatch(path):
        raise BadRequest(f"the path {excerpt(path)} must begin with / and be written in ASCII")
    if not _MEDIA.fullmatch(media):
        raise BadRequest(f"the media type {excerpt(media)} cannot be sent")
    return HttpRequest(method, target(path, query), path, body, media)


def target(path: str, query: Mapping[str, str]) -> str:
    """What follows the server's address. `BadRequest` for what no address can hold."""
    try:
        return f"{path}?{urlencode(query)}" if query else path
    except UnicodeEncodeError as error:
        raise BadRequest(f"the query holds half of a character: {excerpt(query)}") from error


def path(place: ResourceLocation) -> str:
    """The path of a collection, an object or a part of it, below the server's address."""
    resource = place.resource
    root = f"/apis/{_segment(resource.group)}" if resource.group else "/api"
    inside = f"/namespaces/{_segment(place.namespace)}" if place.namespace else ""
    found = f"{root}/{_segment(resource.version)}{inside}/{_segment(resource.plural)}"
    rest = (_segment(part) for part in (place.name, place.subresource) if part)
    return "/".join((found, *rest))


def named(name: str, selector: str) -> str:
    """The field selector for the one object of a name, of those that another selects."""
    this = FieldRequirement("metadata.name", "=", name)
    return ",".join(filter(None, (str(this), selector)))


def words(place: ResourceLocation) -> str:
    """The place, for people."""
    resource = place.resource
    kind = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    part = f"/{place.subresource}" if place.subresource else ""
    name = f' "{place.name}"' if place.name else ""
    inside = f' in namespace "{place.namespace}"' if place.namespace else ""
    return f"{kind}{part}{name}{inside}"


def which(options: ListOptions) -> Query:
    return _given(
        labelSelector=options.label_selector,
        fieldSelector=options.field_selector,
        limit=str(options.limit) if options.limit else "",
        resourceVersion=options.resource_version,
        resourceVersionMatch=options.resource_version_match,
        **{"continue": options.continue_},
    )


def watching(options: WatchOptions) -> Query:
    initial, seconds = options.send_initial_events, options.timeout_seconds
    return _given(
        watch="true",
        labelSelector=options.label_selector,
        fieldSelector=options.field_selector,
        resourceVersion=options.resource_version,
        resourceVersionMatch=options.resource_version_match,
        allowWatchBookmarks="true" if options.allow_bookmarks else "",
        sendInitialEvents="" if initial is None else str(initial).lower(),
        timeoutSeconds="" if seconds is None else str(seconds),
    )


def how(options: WriteOptions) -> Query:
    return _given(
        dryRun="All" if options.dry_run else "",
        fieldManager=options.field_manager,
        force="true" if options.force else "",
        fieldValidation=options.field_validation,
    )


def removal(options: DeleteOptions) -> bytes:
    """The body of a delete."""
    body: Document = {"apiVersion": "v1", "kind": "DeleteOptions"}
    preconditions = _given(uid=options.uid, resourceVersion=options.resource_version)
    if preconditions:
        body["preconditions"] = preconditions
    if options.propagation:
        body["propagationPolicy"] = options.propagation
    if options.grace_period_seconds is not None:
        body["gracePeriodSeconds"] = options.grace_period_seconds
    if options.dry_run:
        body["dryRun"] = ["All"]
    return msgspec.json.encode(body)


def _given(**parameters: str) -> Query:
    return {name: value for name, value in parameters.items() if value}


def _segment(text: str) -> str:
    """One part of a path, whatever is in it: nothing in a name may lead elsewhere."""
    if _PLAIN.match(text):
        return text
    try:
        quoted = quote(text, safe="")
    except UnicodeEncodeError as error:
        raise BadRequest(f"the name holds half of a character: {excerpt(text)}") from error
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")
