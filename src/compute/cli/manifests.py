"""Reading manifests: YAML or JSON, one document or several, from files or from stdin.

A manifest is text from anywhere, so the limits come before the parser. The C parser is quick but
recurses: a few thousand brackets would end the process. And a handful of aliases can stand for
millions of nodes. Both are told from the event stream, which does neither.

Plain words are read as JSON would read them: ``true`` is a boolean, but the city ``NO`` is not, and
a date is a string. A key given twice is an error, since one of its values would be lost. A tag could
ask for what JSON does not have, so only those are taken that say what is plain anyway.
"""

import codecs
import math
import re
import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from compute.cli.exits import Failure

SIZE_LIMIT: Final = 3 * 1024 * 1024  # bytes, as an API server takes
DEPTH_LIMIT: Final = 100
DIGIT_LIMIT: Final = 40  # of a number; far beyond 64 bits, and still short to print

_TAG: Final = "tag:yaml.org,2002:"
_PLAIN_TAGS: Final = (None, f"{_TAG}str", f"{_TAG}map", f"{_TAG}seq")
_LARGEST_WHOLE: Final = 1e21  # from there on JSON writes a number with an exponent
_TWO_ESCAPES: Final = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)

# What the parser's words usually come from.
_HINTS: Final = {
    "did not find expected key": "; check the indentation of this line and the one above",
    "mapping values are not allowed in this context": '; quote a value that contains ": "',
    "found character that cannot start any token": "; indent with spaces, not with tabs",
}

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Manifest:
    """One document and where it stands."""

    source: str
    document: dict[str, object]


class _Loader(_Base):  # type: ignore[misc]  # the C loader has no type of its own
    """Reads plain scalars as JSON does, and refuses a key given twice."""

    yaml_implicit_resolvers: dict[str, list[Any]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _refused("a key must be a word", key)
            if key.value in seen:
                raise _refused(f"the key {key.value!r} is given twice", key)
            seen.add(key.value)
            key.tag = f"{_TAG}str"  # else 1 and true would be one key to Python
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return mapping

    def construct_integer(self, node: yaml.ScalarNode) -> int:
        text: str = node.value
        if len(text) > DIGIT_LIMIT:
            raise _refused(f"a number has more than {DIGIT_LIMIT} digits", node)
        return int(text, 8 if text.lstrip("+-").startswith("0") else 10)

    def construct_decimal(self, node: yaml.ScalarNode) -> int | float:
        """The number. A whole one is an integer, since JSON writes both alike."""
        number = float(node.value)
        if math.isinf(number):
            raise _refused("a number is too large", node)
        whole = number.is_integer() and abs(number) < _LARGEST_WHOLE
        return int(number) if whole else number


for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?(?:0[0-7]*|[1-9][0-9]*)$", "-+0123456789"),  # 0644 is a file mode
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("float", r"^[-+]?[0-9]+[eE][-+]?[0-9]+$", "-+0123456789"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
):
    _Loader.add_implicit_resolver(f"{_TAG}{_tag}", re.compile(_pattern), list(_first))
_Loader.add_constructor(f"{_TAG}int", _Loader.construct_integer)
_Loader.add_constructor(f"{_TAG}float", _Loader.construct_decimal)


def read(path: str) -> list[Manifest]:
    """Every document of a file, or of stdin when the path is ``-``."""
    source, text = _text(path)
    try:
        _guard(source, text)
        documents = list(yaml.load_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        problem = error.problem or str(error.context)
        hint = _HINTS.get(problem, "")
        raise Failure(f"{source}{_place(error.problem_mark)}: {problem}{hint}") from error
    except yaml.reader.ReaderError as error:
        where = f"{source}, byte {error.position + 1}"
        raise Failure(f"{where}: not readable as text: {error.reason}") from error
    found = [m for i, d in enumerate(documents, 1) for m in _manifests(source, i, d)]
    if not found:
        raise Failure(f"{source}: there is no document in it")
    return found


def _text(path: str) -> tuple[str, bytes]:
    source = "stdin" if path == "-" else path or "''"
    try:
        if path == "-":
            text = sys.stdin.buffer.read(SIZE_LIMIT + 1)
        else:
            with Path(path).open("rb") as file:
                text = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise Failure(f"{source}: cannot be read: {error.strerror}") from error
    if len(text) > SIZE_LIMIT:
        raise Failure(f"{source}: larger than {SIZE_LIMIT // 1024 // 1024} MiB")
    return source, _joined(text)


def _joined(text: bytes) -> bytes:
    """The text with characters that JSON writes as two escapes written as YAML does: as one."""
    looks_like_json = text.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")
    return _TWO_ESCAPES.sub(_one_escape, text) if looks_like_json else text


def _one_escape(found: re.Match[bytes]) -> bytes:
    high, low = (int(found[group], 16) for group in (2, 3))
    return found[1] + b"\\U%08x" % (0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _guard(source: str, text: bytes) -> None:
    """Refuse what would be too deep, too wide or no JSON once it is parsed."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise Failure(f"{source}{_place(event.start_mark)}: aliases are not supported")
        if getattr(event, "tag", None) not in _PLAIN_TAGS:
            raise Failure(f"{source}{_place(event.start_mark)}: tags are not supported")
        if depth > DEPTH_LIMIT:
            place = _place(event.start_mark)
            raise Failure(f"{source}{place}: nested deeper than {DEPTH_LIMIT} levels")


def _refused(problem: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _place(mark: Any) -> str:  # noqa: ANN401 - one of PyYAML's two kinds of mark, or none
    return f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""


def _manifests(source: str, position: int, document: object) -> Iterator[Manifest]:
    """The document itself, or the items of a List; nothing for an empty document."""
    match document:
        case None:
            return
        case {"kind": "List", "items": [*items]}:
            for item in items:
                yield from _manifests(source, position, item)
        case dict():
            yield Manifest(source, document)
        case _:
            raise Failure(f"{source}, document {position}: not an object with apiVersion and kind")
