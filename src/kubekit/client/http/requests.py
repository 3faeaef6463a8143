"""The requests to an API server: path, query and body."""

import re
from collections.abc import Iterable, Mapping
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


class HttpRequest(msgspec.Struct, frozen=True):
    """One request, which may be sent more than once. ``about`` names its object in messages."""

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
        return f"{self.method} {about if isinstance(about, str) else described(about)}"

    def encoded(self, prefix: str, headers: str) -> bytes:
        """The bytes of the request to a server whose paths start with ``prefix``."""
        head = f"{self.method} {prefix}{self.target} HTTP/1.1\r\n{headers}"
        if self.body is None:
            return f"{head}\r\n".encode()
        length = len(self.body)
        return f"{head}Content-Type: {self.media}\r\nContent-Length: {length}\r\n\r\n".encode() + (
            self.body
        )


def header_lines(headers: Iterable[tuple[str, str]]) -> str:
    """The headers as text. The `ValueError` for an invalid one contains its name and not its value."""
    lines = []
    for name, value in headers:
        if not sendable(f"{name}{value}"):
            raise ValueError(f"the header {name!r} would hold a line break or a control character")
        lines.append(f"{name}: {value}\r\n")
    return "".join(lines)


def raw_request(
    method: str, path: str, query: Mapping[str, str], body: bytes | None, media: str
) -> HttpRequest:
    """A request to any path. `BadRequest` for a method, path or media type that cannot be sent.

    HEAD is refused: its response has the headers of a body that does not follow.
    """
    if not _METHOD.fullmatch(method) or method == "HEAD":
        raise BadRequest(f"the method {excerpt(method)} cannot be sent")
    if not _PATH.fullmatch(path):
        raise BadRequest(f"the path {excerpt(path)} must start with / and contain only ASCII")
    if not _MEDIA.fullmatch(media):
        raise BadRequest(f"the media type {excerpt(media)} cannot be sent")
    return HttpRequest(method, target(path, query), path, body, media)


def target(path: str, query: Mapping[str, str]) -> str:
    """The path with its query. `BadRequest` for text that no URL can contain."""
    try:
        return f"{path}?{urlencode(query)}" if query else path
    except UnicodeEncodeError as error:
        raise BadRequest(f"the query holds half of a surrogate pair: {excerpt(query)}") from error


def path(location: ResourceLocation) -> str:
    """The path of a collection, an object or a subresource."""
    resource = location.resource
    root = f"/apis/{_segment(resource.group)}" if resource.group else "/api"
    inside = f"/namespaces/{_segment(location.namespace)}" if location.namespace else ""
    collection = f"{root}/{_segment(resource.version)}{inside}/{_segment(resource.plural)}"
    rest = (_segment(part) for part in (location.name, location.subresource) if part)
    return "/".join((collection, *rest))


def name_selector(name: str, selector: str) -> str:
    """The field selector that narrows another one to the object of a name."""
    by_name = FieldRequirement("metadata.name", "=", name)
    return ",".join(filter(None, (str(by_name), selector)))


def described(location: ResourceLocation) -> str:
    """The location, for messages."""
    resource = location.resource
    kind = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    part = f"/{location.subresource}" if location.subresource else ""
    name = f' "{location.name}"' if location.name else ""
    inside = f' in namespace "{location.namespace}"' if location.namespace else ""
    return f"{kind}{part}{name}{inside}"


def list_query(options: ListOptions) -> Query:
    return _without_empty(
        labelSelector=options.label_selector,
        fieldSelector=options.field_selector,
        limit=str(options.limit) if options.limit else "",
        resourceVersion=options.resource_version,
        resourceVersionMatch=options.resource_version_match,
        **{"continue": options.continue_},
    )


def watch_query(options: WatchOptions) -> Query:
    initial, seconds = options.send_initial_events, options.timeout_seconds
    return _without_empty(
        watch="true",
        labelSelector=options.label_selector,
        fieldSelector=options.field_selector,
        resourceVersion=options.resource_version,
        resourceVersionMatch=options.resource_version_match,
        allowWatchBookmarks="true" if options.allow_bookmarks else "",
        sendInitialEvents="" if initial is None else str(initial).lower(),
        timeoutSeconds="" if seconds is None else str(seconds),
    )


def write_query(options: WriteOptions) -> Query:
    return _without_empty(
        dryRun="All" if options.dry_run else "",
        fieldManager=options.field_manager,
        force="true" if options.force else "",
        fieldValidation=options.field_validation,
    )


def delete_body(options: DeleteOptions) -> bytes:
    """The body of a delete."""
    body: Document = {"apiVersion": "v1", "kind": "DeleteOptions"}
    preconditions = _without_empty(uid=options.uid, resourceVersion=options.resource_version)
    if preconditions:
        body["preconditions"] = preconditions
    if options.propagation:
        body["propagationPolicy"] = options.propagation
    if options.grace_period_seconds is not None:
        body["gracePeriodSeconds"] = options.grace_period_seconds
    if options.dry_run:
        body["dryRun"] = ["All"]
    return msgspec.json.encode(body)


def _without_empty(**parameters: str) -> Query:
    return {name: value for name, value in parameters.items() if value}


def _segment(text: str) -> str:
    """One segment of a path, escaped so that no name can lead to another path."""
    if _PLAIN.match(text):
        return text
    try:
        quoted = quote(text, safe="")
    except UnicodeEncodeError as error:
        raise BadRequest(f"the name holds half of a surrogate pair: {excerpt(text)}") from error
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")
