"""The rules of events that a schema cannot express. See `builtin_kinds`.

An event with an ``eventTime`` is one of the new kind, in either version: it must name its reporter
and its action. The others are of the old kind, with few rules. Events of both versions are
validated as v1; the errors use the field names of their own version.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from kubekit.api.fields import FieldError, Path, invalid, required
from kubekit.api.selectors import label_syntax
from kubekit.api.structural.nodes import Document
from kubekit.plane.registry.rules.event_versions import NEW_NAMES, to_core
from kubekit.plane.registry.rules.time_fields import MICROS, SECONDS, time_errors

_LONGEST: Final = 1024  # bytes of a message
_LONGEST_WORD: Final = 128
_REQUIRED: Final = ("reportingInstance", "action", "reason")
_OLD_FIELDS: Final = ("firstTimestamp", "lastTimestamp", "count", "source")
_MAY_CHANGE: Final = frozenset({"apiVersion", "kind", "metadata", "series"})
_LEAST_REPEATED: Final = 2


def core_event(document: Document, _old: Document | None) -> Iterator[FieldError]:
    """An event of v1, of either kind."""
    yield from _time_errors(document, {})
    yield from _errors(document, {})


def new_event(document: Document, old: Document | None) -> Iterator[FieldError]:
    """An event of events.k8s.io/v1 is always of the new kind; only its series may change."""
    yield from _time_errors(document, NEW_NAMES)
    event = to_core(document)
    yield from _errors(event, NEW_NAMES)
    yield from _series_errors(event.get("series"))
    yield from _creation_errors(event) if old is None else _change_errors(event, to_core(old))


def _time_errors(document: Document, names: Mapping[str, str]) -> Iterator[FieldError]:
    timestamps = tuple(names.get(name, name) for name in ("firstTimestamp", "lastTimestamp"))
    yield from time_errors(document, Path(), timestamps, SECONDS)
    for name in timestamps:  # kubectl sorts by them, and fails if no event has the field
        document.setdefault(name, None)
    yield from time_errors(document, Path(), ("eventTime",), MICROS)
    if document.get("series"):
        document["series"] = series = dict(document["series"])
        yield from time_errors(series, Path("series"), ("lastObservedTime",), MICROS)


def _errors(event: Document, names: Mapping[str, str]) -> Iterator[FieldError]:
    if event.get("eventTime"):
        yield from _reporter_errors(event, names)
        for name in _REQUIRED:
            yield from _word_errors(name, event.get(name, ""))
        message = names.get("message", "message")
        yield from _length_errors(message, event.get("message", ""), _LONGEST)
    if not _has_right_namespace(event):
        path = Path(names.get("involvedObject", "involvedObject")).child("namespace")
        given = event["involvedObject"].get("namespace", "")
        yield invalid(path, given, "does not match event.namespace")


def _has_right_namespace(event: Document) -> bool:
    """Whether the namespace of the event fits that of its object."""
    given = event["involvedObject"].get("namespace", "")
    own = event["metadata"].get("namespace", "")
    if event.get("eventTime"):
        return bool(given) or own in ("default", "kube-system")
    return given == own or (not given and own == "default")


def _reporter_errors(event: Document, names: Mapping[str, str]) -> Iterator[FieldError]:
    path = names.get("reportingComponent", "reportingComponent")
    reporter = event.get("reportingComponent", "")
    if not reporter:
        yield required(path)
    elif fault := label_syntax.key_fault(reporter):
        yield invalid(path, reporter, fault)


def _word_errors(name: str, word: str) -> Iterator[FieldError]:
    if not word:
        yield required(name)
    yield from _length_errors(name, word, _LONGEST_WORD)


def _length_errors(name: str, text: str, most: int) -> Iterator[FieldError]:
    if len(text.encode()) > most:
        yield invalid(name, text, f"can have at most {most} characters")


def _series_errors(series: Document | None) -> Iterator[FieldError]:
    if series is not None:
        count = series.get("count", 0)
        if count < _LEAST_REPEATED:
            yield invalid("series.count", count, f"should be at least {_LEAST_REPEATED}")
        if not series.get("lastObservedTime"):
            yield required("series.lastObservedTime")


def _creation_errors(event: Document) -> Iterator[FieldError]:
    if not event.get("eventTime"):
        yield required("eventTime")
    if event.get("type") not in ("Normal", "Warning"):
        yield invalid("type", event.get("type", ""), "must be Normal or Warning")
    for name in _OLD_FIELDS:
        if event.get(name):
            yield invalid(NEW_NAMES[name], event[name], "needs to be unset")


def _change_errors(event: Document, old: Document) -> Iterator[FieldError]:
    for name in sorted((event.keys() | old.keys()) - _MAY_CHANGE):
        if (event.get(name) or None) != (old.get(name) or None):
            yield invalid(NEW_NAMES.get(name, name), event.get(name), "field is immutable")
