"""Patches of every type, most of which can be applied."""

from random import Random
from typing import Any

from tests.differential.choosing import often
from tests.differential.contents import Document
from tests.differential.samples import Sample

MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


def patch(chance: Random, sample: Sample, about: int) -> tuple[str, Any]:
    """The type of a patch, and the patch."""
    media = chance.choices((MERGE, JSON, STRATEGIC), (5, 5, 3))[0]
    if often(chance, 0.12):
        return media, _broken(chance)
    if media == JSON:
        return media, [_operation(chance, sample, about) for _ in range(chance.randint(1, 3))]
    return media, _merge(chance, sample, about, strategic=media == STRATEGIC)


def _merge(chance: Random, sample: Sample, about: int, *, strategic: bool) -> Document:
    if often(chance, 0.2):
        return sample.wrong(chance)
    body = {key: value for key, value in sample.fields(chance).items() if often(chance, 0.8)}
    metadata = chance.choice(_METADATA)
    if metadata is not None and "managedFields" in metadata and sample.resource.kind == "Namespace":
        metadata = None  # the earlier owner of its finalizer is not kept for long
    if metadata is not None:
        body["metadata"] = metadata
    if often(chance, 0.2):
        body["metadata"] = body.get("metadata", {}) | {"resourceVersion": f"{{{{rv:{about}}}}}"}
    if strategic and often(chance, 0.4):
        body |= chance.choice((*_DIRECTIVES, *_OF_KINDS.get(sample.resource.kind, ())))
    return body


_METADATA: tuple[Document | None, ...] = (
    None,
    None,
    {"labels": {"app": "db"}},
    {"labels": {"app": None}},
    {"labels": None},
    {"annotations": {"example.test/note": "changed", "x": ""}},
    {"finalizers": None},
    {"finalizers": ["example.test/hold"]},
    {"finalizers": ["nodomain"]},
    {"name": "other"},
    {"namespace": "other"},
    {"uid": "00000000-0000-4000-8000-000000000001"},
    {"creationTimestamp": "2020-01-01T00:00:00Z"},
    {"managedFields": []},
    {"managedFields": [{}]},
    {"resourceVersion": "1"},
    {"resourceVersion": None},
    {"labels": {"bad key!": "x"}},
    {"labels": {"app": "bad value!"}},
    {"labels": {"app": 7}},
    {"labels": []},
    {"unknown": 1},
    {"generateName": "x-"},
    {"ownerReferences": [{"name": "x"}]},
)
_DIRECTIVES: tuple[Document, ...] = (
    {"$patch": "replace"},
    {"$patch": "delete"},
    {"$patch": "merge"},
    {"$patch": "other"},
    {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.test/hold"]}},
    {"metadata": {"finalizers": ["example.test/two"]}},
)
_OF_KINDS: dict[str, tuple[Document, ...]] = {
    "ConfigMap": ({"data": {"$patch": "delete"}},),
    "ServiceAccount": (
        {"secrets": [{"name": "x", "$patch": "delete"}]},
        {"secrets": [{"name": "z"}], "$setElementOrder/secrets": [{"name": "z"}, {"name": "x"}]},
        {"secrets": [{"name": "x"}, {"name": "w"}]},
        {"imagePullSecrets": [{"name": "other"}]},
    ),
    "RoleBinding": ({"subjects": [{"kind": "User", "name": "eve"}]},),
}


def _operation(chance: Random, sample: Sample, about: int) -> Document:
    fields = sample.fields(chance)
    field, value = chance.choice([*fields.items(), ("metadata", {"name": "a"})])
    return chance.choice(
        (
            {"op": "add", "path": f"/{field}", "value": value},
            {"op": "replace", "path": f"/{field}", "value": value},
            {"op": "remove", "path": f"/{field}"},
            {"op": "test", "path": f"/{field}", "value": value},
            {"op": "add", "path": "/metadata/labels", "value": {"app": "web"}},
            {"op": "add", "path": "/metadata/labels/app", "value": "db"},
            {"op": "remove", "path": "/metadata/labels/app"},
            {"op": "replace", "path": "/metadata/labels/absent", "value": "x"},
            {"op": "add", "path": "/metadata/annotations/example.test~1note", "value": "json"},
            {"op": "add", "path": "/metadata/finalizers/-", "value": "example.test/hold"},
            {"op": "remove", "path": "/metadata/finalizers/0"},
            {"op": "add", "path": "/metadata/finalizers/7", "value": "example.test/x"},
            {"op": "test", "path": "/metadata/resourceVersion", "value": f"{{{{rv:{about}}}}}"},
            {"op": "test", "path": "/kind", "value": "Other"},
            {"op": "copy", "from": "/metadata/name", "path": "/metadata/labels/copy"},
            {"op": "move", "from": f"/{field}", "path": "/elsewhere"},
            {"op": "copy", "from": "/nowhere", "path": "/metadata/labels/copy"},
            {"op": "replace", "path": "/metadata/name", "value": "other"},
            {"op": "add", "path": "/unknown", "value": 1},
            {"op": "add", "path": "/data/new", "value": "1"},
            {"op": "remove", "path": "/data/a"},
            {"op": "replace", "path": "/spec/colour", "value": "green"},
            {"op": "add", "path": "/spec/tags/-", "value": "n"},
            {"op": "add", "path": "/spec/parts/0", "value": {"name": "first"}},
            {"op": "remove", "path": "/spec/parts/-1"},
        )
    )


def _broken(chance: Random) -> Any:
    return chance.choice(
        (
            "",
            "null",
            "7",
            '"text"',
            "[]",
            "{}",
            "{",
            '{"metadata":',
            "[{}]",
            "[1]",
            '[{"op":"add"}]',
            '[{"op":"add","path":"/metadata/labels"}]',
            '[{"op":"jump","path":"/kind"}]',
            '[{"op":"remove","path":"kind"}]',
            '[{"op":"test","path":"/kind"}]',
            '[{"op":"move","path":"/kind"}]',
            '[{"op":7,"path":"/kind"}]',
            '{"op":"remove","path":"/kind"}',
            '{"metadata":[]}',
            '{"metadata":"x"}',
            '{"metadata":null}',
            '{"metadata":{"labels":{"a":"1","a":"2"}}}',
            "not json",
        )
    )
