"""The content of all planes of a world, in a form that two runs of the same story have in common.

Everything is kept but what chance and time decide: uids, versions, times, addresses, nodes. A uid
becomes the name of what has it, so that a reference to what is gone differs from one to what is
there. One that no object has, and every address, is named by the object that speaks of it first: two
that are the same stay the same, and two that differ stay two. Generations count writes: all that is
kept of them is whether two are the same.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from compute.app.planes import PlaneRef
from kubekit.client.transport import Document
from kubekit.plane.plane import Plane
from tests.support.compute.end_states import differing

State = dict[str, Document]  # by plane, kind and name

# What is left out, and why: kinds by how they end, fields by kind and key.
UNLIKE_KINDS: Final = {
    "/events": "they depend on the course, and a second life repeats some of them",
    "/leases": "they name the processes that run now",
    "/clusterroles": "each plane makes them for itself, before anything happens",
    "/clusterrolebindings": "the same",
    "/serviceaccounts": "each plane makes one for each namespace",
}
UNLIKE_FIELDS: Final = {
    ("", "resourceVersion"): "it counts the writes of a whole plane",
    ("", "managedFields"): "they say when each field was last written",
    ("ConfigMap", "revision"): "the version of the project's claims that a ledger was written for",
    ("ConfigMap", "holder"): "which life of the quota service wrote a ledger last",
    ("ConfigMap", "reserved"): "the claims of the last batch: which came last is chance",
    (
        "Network",
        "networking.datumapis.com/allocations",
    ): "attempts are counted before they are made",
}
UNLIKE_GENERATIONS: Final = {
    "copy of Instance": "its conditions name the generation in the cell",
    "Work": "it names the generations of its manifests",
    "ResourceBinding": "it names the generations of its object",
}
UNLIKE_WORDS: Final = {
    "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z",
    "node": r"\bnode-\d+\b",  # the provider draws one
    # At the end of the name of a Work: of its namespace, whose name has a uid in it.
    "hash": r"(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5,10}\b(?!-)",
}
# What stands for something: a uid, or an address, which goes to the first request.
_TOKENS: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b\d+(?:\.\d+){3}(?:/\d+)?\b"
_CHANCE: Final = re.compile(
    "|".join(f"(?P<{word}>{looks})" for word, looks in {**UNLIKE_WORDS, "token": _TOKENS}.items())
)
_GENERATION: Final = re.compile(r"(?i).*generation$")


def state(planes: Mapping[PlaneRef, Plane]) -> State:
    """Everything that is there."""
    found = list(_everything(planes))
    words = _Words(found)
    return {words.key(ref, document): words.said(ref, document) for ref, document in found}


def differences(left: State, right: State) -> list[str]:
    """What is not the same in two states, a line for each field."""
    return [
        f"{name}{line}"
        for name in sorted(left.keys() | right.keys())
        for line in differing(left.get(name), right.get(name))
    ]


def _everything(planes: Mapping[PlaneRef, Plane]) -> Iterator[tuple[PlaneRef, Document]]:
    for ref, plane in planes.items():
        for storage in plane.kinds.stored():
            if not storage.endswith(tuple(UNLIKE_KINDS)):
                for record in plane.store.collection(storage).range():
                    yield ref, msgspec.json.decode(record.data)


class _Words:
    """Names for what is drawn again in each run."""

    def __init__(self, found: list[tuple[PlaneRef, Document]]) -> None:
        self._of_tokens = {
            document["metadata"]["uid"]: f"<{_CHANCE.sub('', _title(ref, document))}>"
            for ref, document in found
        }
        self._strangers: Counter[str] = Counter()

    def key(self, ref: PlaneRef, document: Document) -> str:
        return self._text(_title(ref, document), "")

    def said(self, ref: PlaneRef, document: Document) -> Document:
        kind = document["kind"]
        kind = f"copy of {kind}" if kind == "Instance" and ref.role != "cell" else kind
        about = _About(kind, self.key(ref, document), _own_generation(document))
        bare: Document = self._bare(document, about)
        return bare

    def _bare(self, value: Any, about: "_About") -> Any:
        match value:
            case dict():
                return {
                    self._text(key, about.key): self._field(key, inner, about)
                    for key, inner in value.items()
                    if not about.is_unlike(key)
                }
            case list():
                return [self._bare(inner, about) for inner in value]
            case str():
                return self._text(value, about.key)
            case _:
                return value

    def _field(self, key: str, value: Any, about: "_About") -> Any:
        if _GENERATION.match(key) and not isinstance(value, dict):
            if about.kind in UNLIKE_GENERATIONS:
                return "any"
            return "the same" if str(value) == about.generation else "another"
        return self._bare(value, about)

    def _text(self, text: str, key: str) -> str:
        return _CHANCE.sub(lambda found: self._word(found, key), text)

    def _word(self, found: re.Match[str], key: str) -> str:
        token = found["token"]
        if token is None:
            return f"<{found.lastgroup}>"
        if token not in self._of_tokens:
            self._strangers[key] += 1
            self._of_tokens[token] = f"<stranger {self._strangers[key]} of {key}>"
        return self._of_tokens[token]


class _About(msgspec.Struct, frozen=True):
    """Of which object something is said."""

    kind: str
    key: str
    generation: str

    def is_unlike(self, key: str) -> bool:
        return ("", key) in UNLIKE_FIELDS or (self.kind, key) in UNLIKE_FIELDS


def _title(ref: PlaneRef, document: Document) -> str:
    meta = document["metadata"]
    place = "/".join(filter(None, (meta.get("namespace", ""), meta["name"])))
    return f"{ref.context} {document['kind']} {place}"


def _own_generation(document: Document) -> str:
    return str(document["metadata"].get("generation", ""))
