"""What becomes of a document under its schema: cleaned, completed and judged.

`api.structural` gives the exact answer and every error, in Python. Most documents have nothing
wrong with them, and for those the same answer comes from types that msgspec checks, made of the
schema by `stricttypes`, after `filling` has put the defaults in. What the types accept, the exact
functions would accept unchanged; what they refuse goes the exact way, so refusing too much costs
time and nothing else. Keywords that the exact functions do not judge are not judged here either.

The exact way takes some microseconds for each value, in which nobody else is served. A document
with more values than `MOST_VALUES` is therefore accepted as it is, or refused for its first fault.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import msgspec

from compute.api.fields import FieldError, Path, forbidden
from compute.api.structural import Matcher, found, prune, unknown_fields, validate, with_defaults
from compute.api.structural_nodes import Document, Schema
from compute.plane.registry.filling import UncleanDefault, filler
from compute.plane.registry.stricttypes import check, type_of

MOST_ERRORS: Final = 100  # as many as anybody reads
MOST_VALUES: Final = 100_000  # about half a second

_LONGEST: Final = 200  # characters of a fault
_PLACE: Final = re.compile(r" - at `\$\.?([^`]*)`\Z")
_FIELD: Final = re.compile(r"Object (?:contains )?(.*) field `(.*)`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Conformed:
    """The document as it would be stored.

    ``unknown`` are the fields that were dropped, ``errors`` what is wrong with the rest; of both
    the first `MOST_ERRORS`.
    """

    document: Document
    unknown: list[FieldError] = field(default_factory=list)
    errors: list[FieldError] = field(default_factory=list)


class Conformance:
    """One schema, made ready. The types are made when the first document comes."""

    def __init__(self, schema: Schema, matches: Matcher = found) -> None:
        self._schema = schema
        self._matches = matches

    def conform(self, document: Document) -> Conformed:
        """The document as the schema wants it. It is taken over: the result may be made of it."""
        fault = self._fault(document)
        if fault is None:
            return Conformed(document)
        if fault and _is_huge(document):
            return Conformed(document, errors=[_as_a_whole(fault)])
        return self._exactly(document)

    @cached_property
    def _fault(self) -> Callable[[Document], str | None]:
        """What there is to do beyond filling in defaults, which is done on the way; None if nothing.

        It is told in the words of msgspec, and not told at all where there are no types.
        """
        try:
            fill = filler(self._schema) or _nothing
            kind = type_of(self._schema, self._matches)
            msgspec.json.Decoder(kind)  # only now are limits refused that msgspec cannot count to
        except (UncleanDefault, OverflowError, TypeError, ValueError):
            return _untold

        sure = _sure_defaults(self._schema, self._matches)

        def fault(document: Document) -> str | None:
            filled = [name for name in sure if name not in document]
            fill(document)
            judged = document
            if filled:
                judged = {name: document[name] for name in document if name not in filled}
            try:
                msgspec.convert(judged, kind, dec_hook=check)
            except msgspec.ValidationError as error:
                return str(error)
            return None

        return fault

    def _exactly(self, document: Document) -> Conformed:
        unknown = unknown_fields(document, self._schema, most=MOST_ERRORS)
        complete = with_defaults(prune(document, self._schema), self._schema)
        errors = validate(complete, self._schema, matches=self._matches, most=MOST_ERRORS)
        return Conformed(complete, unknown, errors)


def _sure_defaults(schema: Schema, matches: Matcher) -> tuple[str, ...]:
    """The fields of the document itself whose defaults are right, and need not be judged each time."""
    sure = []
    for name, known in schema.get("properties", {}).items():
        if "default" in known and not known.get("nullable"):
            complete = with_defaults({name: known["default"]}, schema)
            if not validate(
                complete, {"type": "object", "properties": {name: known}}, matches=matches
            ):
                sure.append(name)
    return tuple(sure)


def _nothing(_document: Any) -> None:  # noqa: ANN401 - a `Fill`
    """Schemas without defaults fill in nothing."""


def _untold(_document: Document) -> str:
    return ""


def _is_huge(document: Document) -> bool:
    """Whether it has more values than can be looked at one by one while others wait."""
    count = 0
    todo: list[Any] = [document]
    while todo:
        node = todo.pop()
        count += len(node)
        if count > MOST_VALUES:
            return True
        members = node.values() if isinstance(node, dict) else node
        todo += [member for member in members if isinstance(member, dict | list)]
    return False


def _as_a_whole(fault: str) -> FieldError:
    """The fault of a huge document, with the path of its field. The words may quote a value."""
    place = _PLACE.search(fault)
    words, path = (fault[: place.start()], Path(place[1])) if place else (fault, Path())
    if field := _FIELD.fullmatch(words):
        words, path = f"{field[1]} field", path.child(field[2])
    return forbidden(
        path,
        f"{words[:_LONGEST]}; a document of more than {MOST_VALUES} values must fit its schema "
        "as it is",
    )
