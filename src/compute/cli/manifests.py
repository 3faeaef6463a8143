"""Reading manifests: YAML or JSON, one document or several, from files or from stdin.

A manifest is text from anywhere, so the limits come before the parser. The C parser is quick but
recurses: a few thousand brackets would end the process. And a handful of aliases can stand for
millions of nodes. Both are told from the event stream, which does neither.

Plain words are read as JSON would read them: ``true`` is a boolean, but the city ``NO`` is not, and
a date is a string. A key given twice is an error, since one of its values would be lost.
"""

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
            key.tag = "tag:yaml.org,2002:str"  # else 1 and true would be one key to Python
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return mapping


for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?(?:0[0-7]*|[1-9][0-9]*)$", "-+0123456789"),  # 0644 is a file mode
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("float", r"^[-+]?[0-9]+[eE][-+]?[0-9]+$", "-+0123456789"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


def read(path: str) -> list[Manifest]:
    """Every document of a file, or of stdin when the path is ``-``."""
    source, text = _text(path)
    try:
        _guard(source, text)
        documents = list(yaml.load_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        raise Failure(
            f"{source}{_place(error.problem_mark)}: {error.problem or error.context}"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise Failure(f"{source}: this is not readable as YAML or JSON: {error}") from error
    found = [m for i, d in enumerate(documents, 1) for m in _manifests(source, i, d)]
    if not found:
        raise Failure(f"{source}: there is no document in it")
    return found


def _text(path: str) -> tuple[str, bytes]:
    source = "stdin" if path == "-" else path
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
    return source, text


def _guard(source: str, text: bytes) -> None:
    """Refuse what would be too deep or too wide once it is parsed."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise Failure(f"{source}{_place(event.start_mark)}: aliases are not supported")
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
