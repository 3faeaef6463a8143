"""JSON patches (RFC 6902): a list of operations, applied in order, all or none.

The work is done on a private copy, so each operation costs only the length of its path and what it
moves. Copies let a small patch make a large document: copied bytes are counted, and the patch is
refused once they exceed the size of a request. The shifting of entries in long lists is limited
too.

As on a Kubernetes server, an absent field reads as null, and so does an absent value. Only remove
and move need an existing value.

A body that is not a list of operations is `BadRequest`; an operation that is malformed or does not
fit the document is `Invalid`, as on a Kubernetes server.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from kubekit.api import json_pointer
from kubekit.api.errors import BadRequest, Invalid, TooLarge
from kubekit.api.excerpt import excerpt
from kubekit.client.transport import Document
from kubekit.plane.registry.body_decoder import DEPTH_LIMIT

MOST_OPERATIONS: Final = 10_000
MOST_COPIED: Final = 3 * 1024 * 1024  # bytes of JSON
MOST_SHIFTED: Final = 300_000_000  # entries of lists; about a fifth of a second

_TEXTS: Final = ("op", "path", "from")

Path = tuple[str, ...]


class _Misfit(Exception):
    """The operation does not fit the document, or lacks a part."""


def apply(document: Document, operations: object) -> Document:
    """The patched document. Neither argument is changed, and nothing is shared with them."""
    work = _Work(_copy(document))
    for number, operation in enumerate(_read(operations)):
        try:
            _perform(work, operation)
        except (_Misfit, json_pointer.PointerError, json_pointer.PointerSyntaxError) as error:
            raise Invalid(f"the JSON patch fails at {_named(number, operation)}: {error}") from None
        except RecursionError:
            raise _too_deep() from None
    return _whole(work.document)


class _Work:
    """The document during the patch, the number of bytes copied, and of entries shifted."""

    __slots__ = ("copied", "document", "shifted")

    def __init__(self, document: object) -> None:
        self.document = document
        self.copied = 0
        self.shifted = 0

    def add(self, path: Path, value: object) -> None:
        if not path:
            self.document = value
            return
        parent, token = self._parent(path), path[-1]
        if isinstance(parent, dict):
            parent[token] = value
        else:
            index = json_pointer.insertion_index(token, len(parent))
            self._shift(len(parent) - index)
            parent.insert(index, value)

    def remove(self, path: Path) -> object:
        """Remove and return a value.

        The whole document cannot be removed: no object would be left.
        """
        if not path:
            raise _Misfit("the whole document cannot be removed")
        parent, token = self._parent(path), path[-1]
        if isinstance(parent, dict):
            json_pointer.resolve(parent, (token,))
            return parent.pop(token)
        index = json_pointer.element(token, len(parent))
        self._shift(len(parent) - index)
        return parent.pop(index)

    def replace(self, path: Path, value: object) -> None:
        if not path:
            self.document = value
            return
        parent, token = self._parent(path), path[-1]
        parent[token if isinstance(parent, dict) else json_pointer.element(token, len(parent))] = (
            value
        )

    def get(self, path: Path) -> object:
        """The value at the path; null for a missing field."""
        if not path:
            return self.document
        parent, token = self._parent(path), path[-1]
        return (
            parent.get(token)
            if isinstance(parent, dict)
            else parent[json_pointer.element(token, len(parent))]
        )

    def copy_of(self, path: Path) -> object:
        data = msgspec.json.encode(self.get(path))
        self.copied += len(data)
        if self.copied > MOST_COPIED:
            raise _Misfit(f"the patch copies more than {MOST_COPIED} bytes")
        return msgspec.json.decode(data)

    def _shift(self, entries: int) -> None:
        self.shifted += entries
        if self.shifted > MOST_SHIFTED:
            raise _Misfit("the patch moves the entries of long lists too often")

    def _parent(self, path: Path) -> Any:  # noqa: ANN401 -- a dict or a list, which callers distinguish
        parent = json_pointer.resolve(self.document, path[:-1])
        if not isinstance(parent, dict | list):
            where = excerpt(json_pointer.format_pointer(path[:-1]))
            raise _Misfit(f"what is at {where} is neither an object nor an array")
        return parent


def _read(operations: object) -> list[Document]:
    """The operations, each an object with string members. Their meaning is not checked yet."""
    if not isinstance(operations, list):
        raise BadRequest("a JSON patch must be a JSON array of operations")
    if len(operations) > MOST_OPERATIONS:
        raise TooLarge(
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MOST_OPERATIONS}, got {len(operations)}"
        )
    read = [{} if operation is None else operation for operation in operations]
    for number, operation in enumerate(read):
        if not isinstance(operation, dict):
            raise BadRequest(f"operation {number} of the JSON patch must be a JSON object")
        for word in _TEXTS:
            if not isinstance(operation.get(word), str | None):
                raise BadRequest(f"operation {number} of the JSON patch: {word!r} must be a string")
    return read


def _perform(work: _Work, operation: Document) -> None:
    name = operation.get("op") or ""
    act = _ACTS.get(name)
    if act is None:
        known = ", ".join(_ACTS)
        raise _Misfit(f"{excerpt(name)} is not an operation; 'op' must be one of {known}")
    act(work, operation, _pointer(operation, "path"))


def _add(work: _Work, operation: Document, path: Path) -> None:
    work.add(path, _copy(operation.get("value")))


def _remove(work: _Work, _: Document, path: Path) -> None:
    work.remove(path)


def _replace(work: _Work, operation: Document, path: Path) -> None:
    work.replace(path, _copy(operation.get("value")))


def _move(work: _Work, operation: Document, path: Path) -> None:
    source = _pointer(operation, "from")
    if source == path[: len(source)] and source != path:
        raise _Misfit("nothing can be moved into itself")
    if source == path:
        json_pointer.resolve(work.document, path)
    else:
        work.add(path, work.remove(source))


def _copy_within(work: _Work, operation: Document, path: Path) -> None:
    work.add(path, work.copy_of(_pointer(operation, "from")))


def _test(work: _Work, operation: Document, path: Path) -> None:
    if not _equal(work.get(path), operation.get("value")):
        raise _Misfit("the value there is another one")


_ACTS: Final[dict[str, Callable[[_Work, Document, Path], None]]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy_within,
    "test": _test,
}


def _pointer(operation: Document, word: str) -> Path:
    text = operation.get(word)
    if text is None:
        raise _Misfit(f"it has no {word!r}")
    return json_pointer.parse(text)


def _equal(one: object, other: object) -> bool:
    """Whether both are the same JSON: 1 is 1.0 but is not true. Without recursion."""
    pairs = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pairs += [(a[name], b[name]) for name in a]
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pairs += zip(a, b, strict=True)
        elif a != b or isinstance(a, bool) != isinstance(b, bool):
            return False
    return True


def _copy(value: Any) -> Any:  # noqa: ANN401 -- the same type comes out
    return msgspec.json.decode(msgspec.json.encode(value))


def _whole(document: object) -> Document:
    """The result, if it is an object and no deeper than a request may be.

    Operations can nest documents, although none of them is deep by itself.
    """
    if not isinstance(document, dict):
        raise Invalid("the JSON patch leaves something that is not a JSON object")
    try:
        data = msgspec.json.encode(document)
    except RecursionError:
        raise _too_deep() from None
    # Counting brackets is fast, and a document with few of them cannot be deep.
    if data.count(b"{") + data.count(b"[") > DEPTH_LIMIT and _depth(document) > DEPTH_LIMIT:
        raise _too_deep()
    return document


def _depth(document: Document) -> int:
    level: list[Any] = [document]
    depth = 0
    while level:
        below = [child for node in level for child in _children(node)]
        level = [child for child in below if isinstance(child, dict | list)]
        depth += 1
    return depth


def _children(node: Any) -> Iterable[Any]:  # noqa: ANN401 -- a dict or a list
    return node.values() if isinstance(node, dict) else node


def _too_deep() -> Invalid:
    return Invalid(f"the JSON patch nests the document deeper than {DEPTH_LIMIT} levels")


def _named(number: int, operation: Document) -> str:
    name, path = (operation.get(word) or "" for word in ("op", "path"))
    return f"operation {number} ({name if name in _ACTS else excerpt(name)} {excerpt(path)})"
