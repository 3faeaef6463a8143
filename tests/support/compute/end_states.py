"""The state of every plane of a world, in a form in which two worlds can be compared.

Stories with the same end may reach it by different steps. Whatever depends on the steps is removed:
times, versions, generations, and the assignment of addresses and nodes. A uid is replaced by the name
of its object, so that a dangling reference differs from a valid one. For that no two planes may share
a uid, as in `tests.integration.apart`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from compute.services.network.subnet_ledger import ALLOCATIONS
from kubekit.client.transport import Document
from tests.support.kubekit.stage import Observer

State = dict[str, Document]  # by plane, kind and name

# Kinds that tell of the way, of who is at work now, or of what every plane comes with.
_LEFT_OUT: Final = re.compile(r".*/(events|leases|serviceaccounts)|rbac\.authorization\.k8s\.io/.*")
_COUNTED: Final = re.compile(r"(?i).*generation|resourceVersion|managedFields")
_UID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CHANCE: Final = {
    re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"): "<time>",
    re.compile(r"\bnode-\d+\b"): "<node>",
    # At the end of the name of a Work: of its namespace, whose name has a uid in it.
    re.compile(r"(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5,10}\b(?!-)"): "<hash>",
    re.compile(r"-net-\d+\b"): "-net-<number>",  # a binding takes the next name that is free
}
_HISTORY: Final = "compute.datumapis.com-revision-history."
_LEDGER: Final = "quota-ledger."


def compared(world: Observer) -> State:
    """The state of a world, without whatever depends on the steps that led to it."""
    found = list(_everything(world))
    holders = dict(_holder(*each) for each in found)
    state: State = {}
    for plane, kind, text in found:
        bare = _bare(_said(json.loads(_plain(text, holders))))
        meta = bare["metadata"]
        name = f"{plane} {kind} {meta.get('namespace', '')}/{meta['name']}"
        while name in state:
            name += "'"
        state[name] = bare
    return state


def about(names: Iterable[str], state: State) -> dict[str, State]:
    """The part of a state that belongs to each of some Workloads, without their names."""
    found: dict[str, State] = {name: {} for name in names}
    word = re.compile(rf"\b({'|'.join(found)})\b")
    for key, document in state.items():
        text = json.dumps([key, document])
        for name in set(word.findall(text)):
            called, said = json.loads(re.sub(rf"\b{name}\b", "<workload>", text))
            found[name][called] = said
    return found


def differences(left: State, right: State) -> list[str]:
    """What is not the same in two states, a line for each field."""
    return [
        f"{name}{line}"
        for name in sorted(left.keys() | right.keys())
        for line in differing(left.get(name), right.get(name))
    ]


def _everything(world: Observer) -> Iterator[tuple[str, str, str]]:
    """The plane, the kind and the text of each object."""
    for name, plane in world.planes.items():
        for storage in plane.kinds.stored():
            if not _LEFT_OUT.fullmatch(storage):
                for record in plane.store.collection(storage).range():
                    yield name, storage, record.data.decode()


def _holder(plane: str, kind: str, text: str) -> tuple[str, str]:
    """A uid, and the name that replaces it."""
    meta = json.loads(text)["metadata"]
    return meta["uid"], f"<{plane} {kind} {_plain(meta['name'], {})}>"


def _said(document: Document) -> Document:
    """The document; of a history, only its last entry."""
    meta, data = document["metadata"], document.get("data") or {}
    name, noted = meta["name"], meta.get("annotations", {})
    if noted.pop(ALLOCATIONS, None) and not noted:
        del meta["annotations"]
    if name.startswith(_HISTORY):
        newest = json.loads(data[max(data, key=int)])
        return {"metadata": {"name": name}, "spec": json.loads(newest["spec"])}
    if name.startswith(_LEDGER):
        return {"metadata": {"name": name}}  # claims and buckets say what it has come to
    return document


def _bare(value: Any) -> Any:
    match value:
        case dict():
            return {
                key: "<address>" if key == "networkIP" else _bare(inner)
                for key, inner in value.items()
                if not _COUNTED.fullmatch(key)
            }
        case list():
            return [_bare(inner) for inner in value]
        case _:
            return value


def _plain(text: str, holders: Mapping[str, str]) -> str:
    for pattern, word in _CHANCE.items():
        text = pattern.sub(word, text)
    return _UID.sub(lambda found: holders.get(found[0], "<unknown>"), text)


def differing(left: Any, right: Any) -> Iterator[str]:
    """The differences of two trees, one line each."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys()):
            yield from (f" .{key}{line}" for line in differing(left.get(key), right.get(key)))
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for position, pair in enumerate(zip(left, right, strict=True)):
            yield from (f"[{position}]{line}" for line in differing(*pair))
    elif left != right:
        yield f": {json.dumps(left)} is not {json.dumps(right)}"
