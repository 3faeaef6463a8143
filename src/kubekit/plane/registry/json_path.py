r"""The paths of printer columns, scale numbers and selectable fields, as CRDs write them.

    .spec.replicas    .metadata.annotations.example\.com/owner    .spec['odd name']
    .items[0]    .items[-1]    .items[1:3]    .items[*].name    .labels.*
    .status.conditions[?(@.type=="Ready")].status    .items[?(@.weight>=2)]    .items[?(@.weight)]

A missing field yields no value and no error. Two features of the full language are refused: `..` and
lists of several indexes. Without them no node is reached twice, so an evaluation visits each node at
most once for each step.
"""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

import msgspec

from kubekit.api.excerpt import excerpt

Step = Callable[[object], Iterable[object]]
_Compiled = partial[Iterable[object]]

_NUMBER: Final = r"(-?[0-9]{1,9})"
_TEXT: Final = r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_PLAIN_STEP: Final = re.compile(
    r"\.((?:[^\\.\[\](){}'\"=!<>@*?,\s]|\\.)+)"  # .name
    rf"|\[{_TEXT}\]"  # ['name']
    r"|(\.\*|\[\*\])"
    rf"|\[{_NUMBER}\]"
    rf"|\[{_NUMBER}?:{_NUMBER}?\]",
    re.DOTALL,
)
_FILTER_START: Final = re.compile(r"\[\?\(\s*@")
_FILTER_END: Final = re.compile(
    rf"\s*(?:(==|!=|<=|>=|<|>)\s*(?:{_TEXT}|([-+.\w]+))\s*)?\)\]", re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ORDERS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class JsonPathError(ValueError):
    """The text is not a supported path."""


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path to any number of values in a document.

    ``fields`` are its names when it consists of names only: then it selects one field, which can
    also be written; otherwise it is empty.
    """

    fields: tuple[str, ...]
    steps: tuple[Step, ...]

    def values(self, document: object) -> list[object]:
        """The values that the path selects, in document order."""
        return _walk(self.steps, document)


@lru_cache(maxsize=4096)
def compile(text: str) -> JsonPath:  # noqa: A001 -- as `re.compile`; called as `jsonpath.compile`
    """Parse a path."""
    steps, at = [], 0
    while at < len(text):
        step, at = _step(text, at)
        steps.append(step)
    if not steps:
        raise JsonPathError("a path must name something, such as .spec.replicas")
    names = [step.args[0] for step in steps if step.func is _field]
    return JsonPath(tuple(names) if len(names) == len(steps) else (), tuple(steps))


def _walk(steps: Iterable[Step], document: object) -> list[object]:
    nodes = [document]
    for step in steps:
        nodes = [child for node in nodes for child in step(node)]
    return nodes


def _step(text: str, at: int) -> tuple[_Compiled, int]:
    """The step that starts here, and the position of the next one."""
    if match := _PLAIN_STEP.match(text, at):
        return _plain(match), match.end()
    if match := _FILTER_START.match(text, at):
        return _filter(text, match.end())
    raise _unreadable(text, at)


def _plain(match: re.Match[str]) -> _Compiled:
    name, quoted, wild, index, start, end = match.groups()
    if name or quoted:
        return partial(_field, _unescaped(name or quoted[1:-1]))
    if wild:
        return partial(_children) if wild == ".*" else partial(_items, slice(None))
    if index:
        return partial(_items, slice(int(index), int(index) + 1 or None))
    return partial(_items, slice(int(start) if start else None, int(end) if end else None))


def _filter(text: str, at: int) -> tuple[_Compiled, int]:
    steps = []
    while match := _PLAIN_STEP.match(text, at):
        steps.append(_plain(match))
        at = match.end()
    tail = _FILTER_END.match(text, at)
    if tail is None:
        raise _unreadable(text, at)
    comparison, quoted, bare = tail.groups()
    if comparison is None:
        return partial(_having, tuple(steps)), tail.end()
    wanted = _unescaped(quoted[1:-1]) if quoted else _bare(bare)
    return partial(_comparing, tuple(steps), comparison, wanted), tail.end()


def _bare(text: str) -> object:
    """A number, true or false.

    Null has no order, and clients do not distinguish it from absence.
    """
    try:
        return msgspec.json.decode(text, type=bool | int | float)
    except msgspec.MsgspecError:
        raise JsonPathError(
            f"{excerpt(text)} is not a value to compare with: put text in quotes"
        ) from None


def _unreadable(text: str, at: int) -> JsonPathError:
    return JsonPathError(
        f"{excerpt(text)} is not a path: it cannot be read from {excerpt(text[at:])} on; "
        "write it like .spec.replicas, .items[0].name or .items[?(@.name=='x')].size"
    )


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)


def _field(name: str, node: object) -> Iterable[object]:
    return (node[name],) if isinstance(node, dict) and name in node else ()


def _children(node: object) -> Iterable[object]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _items(which: slice, node: object) -> Iterable[object]:
    return node[which] if isinstance(node, list) else ()


def _having(steps: tuple[Step, ...], node: object) -> Iterable[object]:
    return [item for item in _listed(node) if _walk(steps, item)]


def _comparing(
    steps: tuple[Step, ...], comparison: str, wanted: object, node: object
) -> Iterable[object]:
    return [
        item
        for item in _listed(node)
        if any(_holds(value, comparison, wanted) for value in _walk(steps, item))
    ]


def _holds(value: object, comparison: str, wanted: object) -> bool:
    if comparison == "!=":
        return not _holds(value, "==", wanted)
    return _family(value) == _family(wanted) and _ORDERS[comparison](value, wanted)


def _family(value: object) -> str:
    """The type for comparisons: text and numbers have no order between them."""
    return "number" if type(value) in {int, float} else type(value).__name__


def _listed(node: object) -> list[object]:
    return node if isinstance(node, list) else []
