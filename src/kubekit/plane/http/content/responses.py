"""Responses in the requested format: objects, lists and watch lines as plain objects, as rows or as
metadata alone.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

import msgspec

from kubekit.api.status import Status, StatusDetails
from kubekit.plane.http.content.query_parameters import Include
from kubekit.plane.http.content.response_formats import ResponseFormat
from kubekit.plane.http.content.watch_streams import Write
from kubekit.plane.http.messages import Response, SegmentedBody, status_document
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.printing import tables
from kubekit.plane.registry.verbs.results import Page
from kubekit.plane.registry.verbs.watches import EncodedWatchEvent
from kubekit.plane.store.records import Record

_encode: Final = msgspec.json.Encoder().encode
_MOST_WARNINGS: Final = 4096  # bytes; further warnings are dropped, to keep the head small


class _Identity(msgspec.Struct):
    uid: str = ""


class _Named(msgspec.Struct):
    metadata: _Identity = msgspec.field(default_factory=_Identity)


_read_identity: Final = msgspec.json.Decoder(_Named).decode


def one(kind: Kind, record: Record, form: ResponseFormat, include: Include, now: datetime) -> bytes:
    """One object as a row or as its metadata."""
    if form.shape == "partial":
        return tables.partial(record.data, form.version)
    metadata = {"resourceVersion": str(record.revision)}
    return tables.table(kind.resource, [record.data], metadata, _format(form, include), now)


def page(
    kind: Kind, found: Page, form: ResponseFormat, include: Include, now: datetime
) -> bytes | SegmentedBody:
    """A list in the requested format. The objects of a plain one are not copied."""
    metadata = _list_metadata(found)
    served: Iterable[bytes] = [record.data for record in found.records]
    if form.shape == "table":
        return tables.table(kind.resource, served, metadata, _format(form, include), now)
    version, list_kind = kind.resource.api_version, kind.list_kind
    if form.shape == "partial":
        served = [tables.partial(data, form.version) for data in served]
        version, list_kind = f"meta.k8s.io/{form.version}", "PartialObjectMetadataList"
    before = _encode({"kind": list_kind, "apiVersion": version, "metadata": metadata})
    return SegmentedBody(before[:-1] + b',"items":[', list(served), b"]}")


def line_writer(
    kind: Kind, form: ResponseFormat, include: Include, now: Callable[[], datetime]
) -> Write | None:
    """The function that renders the lines of a watch; None for the plain lines, which are shared."""
    if form.shape == "object":
        return None
    return _Lines(kind, form, include, now).write


def removed(kind: Kind, record: Record, name: str) -> Response:
    """The response to a delete that removed the object."""
    resource = kind.resource
    details = StatusDetails(
        name=name,
        group=resource.group,
        kind=resource.plural,
        uid=_read_identity(record.data).metadata.uid,
    )
    return Response(200, status_document(Status(status="Success", details=details)))


def warning_headers(warnings: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Warnings for the user, as headers."""
    headers: list[tuple[str, str]] = []
    bytes_left = _MOST_WARNINGS
    for text in warnings:
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        bytes_left -= len(quoted)
        if bytes_left < 0:
            break
        headers.append(("warning", f'299 - "{quoted}"'))
    return tuple(headers)


class _Lines:
    """The lines of a watch as rows or metadata. Only the first row has column definitions."""

    def __init__(
        self, kind: Kind, form: ResponseFormat, include: Include, now: Callable[[], datetime]
    ) -> None:
        self._kind = kind
        self._form = form
        self._format = _format(form, include)
        self._now = now
        self._first = True

    def write(self, event: EncodedWatchEvent) -> bytes:
        if event.type == "ERROR":
            return event.line
        return b'{"type":"%b","object":%b}\n' % (event.type.encode(), self._shaped(event))

    def _shaped(self, event: EncodedWatchEvent) -> bytes:
        if self._form.shape == "partial":
            return tables.partial(event.data, self._form.version)
        first, self._first = self._first, False
        resource = self._kind.resource
        return tables.row(resource, event.data, self._format, self._now(), first=first)


def _format(form: ResponseFormat, include: Include) -> tables.TableFormat:
    return tables.TableFormat(version=form.version, include=include)


def _list_metadata(found: Page) -> dict[str, Any]:
    metadata: dict[str, Any] = {"resourceVersion": str(found.revision)}
    if found.continue_:
        metadata["continue"] = found.continue_
    if found.remaining:
        metadata["remainingItemCount"] = found.remaining
    return metadata
