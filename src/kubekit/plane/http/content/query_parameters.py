"""Parses query parameters. Unknown ones are ignored; the error of a wrong value names it."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, cast

from kubekit.api import digits, errors, fields
from kubekit.api.fields import FieldError
from kubekit.api.resource import Resource
from kubekit.client.options import (
    FieldValidation,
    ListOptions,
    VersionMatch,
    WatchOptions,
    WriteOptions,
)
from kubekit.plane.apply.entries import manager_errors, manager_of
from kubekit.plane.http.percent_escapes import unescape

Include = Literal["None", "Metadata", "Object"]

_MOST_PARAMETERS: Final = 100
_LARGEST: Final = 2**63
_MOST_DIGITS: Final = 19
_AGENTS: Final = 256  # user agents whose options are cached
_FIELD_VALIDATIONS: Final = ("", "Ignore", "Strict", "Warn")
_VERSION_MATCHES: Final = ("Exact", "NotOlderThan", "")
_INCLUDES: Final = ("Metadata", "Object", "None")


class Parameters:
    """The parameters of one query. If one is given twice, the first counts."""

    __slots__ = ("_values",)

    def __init__(self, query: str) -> None:
        self._values: dict[str, list[str]] = {}
        if query:
            self._read(query)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str) -> str:
        values = self._values.get(name)
        return values[0] if values else ""

    def texts(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def number(self, name: str) -> int | None:
        """A whole number of 64 bits; None if it is absent."""
        text = self.text(name)
        if name not in self:
            return None
        sign = text[:1] in ("+", "-")
        if not digits.only(text[sign:]) or len(text) > _MOST_DIGITS + sign:
            raise errors.BadRequest(f"query parameter {name}: {_cut(text)} is not a whole number")
        value = int(text)
        if not -_LARGEST <= value < _LARGEST:
            raise errors.BadRequest(f"query parameter {name}: {text} does not fit into 64 bits")
        return value

    def flag(self, name: str) -> bool:
        """Whether a switch is on. As in Kubernetes, everything but false and 0 switches it on."""
        values = self._values.get(name)
        return values is not None and values[0].lower() not in ("false", "0")

    def _read(self, query: str) -> None:
        pairs = query.split("&")
        if len(pairs) > _MOST_PARAMETERS:
            raise errors.BadRequest(f"the query has more than {_MOST_PARAMETERS} parameters")
        for pair in pairs:
            name, _, value = pair.partition("=")
            if name:
                name = unescape(name.replace("+", " "), "the query")
                text = unescape(value.replace("+", " "), f"query parameter {_cut(name)}")
                self._values.setdefault(name, []).append(text)


NOTHING: Final = Parameters("")


def list_options(parameters: Parameters) -> ListOptions:
    if "sendInitialEvents" in parameters:
        detail = "sendInitialEvents is forbidden for list"
        raise wrong("ListOptions", [fields.forbidden("sendInitialEvents", detail)])
    parameters.number("timeoutSeconds")
    return ListOptions(
        label_selector=parameters.text("labelSelector"),
        field_selector=parameters.text("fieldSelector"),
        limit=max(parameters.number("limit") or 0, 0),
        continue_=parameters.text("continue"),
        resource_version=parameters.text("resourceVersion"),
        resource_version_match=_version_match(parameters),
    )


def watch_options(parameters: Parameters) -> WatchOptions:
    parameters.number("limit")
    if parameters.text("continue"):
        why = "resourceVersionMatch is forbidden when continue is provided"
        raise wrong("ListOptions", [fields.forbidden("resourceVersionMatch", why)])
    seconds = parameters.number("timeoutSeconds")
    initial = parameters.flag("sendInitialEvents") if "sendInitialEvents" in parameters else None
    return WatchOptions(
        label_selector=parameters.text("labelSelector"),
        field_selector=parameters.text("fieldSelector"),
        resource_version=parameters.text("resourceVersion"),
        resource_version_match=_version_match(parameters),
        allow_bookmarks=parameters.flag("allowWatchBookmarks"),
        send_initial_events=initial,
        timeout_seconds=seconds if seconds and seconds > 0 else None,
    )


def write_options(parameters: Parameters, kind: str, agent: str = "") -> WriteOptions:
    """The options of a write. ``kind`` is their name in an error, CreateOptions for example.

    Without a field manager, the name of the user agent ``agent`` is used.
    """
    if not parameters:
        return _plain_write(agent)
    validation, manager = parameters.text("fieldValidation"), parameters.text("fieldManager")
    problems = [
        *dry_run_errors(parameters.texts("dryRun")),
        *manager_errors("fieldManager", manager),
    ]
    if validation not in _FIELD_VALIDATIONS:
        problems.append(fields.not_supported("fieldValidation", validation, _FIELD_VALIDATIONS))
    if problems:
        raise wrong(kind, problems)
    return WriteOptions(
        dry_run=bool(parameters.texts("dryRun")),
        force=kind == "PatchOptions" and parameters.flag("force"),
        field_manager=manager or _manager(agent),
        field_validation=cast("FieldValidation", validation),
    )


def include_object(parameters: Parameters) -> Include:
    """How much of each object the rows of a Table include."""
    text = parameters.text("includeObject") or "Metadata"
    if text not in _INCLUDES:
        message = "query parameter includeObject: must be Metadata, Object, None or empty"
        raise errors.BadRequest(message)
    return cast("Include", text)


def dry_run_errors(values: Iterable[str]) -> list[FieldError]:
    """The errors in dryRun, whose only valid value is All."""
    values = list(values)
    if all(value == "All" for value in values):
        return []
    return [fields.not_supported("dryRun", values, ["All"])]


def wrong(kind: str, problems: Iterable[FieldError]) -> errors.Invalid:
    """The error for invalid options, worded like Kubernetes' own."""
    resource = Resource(group="meta.k8s.io", version="v1", kind=kind, plural="")
    return errors.invalid(resource, "", problems)


def _version_match(parameters: Parameters) -> VersionMatch:
    text = parameters.text("resourceVersionMatch")
    if text not in _VERSION_MATCHES:
        problem = fields.not_supported("resourceVersionMatch", text, _VERSION_MATCHES)
        raise wrong("ListOptions", [problem])
    return cast("VersionMatch", text)


@lru_cache(_AGENTS)
def _plain_write(agent: str) -> WriteOptions:
    return WriteOptions(field_manager=_manager(agent))


def _manager(agent: str) -> str:
    return manager_of("", agent) if agent else ""


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_DIGITS else f"{text[:_MOST_DIGITS]}..."
