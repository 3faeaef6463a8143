"""JSON merge patches (RFC 7386): an object of the changed fields, null for removed ones."""

from typing import Any

import msgspec

from kubekit.api.errors import BadRequest
from kubekit.client.transport import Document


def apply(document: Document, patch: object) -> Document:
    """The patched document.

    Neither argument is changed. The result shares untouched parts with the document, and shares
    nothing with the patch, which may be applied again to a newer document.
    """
    if not isinstance(patch, dict):
        raise BadRequest("a merge patch must be a JSON object with the fields to change")
    result = dict(document)
    todo = [(result, patch)]
    while todo:
        target, changes = todo.pop()
        for name, change in changes.items():
            if change is None:
                target.pop(name, None)
            elif isinstance(change, dict):
                below = target.get(name)
                target[name] = dict(below) if isinstance(below, dict) else {}
                todo.append((target[name], change))
            else:
                target[name] = _own(change)
    return result


def _own(value: object) -> object:
    """The value; a list, which is replaced as a whole, as a copy.

    A null entry stays. A null field of an entry is removed, as everywhere else: RFC 7386 would keep
    it, Kubernetes does not.
    """
    if not isinstance(value, list):
        return value
    data = msgspec.json.encode(value)
    copy: list[Any] = msgspec.json.decode(data)
    if b"null" in data:
        _drop_null_fields(copy)
    return copy


def _drop_null_fields(entries: list[Any]) -> None:
    todo: list[Any] = [entries]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            for name in [name for name, member in node.items() if member is None]:
                del node[name]
        members = node.values() if isinstance(node, dict) else node
        todo += [member for member in members if isinstance(member, dict | list)]
