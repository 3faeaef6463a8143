"""Conforms a document to its schema: prunes, defaults and validates it.

`api.structural` computes the exact result and every error, in Python. Most documents are valid, and
a fast path gives the same result for them: `strict_types` builds msgspec types from the schema,
`defaulting` fills in defaults, and `alternatives` checks what types cannot express. The fast path
only accepts documents that the exact functions would accept unchanged. A document that it refuses
takes the exact path, so an unnecessary refusal costs only time.

The exact path takes some microseconds per value and blocks the event loop. A document with more
values than `MOST_VALUES` is therefore accepted unchanged, or refused with its first error. A schema
with more than `MOST_NODES` always takes the exact path: building its types would take longer.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import msgspec

from kubekit.api.fields import FieldError, Path, Problem, forbidden
from kubekit.api.structural import (
    Judge,
    Matcher,
    coerced,
    faults,
    prune,
    unknown_fields,
    with_defaults,
)
from kubekit.api.structural.nodes import PRESERVE, Document, Schema, has_more_values
from kubekit.plane.registry.schema import patterns, validation_budget
from kubekit.plane.registry.schema.alternatives import prober
from kubekit.plane.registry.schema.defaulting import Fill, UncleanDefault, filler
from kubekit.plane.registry.schema.scalar_types import Inexpressible
from kubekit.plane.registry.schema.schema_nodes import count_nodes, normal
from kubekit.plane.registry.schema.strict_types import check, type_of

MOST_ERRORS: Final = 100
MOST_VALUES: Final = 100_000  # about half a second
MOST_NODES: Final = 20_000
MOST_BESIDE: Final = 8  # fast paths beside the main one; each has types of its own in memory

_Find = Callable[[Document], str | None]
"""Fills in defaults and finds the first error."""

_LONGEST: Final = 200  # characters of an error
_TOO_MUCH: Final = (
    "its validation takes too long: the schema has too many alternatives, patterns or defaults for "
    "so large a document"
)
_UNFIT: Final = "It fits too few or too many of the alternatives, or has so many properties"
_PLACE: Final = re.compile(r" - at `\$\.?([^`]*)`\Z")
_FIELD: Final = re.compile(r"Object (?:contains )?(.*) field `(.*)`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Conformed:
    """The document as it would be stored.

    ``unknown`` are the dropped fields, and ``errors`` the errors in the rest; each has at most
    `MOST_ERRORS` entries. ``unreadable`` is the error of a document that does not decode as its kind:
    the request is then a BadRequest, not Invalid. It is empty for all other documents.
    """

    document: Document
    unknown: list[FieldError] = field(default_factory=list)
    errors: list[FieldError] = field(default_factory=list)
    unreadable: str = ""


class Conformance:
    """One prepared schema. The types are built for the first document.

    In a kind that is not ``custom``, a value of the wrong type makes a document unreadable, and
    integers have as many bits as their format says.
    """

    def __init__(
        self, schema: Schema, matches: Matcher = patterns.matches, *, custom: bool = True
    ) -> None:
        self._schema = normal(schema)
        self._custom = custom
        self._judge = Judge(
            matches, native=not custom, most=MOST_ERRORS, spend=validation_budget.spend
        )
        # Most writes leave the spec or the status unchanged; each has its own fast path.
        self._parts = () if _combines(schema) else tuple(schema.get("properties", ()))
        self._beside: dict[tuple[str, ...], _Find] = {}

    def conform(self, document: Document, old: Document | None = None) -> Conformed:
        """The conformed document. The argument may be modified and reused in the result.

        ``old`` is the document that it replaces. Errors that the old one has are not reported. A part
        that is the identical object in both was validated when the old one was stored.
        """
        find = self._fault if old is None else self._fault_beside(document, old)
        validation_budget.start()
        try:
            fault = find(document)
            if fault is None:
                return Conformed(document)
            if fault and has_more_values(document, MOST_VALUES):
                return Conformed(document, errors=[_as_a_whole(fault)])
            return self._exactly(document, old)
        except validation_budget.BudgetExceeded:
            return Conformed(document, errors=[forbidden("", _TOO_MUCH)])
        finally:
            validation_budget.stop()

    def completed(self, document: Document) -> Document | None:
        """A stored document as it is read with this schema, which may be newer.

        Unknown fields are dropped, new defaults are filled in, and nothing is validated. The result
        is None if that changes nothing, or exceeds the validation budget. The argument may be
        modified.
        """
        fill, find = self._quick
        validation_budget.start()
        try:
            return self._completed(document, fill, find)
        except validation_budget.BudgetExceeded:
            return None
        finally:
            validation_budget.stop()

    def _completed(
        self, document: Document, fill: Fill | None, find: "_Find | None"
    ) -> Document | None:
        before = b"" if fill is None else msgspec.json.encode(document)
        if fill is not None:
            fill(document)
        if find is None or find(document) is not None:
            before = before or msgspec.json.encode(document)
            document = with_defaults(
                prune(document, self._schema), self._schema, validation_budget.spend
            )
        return None if not before or msgspec.json.encode(document) == before else document

    def _fault_beside(self, document: Document, old: Document) -> "_Find":
        """The check for the parts of a document that differ from the old one."""
        unchanged = tuple(
            name
            for name in self._parts
            if (part := document.get(name)) is not None and part is old.get(name)
        )
        if not unchanged:
            return self._fault
        find = self._beside.get(unchanged)
        if find is None and len(self._beside) >= MOST_BESIDE:
            return self._fault
        if find is None:
            properties = self._schema["properties"] | {key: {PRESERVE: True} for key in unchanged}
            rest = {**self._schema, "properties": properties}
            beside = Conformance(rest, self._judge.matches, custom=self._custom)
            find = self._beside[unchanged] = beside._fault
        return find

    @cached_property
    def _quick(self) -> tuple[Fill | None, "_Find | None"]:
        """The functions that fill in defaults and find an error; None if no types can be built."""
        if count_nodes(self._schema, MOST_NODES) > MOST_NODES:
            return None, None
        try:
            fill = filler(self._schema)
            kind = type_of(self._schema, self._judge)
            msgspec.json.Decoder(kind)  # msgspec refuses too large limits only here
        except (Inexpressible, UncleanDefault, OverflowError, TypeError, ValueError):
            return None, None
        probe = prober(self._schema, replace(self._judge, most=1))

        def fault(document: Document) -> str | None:
            try:
                msgspec.convert(document, kind, dec_hook=check)
            except msgspec.ValidationError as error:
                return str(error)
            return None if probe is None or probe(document) else _UNFIT

        return fill, fault

    @cached_property
    def _fault(self) -> "_Find":
        """Fills in defaults and finds the first error; None if there is none.

        The error is the message of msgspec, or empty if no types can be built.
        """
        fill, find = self._quick
        if find is None:
            return _unspecified
        if fill is None:
            return find
        sure = _sure_defaults(self._schema, self._judge)

        def fault(document: Document) -> str | None:
            filled = [name for name in sure if name not in document]
            fill(document)
            checked = document
            if filled:
                checked = {name: document[name] for name in document if name not in filled}
            return find(checked)

        return fault

    def _exactly(self, document: Document, old: Document | None) -> Conformed:
        schema, judge = self._schema, self._judge
        unknown = sorted(unknown_fields(document, schema, most=MOST_ERRORS), key=_path)
        read = coerced(
            with_defaults(prune(document, schema), schema, validation_budget.spend), schema
        )
        unknown += read.unknown[: MOST_ERRORS - len(unknown)]
        if read.fault is not None:
            return Conformed(read.document, unknown, [read.fault], str(read.fault))
        errors = faults(read.document, schema, judge)
        if not self._custom and (wrong := _mistyped(errors)):
            return Conformed(read.document, unknown, errors, wrong)
        if errors and old is not None:
            errors = _ratcheted(read.document, old, schema, judge)
        return Conformed(read.document, unknown, errors)


def _ratcheted(document: Document, old: Document, schema: Schema, judge: Judge) -> list[FieldError]:
    """The errors of a document that the old one does not have (validation ratcheting).

    A schema may become stricter than the stored objects. Then an update is refused only for errors
    in the parts that it changes. The old document is compared with the current defaults filled in.
    """
    complete = with_defaults(prune(old, schema), schema, judge.spend)
    return faults(document, schema, judge, coerced(complete, schema).document)


def _path(error: FieldError) -> str:
    return error.path


def _mistyped(errors: list[FieldError]) -> str:
    """The first value with a wrong type, and the expected type."""
    wrong = (error for error in errors if error.problem is Problem.TYPE_INVALID)
    return next((f"{error.path}: {error.message}" for error in wrong), "")


def _sure_defaults(schema: Schema, judge: Judge) -> tuple[str, ...]:
    """The top-level fields whose defaults are valid, so that they need no check each time.

    There are none if the schema has checks of the object as a whole.
    """
    sure = []
    for name, known in schema.get("properties", {}).items():
        if "default" in known and not known.get("nullable") and not _combines(schema):
            complete = with_defaults({name: known["default"]}, schema)
            if not faults(complete, {"type": "object", "properties": {name: known}}, judge):
                sure.append(name)
    return tuple(sure)


def _combines(schema: Schema) -> bool:
    return not schema.keys().isdisjoint(_WHOLE)


_WHOLE: Final = ("allOf", "anyOf", "maxProperties", "minProperties", "not", "oneOf")


def _unspecified(_document: Document) -> str:
    return ""


def _as_a_whole(fault: str) -> FieldError:
    """The error of a huge document, with the path of its field. The message may quote a value."""
    match = _PLACE.search(fault)
    message, path = (fault[: match.start()], Path(match[1])) if match else (fault, Path())
    if field := _FIELD.fullmatch(message):
        message, path = f"{field[1]} field", path.child(field[2])
    return forbidden(
        path,
        f"{message[:_LONGEST]}; a document of more than {MOST_VALUES} values must fit its schema "
        "as it is",
    )
