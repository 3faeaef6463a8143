"""Requests made from OpenAPI documents: what schemathesis draws, taken apart, recombined and spoiled.

Drawing a case takes it tens of milliseconds. A few are drawn for each operation, some that fit the
schema and some that do not; many requests are made of their parts, which takes next to nothing.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote, unquote, urlencode

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

Document = dict[str, Any]
Look = Callable[[str], Document | None]
POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
ORDER = ("post", "get", "put", "patch", "delete")
NAMES = ("alpha", "beta", "gamma")
JSON = "application/json"
PATCHES = (
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
TYPES = (
    JSON,
    "application/yaml",
    *PATCHES,
    "application/vnd.kubernetes.protobuf",
    "application/json; charset=utf-16",
    "text/plain",
    "",
)
ACCEPTS = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "text/html;q=,*/*;;",
    "application/json;as=Table;v=v9",
)
ODD_HEADERS = (
    ("Impersonate-User", "ann"),
    ("Impersonate-User", ""),
    ("Impersonate-Extra-%zz", "x"),
    ("Content-Encoding", "gzip"),
    ("Content-Encoding", "br"),
    ("User-Agent", "x" * 300),
    ("User-Agent", "\xff\xfe"),
    ("If-None-Match", '"'),
    ("X-Remote-User", "admin"),
    ("Expect", "100-continue"),
)
ODD_TEXTS = (
    "",
    "a/b",
    "..",
    ".",
    "%",
    "\x00",
    "ü" * 99,
    "\ud800",
    "x" * 300,
    "A_b",
    "*",
    "a:b",
    " ",
)
ODD_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**63, 10**30, 1.5, 1e308, "", "\ud800", "\x00", "x" * 5000, [], {}, [[]], [None],
    {"": {}}, {"$patch": "delete"}, {"$patch": "replace"}, {"$setElementOrder/x": [1]}, {"f:": {}},
    "2026-01-01T00:00:00Z", "1e9999", "9" * 40 + "Ei", [{}, {}], {"a": {"b": {"c": [{"d": None}]}}},
)  # fmt: skip
ODD_QUERIES = (
    ("watch", "1"), ("watch", "maybe"), ("limit", "-1"), ("limit", "1"), ("continue", "e30"),
    ("continue", "\x00"), ("continue", "eyJxdWVzdGlvbiI6Iv8i"), ("labelSelector", "a in (b"), ("labelSelector", "a,!b,c!=d,e in (f,g)"),
    ("fieldSelector", "metadata.name=alpha"), ("fieldSelector", "spec.x=\\,"),
    ("resourceVersion", "0"), ("resourceVersion", "99999999"), ("resourceVersion", "-"),
    ("resourceVersionMatch", "Exact"), ("sendInitialEvents", "true"), ("timeoutSeconds", "1"),
    ("dryRun", "All"), ("dryRun", "Some"), ("fieldManager", "x" * 200), ("fieldManager", "fuzz"),
    ("fieldValidation", "Strict"), ("fieldValidation", "Warn"), ("force", "true"), ("force", "2"),
    ("propagationPolicy", "Foreground"), ("propagationPolicy", "x"), ("gracePeriodSeconds", "0"),
    ("orphanDependents", "true"), ("pretty", "true"), ("includeObject", "None"), ("", ""), ("%", "%"),
)  # fmt: skip


@dataclass(frozen=True)
class Request:
    """A request without credentials and Content-Length."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    operation: str = ""

    @property
    def follows(self) -> bool:
        """Whether the answer may be one that goes on: what a flag counts as is the server's say."""
        return self.method == "GET" and "watch" in self.target

    def __str__(self) -> str:
        return f"{self.method} {self.target} {self.headers} {self.body!r}"


@dataclass
class Drawn:
    """The parts of the cases that were drawn for an operation."""

    operation: Any
    group_version_kind: Mapping[str, str]
    paths: list[dict[str, str]] = field(default_factory=list)
    queries: list[list[tuple[str, str]]] = field(default_factory=list)
    bodies: list[tuple[Any, str]] = field(default_factory=list)
    names: tuple[str, ...] = NAMES

    @property
    def label(self) -> str:
        label: str = self.operation.label
        return label

    @property
    def plans(self) -> bool:
        """Whether it is only tried: what it does would change what all the others meet.

        A webhook that is nowhere fails every write, and definitions take their objects along.
        """
        path, group = self.operation.path, self.group_version_kind["group"]
        deletes_all = self.operation.method == "delete" and "{name}" not in path
        return group == "admissionregistration.k8s.io" or (
            group == "apiextensions.k8s.io" and deletes_all
        )


def operations_of(document: Document) -> list[Any]:
    """Every operation of a document, in an order in which there is something to work on."""
    schema = schemathesis.openapi.from_dict(document)
    found: list[Any] = list(schema.get_all_operations())
    return sorted(
        (each.ok() for each in found), key=lambda operation: ORDER.index(operation.method)
    )


def drawn(operation: Any, positive: int, negative: int) -> Drawn:
    """Some cases of an operation, the same in each run, so that a failure can be reproduced."""
    head = operation.definition.raw["x-kubernetes-group-version-kind"]
    parts = Drawn(operation, head)
    for mode, count in ((POSITIVE, positive), (NEGATIVE, negative)):
        _draw(operation, mode, count, parts)
    if parts.plans and operation.method == "delete":
        parts.bodies.clear()  # beside options in a body, those of the query count for nothing
    return parts


def _draw(operation: Any, mode: GenerationMode, count: int, parts: Drawn) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def take(case: Any) -> None:
        said = case.path_parameters.items()
        parts.paths.append({n: unquote(str(v), errors="surrogatepass") for n, v in said})
        parts.queries.append([(str(n), str(v)) for n, v in (case.query or {}).items()])
        if case.media_type is not None:
            parts.bodies.append((case.body, case.media_type))

    take()


def enrich(parts: Drawn, bodies: Sequence[Document], names: Sequence[str]) -> None:
    """Let it be about these objects as well, in whatever form it takes them."""
    if parts.operation.method not in ("post", "put", "patch"):
        return
    parts.bodies += [(body, JSON) for body in bodies]
    parts.names += tuple(names)


def requests(parts: Drawn, count: int, chance: Random, look: Look) -> Iterator[Request]:
    """Requests out of the parts: first the cases as they were drawn, then mixtures.

    What replaces an object is often made of what a ``look`` at it shows.
    """
    for number in range(count):
        mixed = number >= len(parts.paths)
        name = chance.choice(parts.names)
        target = _target(parts, chance, number, name if mixed else "")
        body, content_type = _body(parts, chance, number, name if mixed else "")
        if mixed and parts.operation.method == "put" and chance.random() < 0.5:
            present = look(target.partition("?")[0])
            body = _encoded(_touched(present, chance)) if present else body
        headers = [("Content-Type", content_type)] if body is not None else []
        if mixed and chance.random() < 0.2:
            headers.append(("Accept", chance.choice(ACCEPTS)))
        if mixed and chance.random() < 0.1:
            headers.append(chance.choice(ODD_HEADERS))
        method = parts.operation.method.upper()
        yield Request(method, target, tuple(headers), body, parts.label)


def _target(parts: Drawn, chance: Random, number: int, name: str) -> str:
    """A path and a query. Where a name is given, they are a mixture about that object."""
    said = parts.paths[number % len(parts.paths)] if parts.paths else {}
    usual = {"name": name, "namespace": "default"}
    if name:
        # A delete of an object without a name would be one of all objects.
        odd = ODD_TEXTS[1:] if parts.operation.method == "delete" else ODD_TEXTS
        said = {part: _segment(usual[part], (text, *odd), chance) for part, text in said.items()}
    path: str = parts.operation.path
    for part, text in said.items():
        path = path.replace(f"{{{part}}}", quote(text, safe="", errors="surrogatepass"))
    if name and chance.random() < 0.02:
        path = _spoiled(path.encode(), chance).decode(errors="replace")
        path = "/" + quote(path.lstrip("/"), safe="/%")
    query = list(parts.queries[number % len(parts.queries)])
    if name:
        query = [pair for pair in query if chance.random() < 0.05]
        query += [chance.choice(ODD_QUERIES) for _ in range(chance.choice((0, 0, 0, 0, 1, 2)))]
    if parts.operation.method == "patch" and chance.random() < 0.7:
        query.append(("fieldManager", "fuzz"))  # without it, nothing can be applied
    if parts.plans:
        query = [*(pair for pair in query if pair[0] != "dryRun"), ("dryRun", "All")]
    return path + ("?" + urlencode(query, errors="surrogatepass") if query else "")


def _segment(usual: str, others: Sequence[str], chance: Random) -> str:
    lot = chance.random()
    if lot < 0.85:
        return usual
    return others[0] if lot < 0.93 else chance.choice(others)


def _body(parts: Drawn, chance: Random, number: int, name: str) -> tuple[bytes | None, str]:
    if not parts.bodies:
        return None, ""
    if not name:
        value, content_type = parts.bodies[number % len(parts.bodies)]
        return _encoded(value), content_type
    value, _ = chance.choice(parts.bodies)
    usual = PATCHES if parts.operation.method == "patch" else TYPES[:2]
    content_type = chance.choice(TYPES if chance.random() < 0.05 else usual)
    value = _proper(value, parts, chance, name)
    if content_type == "application/json-patch+json":
        value = _operations(value, chance)
    lot = chance.random()
    if lot < 0.4:
        value = _bent(value, chance)
    encoded = _encoded(value)
    return (_spoiled(encoded, chance) if lot > 0.9 else encoded), content_type


def _proper(value: Any, parts: Drawn, chance: Random, name: str) -> Any:
    """A body that gets further: it says what it is, and mostly has a name that will do."""
    if not isinstance(value, dict) or chance.random() < 0.1:
        return value
    said = parts.group_version_kind
    api_version = f"{said['group']}/{said['version']}" if said["group"] else said["version"]
    if parts.operation.method == "delete":
        return value | {"apiVersion": "v1", "kind": "DeleteOptions"}
    value = value | {"apiVersion": api_version, "kind": said["kind"]}
    if chance.random() < 0.7:
        value["metadata"] = {"name": name, "labels": {"a": "b"}}
    return value


def _touched(present: Document, chance: Random) -> Any:
    """An object that is there, with a change somewhere, or only a harmless one."""
    if chance.random() < 0.7:
        return _bent(present, chance)
    labels = present["metadata"].get("labels", {}) | {"touched": str(chance.random())}
    return present | {"metadata": present["metadata"] | {"labels": labels}}


def _operations(value: Any, chance: Random) -> Any:
    """A JSON patch about the places of a value."""
    places = list(_places(value))
    return [
        {
            "op": chance.choice(("add", "remove", "replace", "move", "copy", "test")),
            "path": _pointer(chance.choice(places)) if places else "",
            "from": _pointer(chance.choice(places)) if places else "/metadata",
            "value": chance.choice(ODD_VALUES),
        }
        for _ in range(chance.randrange(4))
    ]


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs: Sequence[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    for step, part in pairs:
        yield (*path, step)
        yield from _places(part, (*path, step))


def _pointer(path: tuple[Any, ...]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _bent(value: Any, chance: Random) -> Any:
    """The value with something odd in one of its places."""
    places = list(_places(value))
    if not places:
        return chance.choice(ODD_VALUES)
    value = json.loads(_encoded(value))
    *way, last = chance.choice(places)
    within = value
    for step in way:
        within = within[step]
    within[last] = chance.choice(ODD_VALUES)
    return value


def _spoiled(data: bytes, chance: Random) -> bytes:
    """The bytes with some of them gone, doubled, or others."""
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.randrange(1, 9))
    middle = chance.choice((b"", data[start:end] * 3, chance.randbytes(end - start), b"[" * 2000))
    return data[:start] + middle + data[end:]


def _encoded(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return json.dumps(value, default=str).encode("utf-8", "surrogatepass")
