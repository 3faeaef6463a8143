"""Selects objects of a collection by namespace, name, labels and fields.

A selection searches the bytes before it decodes them: a label with one required value appears as
those exact characters, so most objects that do not match are never decoded.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec

from kubekit.api.errors import BadRequest
from kubekit.api.selectors import field_selectors, label_selectors
from kubekit.api.selectors.field_selectors import FieldRequirement, FieldSelector
from kubekit.api.selectors.label_requirement import Operator, Requirement, SelectorError
from kubekit.api.selectors.label_selectors import Selector
from kubekit.plane.registry.encoding import document_of
from kubekit.plane.registry.json_path import JsonPath, compile as compile_path
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.store.records import Record

_T = TypeVar("_T")

_SLICE: Final = 2000  # records that are checked before other tasks run
_NAME: Final = "metadata.name"
_NAMESPACE: Final = "metadata.namespace"
_ONE_VALUE: Final = frozenset({Operator.EQUALS, Operator.DOUBLE_EQUALS})
_PRESENT: Final = frozenset(
    {Operator.IN, Operator.EXISTS, Operator.GREATER_THAN, Operator.LESS_THAN}
)
_EVENT: Final = ("reason", "type")
_REFERENCE: Final = (
    "kind",
    "namespace",
    "name",
    "uid",
    "apiVersion",
    "resourceVersion",
    "fieldPath",
)
_BUILT_IN: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("", "namespaces"): {"status.phase": ".status.phase", "name": ".metadata.name"},
    ("", "secrets"): {"type": ".type"},
    ("", "events"): {
        **{name: f".{name}" for name in _EVENT},
        **{f"involvedObject.{part}": f".involvedObject.{part}" for part in _REFERENCE},
        "reportingComponent": ".reportingComponent",
        "source": ".source.component",
    },
    ("events.k8s.io", "events"): {
        **{name: f".{name}" for name in _EVENT},
        **{f"regarding.{part}": f".regarding.{part}" for part in _REFERENCE},
        "reportingController": ".reportingController",
    },
}


class _Meta(msgspec.Struct, gc=False):
    labels: dict[str, str] = {}


class _Labelled(msgspec.Struct, gc=False):
    metadata: _Meta


_labelled: Final = msgspec.json.Decoder(_Labelled).decode


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection. ``prefix`` and ``key`` select by key; if ``filtered``, content is compared too."""

    kind: Kind
    prefix: str = ""
    key: str | None = None
    labels: Selector = label_selectors.EVERYTHING
    fields: FieldSelector = field_selectors.EVERYTHING
    filtered: bool = False
    needles: tuple[bytes, ...] = ()
    paths: Mapping[str, JsonPath] = field(default_factory=dict)

    @property
    def label_pair(self) -> str:
        """A required label with one value, as text in JSON that every selected object contains."""
        values = (needle for needle in self.needles if not needle.endswith(b':"'))
        return next(values, b"").decode()

    def covers(self, key: str) -> bool:
        """Whether the key is selected."""
        return key == self.key if self.key is not None else key.startswith(self.prefix)

    def matches(self, record: Record) -> bool:
        """Whether the content of an object at a selected key is selected."""
        if not self.filtered:
            return True
        if any(needle not in record.data for needle in self.needles):
            return False
        if self.labels.requirements and not self._labels_match(record):
            return False
        return not self.fields.requirements or self._fields_match(record)

    def _labels_match(self, record: Record) -> bool:
        return self.labels.matches(_labelled(record.data).metadata.labels)

    def _fields_match(self, record: Record) -> bool:
        document = document_of(self.kind, record)
        texts = {name: _text(path.values(document)) for name, path in self.paths.items()}
        return self.fields.matches(texts)


def select(
    kind: Kind, namespace: str, name: str, label_selector: str, field_selector: str
) -> Selection:
    """The selection of a request. An empty namespace means all namespaces."""
    prefix = f"{namespace}/" if namespace and kind.resource.namespaced else ""
    if not (name or label_selector or field_selector):
        return Selection(kind, prefix)
    labels = _parsed(label_selectors.parse, label_selector)
    fields = _parsed(field_selectors.parse, field_selector)
    name = name or next((r.value for r in fields.requirements if _names_one(r)), "")
    single = bool(name) and (bool(prefix) or not kind.resource.namespaced)
    return Selection(
        kind,
        prefix,
        key=kind.key(namespace, name) if single else None,
        labels=labels,
        fields=fields,
        filtered=bool(labels.requirements or fields.requirements),
        needles=tuple(_needles(labels.requirements)),
        paths=_paths(kind, fields),
    )


async def matching(selection: Selection, records: list[Record], limit: int = 0) -> list[Record]:
    """The records whose content is selected. With a limit, the search stops when it is exceeded.

    Long collections are filtered in slices, so that other requests run in between.
    """
    if not selection.filtered:
        return records
    matches: list[Record] = []
    for start in range(0, len(records), _SLICE):
        matches += filter(selection.matches, records[start : start + _SLICE])
        if limit and len(matches) > limit:
            break
        if start + _SLICE < len(records):
            await asyncio.sleep(0)
    return matches


def _names_one(requirement: FieldRequirement) -> bool:
    return requirement.field == _NAME and requirement.operator == "="


def _parsed(parse: Callable[[str], _T], text: str) -> _T:
    try:
        return parse(text)
    except SelectorError as error:
        raise BadRequest(str(error)) from error


def _needles(requirements: Iterable[Requirement]) -> Iterator[bytes]:
    """Bytes that every matching object contains.

    Keys and values of labels have no character that JSON can encode in more than one form.
    """
    for requirement in requirements:
        key = f'"{requirement.key}":"'
        if requirement.operator in _ONE_VALUE:
            yield f'{key}{"".join(requirement.values)}"'.encode()
        elif requirement.operator in _PRESENT:
            yield key.encode()


def _paths(kind: Kind, fields: FieldSelector) -> dict[str, JsonPath]:
    known = _selectable(kind)
    for requirement in fields.requirements:
        if requirement.field not in known:
            raise BadRequest(
                f"field label not supported: {requirement.field}; "
                f"{kind.resource.plural} can be selected by {', '.join(known)}"
            )
    return {r.field: compile_path(known[r.field]) for r in fields.requirements}


def _selectable(kind: Kind) -> dict[str, str]:
    """The path of each field that field selectors of the kind support."""
    common = {_NAME: ".metadata.name"}
    if kind.resource.namespaced:
        common[_NAMESPACE] = ".metadata.namespace"
    declared = {path.removeprefix("."): path for path in kind.selectable_fields}
    own = _BUILT_IN.get((kind.resource.group, kind.resource.plural), {})
    return {**common, **declared, **own}


def _text(values: list[object]) -> str:
    """The text that a field selector compares with; a missing field is empty."""
    match values:
        case [str(text)]:
            return text
        case [bool(truth)]:
            return "true" if truth else "false"
        case [int(number)]:
            return str(number)
        case _:
            return ""
