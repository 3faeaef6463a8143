"""Requests that are wrong in one way."""

from copy import copy
from random import Random
from typing import Any

from tests.differential.asks import text
from tests.differential.contents import Document
from tests.differential.samples import Sample

Query = tuple[tuple[str, str], ...]
_LONG = "x" * 254


def wrong_document(chance: Random, sample: Sample, name: str) -> tuple[Any, Query]:
    """A document that is wrong in one way, and with what strictness it is sent."""
    document = sample.document(chance, name)
    query: Query = ()
    if chance.random() < 0.5:
        query = (("fieldValidation", chance.choice(("Strict", "Warn", "Ignore"))),)
    how = chance.randrange(6)
    if how in (0, 1):
        kept = {key: document[key] for key in ("apiVersion", "kind", "metadata")}
        return kept | sample.wrong(chance), query
    if how in (2, 3):
        document["metadata"] = document["metadata"] | chance.choice(_METADATA)
        said = document["metadata"]["name"]
        if not sample.resource.namespaced and said in ("Upper", "a_b", "other", _LONG):
            document["metadata"]["name"] = "{{ns}}-" + said  # which some kinds take
        return document, query
    if how == 4:
        top = chance.choice(_TOP)
        return document | {key: copy(value) for key, value in top.items()}, query
    return chance.choice(_TEXTS) or _doubled(document), query


_METADATA: tuple[Document, ...] = (
    {"name": "Upper"},
    {"name": "a_b"},
    {"name": "a/b"},
    {"name": ".."},
    {"name": _LONG},
    {"name": ""},
    {"name": 7},
    {"name": None},
    {"name": "other"},
    {"namespace": "other"},
    {"namespace": ""},
    {"namespace": 7},
    {"labels": {"app": "not a value"}},
    {"labels": {"-a": "x"}},
    {"labels": {"a/b/c": "x"}},
    {"labels": {"Upper.Test/a": "x"}},
    {"labels": {"a" * 64: "x"}},
    {"labels": {"app": "x" * 64}},
    {"labels": {"app": 1}},
    {"labels": {"app": None}},
    {"labels": "app=web"},
    {"annotations": {"not a key": "x"}},
    {"annotations": {"a": True}},
    {"annotations": {"a": "x" * 262145}},
    {"finalizers": ["nodomain"]},
    {"finalizers": ["bad name!"]},
    {"finalizers": ["example.test/a", "example.test/a"]},
    {"finalizers": "example.test/a"},
    {"finalizers": ["foregroundDeletion", "orphan"]},
    {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}]},
    {"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "1"}]},
    {"ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]},
    {
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": n, "uid": n, "controller": True}
            for n in "ab"
        ]
    },
    {"generateName": "bad name!"},
    {"generateName": "x" * 300, "name": ""},
    {"resourceVersion": "5"},
    {"resourceVersion": 5},
    {"uid": "mine"},
    {"uid": 7},
    {"generation": "1"},
    {"creationTimestamp": "2020-01-01T00:00:00Z"},
    {"creationTimestamp": "yesterday"},
    {"creationTimestamp": 7},
    {"managedFields": [{"manager": "x", "operation": "Nothing"}]},
    {"managedFields": [{"manager": "x", "operation": "Apply", "apiVersion": "v1"}]},
    {"managedFields": {}},
    {"unknown": 1},
    {"Name": "upper"},
)
_TOP: tuple[Document, ...] = (
    {"kind": "Other"},
    {"kind": ""},
    {"kind": 7},
    {"kind": None},
    {"apiVersion": "other/v1"},
    {"apiVersion": "v9"},
    {"apiVersion": ""},
    {"apiVersion": "a/b/c"},
    {"apiVersion": None},
    {"apiVersion": 1},
    {"metadata": None},
    {"metadata": []},
    {"metadata": "x"},
    {"metadata": {}},
    {"unknown": {"deep": 1}},
    {"unknown": None},
    {"unknown": 1, "other": 2},
    {"kind": "List", "items": []},
)
_TEXTS = (
    "",
    "null",
    "7",
    "[]",
    "{}",
    "{",
    '{"kind":',
    "not json",
    '{"kind":"ConfigMap"}',
    '{"apiVersion":"v1"}',
    '{"apiVersion":"v1","kind":"ConfigMap"} trailing',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a\\ud800"}}',
    None,
    None,
    None,
)


def _doubled(document: Document) -> str:
    """A document with a field twice."""
    return text(document)[:-1] + ', "metadata": ' + text(document["metadata"]) + "}"


def wrong_ask(chance: Random, sample: Sample, name: str) -> tuple[str, str, Query, dict[str, Any]]:
    """A request that is wrong in its path, verb, parameters or headers."""
    document = sample.document(chance, name)
    item = f"{sample.collection}/{name}"
    if not sample.is_custom and chance.random() < 0.05:  # of a custom kind it would be a create
        return "POST", item, (), {"body": document}
    if not sample.resource.status and chance.random() < 0.05:
        return "PUT", f"{item}/status", (), {"body": document}
    if sample.fills_in:
        document["metadata"]["annotations"] = {"example.test/ask": str(chance.random())}
    how = chance.choice((_of_a_path, _of_a_list, _of_a_write, _of_a_delete, _of_headers))
    return how(chance, sample.collection, item, document)


def _of_a_path(
    chance: Random, collection: str, item: str, document: Document
) -> tuple[str, str, Query, dict[str, Any]]:
    body = {"body": document}
    return chance.choice(
        (
            ("PUT", collection, (), body),
            ("PATCH", collection, (), body | {"media": "application/merge-patch+json"}),
            ("GET", f"{item}/nothing", (), {}),
            ("PUT", f"{item}/nothing", (), body),
            ("GET", f"{item}/status", (), {}),
            ("GET", f"{item}/scale", (), {}),
            ("DELETE", f"{item}/status", (), {}),
            ("GET", f"{collection}x", (), {}),
            ("POST", f"{collection}x", (), body),
            ("GET", "/api/v9/namespaces/{{ns}}/configmaps", (), {}),
            ("GET", "/apis/none.test/v1/things", (), {}),
            ("GET", "/nothing/at/all", (), {}),
            ("GET", "/api/v1/namespaces/{{ns}}", (), {}),
            ("GET", "/api/v1/namespaces/{{ns}}/status", (), {}),
            ("GET", f"{collection}/Not_A_Name", (), {}),
            ("DELETE", f"{collection}/Not_A_Name", (), {}),
            ("GET", f"{collection}/", (_MINE,), {}),
            ("POST", "/api/v1/namespaces/nowhere-{{ns}}/configmaps", (), _a_config_map()),
            ("GET", "/api/v1/namespaces/nowhere-{{ns}}/configmaps", (), {}),
            ("OPTIONS", item, (), {}),
            ("HEAD", item, (), {}),
        )
    )


def _a_config_map() -> dict[str, Any]:
    return {"body": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}}


def _of_a_list(
    chance: Random, collection: str, _item: str, _document: Document
) -> tuple[str, str, Query, dict[str, Any]]:
    query = chance.choice(
        (
            (("labelSelector", "a=b=c"),),
            (("labelSelector", "a in ("),),
            (("labelSelector", "!!a"),),
            (("labelSelector", "a/b/c=d"),),
            (("labelSelector", "a in ()"),),
            (("labelSelector", "a=not ok"),),
            (("labelSelector", "a>b"),),
            (("labelSelector", ","),),
            (("fieldSelector", "spec.nothing=x"),),
            (("fieldSelector", "metadata.name"),),
            (("fieldSelector", "metadata.name=a,metadata.labels.app=b"),),
            (("fieldSelector", "=a"),),
            (("limit", "abc"), _MINE),
            (("limit", "-1"), _MINE),
            (("limit", "1.5"), _MINE),
            (("limit", ""), _MINE),
            (("continue", "not-a-token"), _MINE),
            (("continue", "e30"), ("resourceVersion", "5"), _MINE),
            (("resourceVersion", "x"), _MINE),
            (("resourceVersion", "-1"), _MINE),
            (("resourceVersion", "5"), ("resourceVersionMatch", "Sometimes"), _MINE),
            (("resourceVersionMatch", "Exact"), _MINE),
            (("resourceVersion", "0"), ("resourceVersionMatch", "Exact"), _MINE),
            (("timeoutSeconds", "abc"), _MINE),
            (("watch", "maybe"), _SHORT, _MINE),
            (("watch", "true"), ("resourceVersion", "x"), _SHORT, _MINE),
            (("watch", "true"), ("sendInitialEvents", "true"), _SHORT, _MINE),
            (("sendInitialEvents", "true"), _MINE),
            (("watch", "true"), ("timeoutSeconds", "1"), ("labelSelector", "a=b=c")),
            (("watch", "true"), ("timeoutSeconds", "1"), ("fieldSelector", "spec.nothing=x")),
            (("watch", "true"), ("continue", "x"), ("timeoutSeconds", "1"), _MINE),
            (("pretty", "true"), _MINE),
            (("unknown", "true"), _MINE),
        )
    )
    return "GET", collection, query, {}


_SHORT = ("timeoutSeconds", "1")
_MINE = ("labelSelector", "differential={{ns}}")


def _of_a_write(
    chance: Random, collection: str, item: str, document: Document
) -> tuple[str, str, Query, dict[str, Any]]:
    query = chance.choice(
        (
            (("dryRun", "Some"),),
            (("dryRun", ""),),
            (("dryRun", "All"), ("dryRun", "All")),
            (("fieldValidation", "Loose"),),
            (("fieldManager", "x" * 129),),
            (("fieldManager", "a\u0007b"),),
            (("fieldManager", ""),),
            (("force", "true"),),
            (("force", "maybe"),),
            (("unknown", "x"),),
        )
    )
    apply = "application/apply-patch+yaml"
    notes = document["metadata"].get("annotations")
    noted = {"metadata": {"annotations": notes}} if notes else {}
    return chance.choice(
        (
            ("POST", collection, query, {"body": document}),
            ("PUT", item, query, {"body": document}),
            ("PATCH", item, query, {"body": noted, "media": "application/merge-patch+json"}),
            ("PATCH", item, query, {"body": document, "media": apply}),
            ("PATCH", item, (), {"body": document, "media": apply}),
            ("PATCH", item, (("fieldManager", "ann"),), {"body": "a: [", "media": apply}),
            ("PATCH", item, (("fieldManager", "ann"),), {"body": "{}", "media": apply}),
            ("PATCH", item, (("fieldManager", "ann"),), {"body": "7", "media": apply}),
        )
    )


def _of_a_delete(
    chance: Random, _collection: str, item: str, _document: Document
) -> tuple[str, str, Query, dict[str, Any]]:
    body, query = chance.choice(
        (
            ({"propagationPolicy": "Sideways"}, ()),
            ({"propagationPolicy": "Orphan", "orphanDependents": True}, ()),
            ({"gracePeriodSeconds": -1}, ()),
            ({"gracePeriodSeconds": "x"}, ()),
            ({"dryRun": ["Some"]}, ()),
            ({"dryRun": ["All"]}, ()),
            ({"dryRun": "All"}, ()),
            ({"preconditions": {"uid": "wrong"}}, ()),
            ({"preconditions": "x"}, ()),
            ({"kind": "Other", "apiVersion": "v1"}, ()),
            ({"kind": "DeleteOptions", "apiVersion": "v7"}, ()),
            ({"unknown": 1}, (("dryRun", "All"),)),
            ("{", ()),
            ("[]", ()),
            (None, (("propagationPolicy", "Sideways"),)),
            (None, (("gracePeriodSeconds", "x"),)),
            (None, (("dryRun", "Some"),)),
            (None, (("orphanDependents", "perhaps"),)),
            ({"dryRun": ["All"]}, (("propagationPolicy", "Foreground"),)),
        )
    )
    return "DELETE", item, query, {"body": body} if body is not None else {}


def _of_headers(
    chance: Random, collection: str, item: str, document: Document
) -> tuple[str, str, Query, dict[str, Any]]:
    return chance.choice(
        (
            ("POST", collection, (), {"body": document, "media": "text/plain"}),
            ("POST", collection, (), {"body": document, "media": "application/xml"}),
            ("POST", collection, (), {"body": document, "media": ""}),
            ("POST", collection, (), {"body": document, "media": "application/yaml"}),
            (
                "POST",
                collection,
                (),
                {"body": document, "media": "application/json; charset=utf-8"},
            ),
            ("PUT", item, (), {"body": document, "media": "text/plain"}),
            ("PATCH", item, (), {"body": "{}", "media": "application/json"}),
            ("PATCH", item, (), {"body": "{}", "media": "text/plain"}),
            ("PATCH", item, (), {"body": "{}", "media": ""}),
            ("GET", item, (), {"accept": "text/html"}),
            ("GET", item, (), {"accept": "application/xml"}),
            ("GET", item, (), {"accept": "*/*"}),
            ("GET", item, (), {"accept": "text/html, */*;q=0.1"}),
            ("GET", item, (), {"accept": "application/json;as=Table;v=v9;g=meta.k8s.io"}),
            ("GET", item, (), {"accept": "application/json;as=Other;v=v1;g=meta.k8s.io"}),
            ("GET", collection, (_MINE,), {"accept": "image/png"}),
            ("GET", item, (), {"accept": "application/yaml"}),
            ("DELETE", item, (), {"body": "{}", "media": "text/plain"}),
        )
    )
