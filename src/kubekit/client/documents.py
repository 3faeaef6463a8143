"""Documents from anywhere, in YAML or JSON, read within limits that protect the reader.

The text is not trusted, so the limits are checked before parsing. The C parser is fast but recursive:
a few thousand brackets would crash the process. A handful of aliases can expand to millions of
nodes. The event stream, which neither recurses nor expands, is checked for both. Directives are
counted even earlier, because the event stream compares each with all before it.

Plain scalars are read as JSON reads them: ``true`` is a boolean, but the city ``NO`` is not, and a date
is a string. A duplicate key is an error, because one of its values would be lost. A tag may name a
type that JSON does not have, so only the tags of plain values are accepted.
"""

import codecs
import math
import re
from collections.abc import Hashable
from typing import Any, Final

import yaml

SIZE_LIMIT: Final = 3 * 1024 * 1024  # bytes, as an API server takes
DEPTH_LIMIT: Final = 100
DIGIT_LIMIT: Final = 40  # of a number; far beyond 64 bits, and still short to print

_TAG: Final = "tag:yaml.org,2002:"
_PLAIN_TAGS: Final = (None, f"{_TAG}str", f"{_TAG}map", f"{_TAG}seq")
_EXACT: Final = 2.0**53  # beyond it a float cannot represent every integer
_MOST_DIRECTIVES: Final = 10
_TAG_DIRECTIVE: Final = re.compile(rb"(?:\A|\xef\xbb\xbf|[\n\r]|\xc2\x85|\xe2\x80[\xa8\xa9])%TAG")
_TWO_ESCAPES: Final = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)

# The usual causes of the parser's messages.
_HINTS: Final = {
    "did not find expected key": "; check the indentation of this line and the one above",
    "mapping values are not allowed in this context": '; quote a value that contains ": "',
    "found character that cannot start any token": "; indent with spaces, not with tabs",
}

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class UnreadableDocument(ValueError):
    """A text that is refused. ``location`` is the position, to be put after the name of the text."""

    def __init__(self, location: str, problem: str) -> None:
        super().__init__(f"{location}: {problem}".lstrip(" ,:"))
        self.location = location
        self.problem = problem


class _Loader(_Base):  # type: ignore[misc]  # the C loader has no type of its own
    """Reads plain scalars as JSON does, and refuses a duplicate key."""

    yaml_implicit_resolvers: dict[str, list[Any]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _refused("a key must be a string, not a list or map", key)
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
        try:
            return number(node.value)
        except ValueError as error:
            raise _refused(str(error), node) from error


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


def number(text: str) -> int | float:
    """The number with a point or an exponent in it.

    An integral one is an integer: JSON has one type of number, and other encoders write both alike.
    """
    value = float(text)
    if math.isinf(value):
        raise ValueError("a number is too large")
    return int(value) if value.is_integer() and abs(value) < _EXACT else value


def read(text: bytes, most_nodes: int | None = None) -> list[object]:
    """The value of every document in the text; None for an empty one. It raises `UnreadableDocument`.

    Reading takes about 10 microseconds for each key, value and bracket; a server limits it by
    ``most_nodes``.
    """
    if len(text) > SIZE_LIMIT:
        raise UnreadableDocument("", f"larger than {SIZE_LIMIT // 1024 // 1024} MiB")
    text = _with_joined_surrogates(text)
    if _count_directives(text) > _MOST_DIRECTIVES:
        raise UnreadableDocument("", f"more than {_MOST_DIRECTIVES} lines start with %TAG")
    try:
        _guard(text, most_nodes)
        return list(yaml.load_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        problem = error.problem or str(error.context)
        hint = _HINTS.get(problem, "")
        raise UnreadableDocument(_position(error.problem_mark), f"{problem}{hint}") from error
    except yaml.reader.ReaderError as error:
        problem = f"not readable as text: {error.reason}"
        raise UnreadableDocument(f", byte {error.position + 1}", problem) from error


def _with_joined_surrogates(text: bytes) -> bytes:
    """The text with the surrogate pairs of JSON joined into the single escapes of YAML."""
    looks_like_json = text.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")
    return _TWO_ESCAPES.sub(_one_escape, text) if looks_like_json else text


def _one_escape(match: re.Match[bytes]) -> bytes:
    both = int(match[2] + match[3], 16)
    return match[1] + b"\\U%08x" % (0x10000 + ((both >> 16 & 0x3FF) << 10) + (both & 0x3FF))


def _count_directives(text: bytes) -> int:
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = text.decode("utf-16", "ignore").encode()
    return len(_TAG_DIRECTIVE.findall(text))


def _guard(text: bytes, most_nodes: int | None) -> None:
    """Refuse a text that is too deep, too large, or not expressible in JSON."""
    depth = 0
    for nodes, event in enumerate(yaml.parse(text, Loader=_Loader)):
        if nodes == most_nodes:
            raise UnreadableDocument(
                "", f"larger than {most_nodes} keys and values; send it as JSON"
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise UnreadableDocument(_position(event.start_mark), "aliases are not supported")
        if getattr(event, "tag", None) not in _PLAIN_TAGS:
            raise UnreadableDocument(_position(event.start_mark), "tags are not supported")
        if depth > DEPTH_LIMIT:
            location = _position(event.start_mark)
            raise UnreadableDocument(location, f"nested deeper than {DEPTH_LIMIT} levels")


def _refused(problem: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _position(mark: Any) -> str:  # noqa: ANN401 - one of PyYAML's two kinds of mark, or none
    return f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
