"""Tables, as a Kubernetes server fills them and kubectl prints them."""

import json
from datetime import UTC, datetime

import pytest

from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret, ServiceAccount
from kubekit.api.kinds.events import CoreEvent, Event
from kubekit.api.resource import AGE, Column, Resource
from kubekit.plane.registry.printing import tables
from kubekit.plane.registry.verbs import scales
from tests.support.compute import served_kinds

NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)
AN_HOUR_AGO = "2026-05-01T11:00:00Z"
METADATA = {
    "name": "x",
    "namespace": "team",
    "resourceVersion": "7",
    "creationTimestamp": "2026-05-01T11:55:00Z",
}
WIDGET = Resource(
    group="example.com",
    version="v1",
    kind="Widget",
    plural="widgets",
    columns=(Column("Size", ".spec.size", "integer"), Column("Hue", ".spec.hue", wide=True), AGE),
)
OBJECT = {"metadata": METADATA, "spec": {"size": 3, "hue": "red"}}
NAMES_ONLY = tables.TableFormat(include="None")


def served(document):
    return json.dumps(document).encode()


def cells(resource, document):
    """The cells of one object."""
    data = served({"metadata": METADATA} | document)
    (row,) = json.loads(tables.table(resource, [data], {}, NAMES_ONLY, NOW))["rows"]
    return row["cells"]


def names(resource):
    """The columns; those of wide output in parentheses."""
    return [f"({c['name']})" if c["priority"] else c["name"] for c in tables.columns(resource)]


def test_a_table_has_a_row_for_each_object():
    """Kind, version, the list's metadata, columns and rows: this is what kubectl reads."""
    listed = {"resourceVersion": "9", "continue": "t", "remainingItemCount": 1}
    got = json.loads(tables.table(WIDGET, [served(OBJECT)] * 2, listed, NAMES_ONLY, NOW))
    row = {"cells": ["x", 3, "red", "5m"], "object": None}
    assert got == {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": listed,
        "columnDefinitions": tables.columns(WIDGET),
        "rows": [row, row],
    }


def test_no_objects_make_a_table_without_rows():
    """The rows are an empty list and not null, and the columns are there."""
    got = json.loads(tables.table(WIDGET, [], {}, tables.TableFormat(), NOW))
    assert (got["rows"], len(got["columnDefinitions"])) == ([], 4)


def test_a_column_says_its_type_format_and_priority():
    """The name comes first; wide columns have priority 1."""
    shown = [(c["name"], c["type"], c["format"], c["priority"]) for c in tables.columns(WIDGET)]
    assert shown == [
        ("Name", "string", "name", 0),
        ("Size", "integer", "", 0),
        ("Hue", "string", "", 1),
        ("Age", "date", "", 0),
    ]
    assert all(c["description"] for c in tables.columns(WIDGET))


def test_a_kind_without_columns_shows_name_and_age():
    """Nothing else is known of every kind."""
    plain = Resource(group="example.com", version="v1", kind="Plain", plural="plains")
    assert (names(plain), cells(plain, {})) == (["Name", "Age"], ["x", "5m"])


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize(
    ("include", "expected"),
    [
        ("None", None),
        ("Metadata", {"kind": "PartialObjectMetadata", "metadata": METADATA}),
        ("Object", OBJECT),
    ],
)
def test_a_row_includes_the_requested_part(include, expected, version):
    """Nothing, the metadata in the version of the table, or the whole object."""
    form = tables.TableFormat(version=version, include=include)
    got = json.loads(tables.table(WIDGET, [served(OBJECT)], {}, form, NOW))
    if include == "Metadata":
        expected = expected | {"apiVersion": f"meta.k8s.io/{version}"}
    assert (got["apiVersion"], got["rows"][0]["object"]) == (f"meta.k8s.io/{version}", expected)


def test_a_watch_tells_the_columns_once():
    """Each change is a table of one row at the version of its object; later ones have no columns."""
    first = json.loads(tables.row(WIDGET, served(OBJECT), NAMES_ONLY, NOW, first=True))
    later = json.loads(tables.row(WIDGET, served(OBJECT), NAMES_ONLY, NOW, first=False))
    assert first["columnDefinitions"] == tables.columns(WIDGET)
    assert later == first | {"columnDefinitions": None}
    assert later["metadata"] == {"resourceVersion": "7"}
    assert later["rows"] == [{"cells": ["x", 3, "red", "5m"], "object": None}]


def test_a_bookmark_is_a_row_without_a_name():
    """It has a version and nothing else, and its metadata come with it."""
    bookmark = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}}
    form = tables.TableFormat()
    got = json.loads(tables.row(ConfigMap.RESOURCE, served(bookmark), form, NOW, first=False))
    assert got["metadata"] == {"resourceVersion": "9"}
    (row,) = got["rows"]
    assert row["cells"] == ["", 0, "<unknown>"]
    assert row["object"]["metadata"] == {"resourceVersion": "9"}


@pytest.mark.parametrize("kind", list(served_kinds.everything()), ids=lambda kind: kind.storage)
def test_a_bookmark_is_a_row_of_every_kind(kind):
    """Though it has none of the fields that an object of the kind always has."""
    bookmark = {"metadata": {"resourceVersion": "7"}}
    got = json.loads(tables.row(kind.resource, served(bookmark), NAMES_ONLY, NOW, first=False))
    assert len(got["rows"]) == 1


def test_an_object_is_reduced_to_its_metadata():
    """A PartialObjectMetadata has the metadata as they are and nothing else."""
    got = json.loads(tables.partial(served(OBJECT)))
    assert got == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": METADATA,
    }


SPEC = {
    "text": "hi",
    "whole": 3,
    "part": 2.5,
    "float": 4.0,
    "huge": 1e300,
    "on": True,
    "day": "2026-04-30T12:00:00Z",
    "map": {"b": [1, "x"], "a": "c"},
    "list": ["p", "q"],
    "null": None,
}

# What a kube-apiserver 1.34 shows.
VALUES = [
    ("string", ".spec.text", "hi"),
    ("string", ".spec.whole", "3"),
    ("string", ".spec.part", "2.5"),
    ("string", ".spec.float", "4"),
    ("string", ".spec.huge", "1e300"),
    ("string", ".spec.on", "true"),
    ("string", ".spec.map", '{"a":"c","b":[1,"x"]}'),
    ("string", ".spec.list", '["p","q"]'),
    ("string", ".spec.list[*]", "p"),
    ("string", ".spec.null", "<no value>"),
    ("string", ".spec.absent", None),
    ("integer", ".spec.whole", 3),
    ("integer", ".spec.part", 2),
    ("integer", ".spec.text", None),
    ("integer", ".spec.on", None),
    ("integer", ".spec.huge", None),
    ("integer", ".spec.list[*]", None),
    ("number", ".spec.whole", 3),
    ("number", ".spec.part", 2.5),
    ("number", ".spec.text", None),
    ("number", ".spec.on", None),
    ("boolean", ".spec.on", True),
    ("boolean", ".spec.text", None),
    ("date", ".spec.day", "24h"),
    ("date", ".spec.text", "<invalid>"),
    ("date", ".spec.whole", None),
]


@pytest.mark.parametrize(("kind", "path", "shown"), VALUES, ids=[f"{k} {p}" for k, p, _ in VALUES])
def test_a_value_is_shown_by_the_type_of_its_column(kind, path, shown):
    """What does not fit the type of the column is left out; text shows anything."""
    resource = Resource(
        group="example.com",
        version="v1",
        kind="Widget",
        plural="widgets",
        columns=(Column("C", path, kind),),
    )
    assert cells(resource, {"spec": SPEC}) == ["x", shown]


BUILT_IN = [
    (Namespace, {"status": {"phase": "Active"}}, ["x", "Active", "5m"]),
    (Namespace, {}, ["x", "", "5m"]),
    (ConfigMap, {"data": {"a": "b"}, "binaryData": {"c": ""}}, ["x", 2, "5m"]),
    (ConfigMap, {"data": None}, ["x", 0, "5m"]),
    (Secret, {"type": "Opaque", "data": {"a": "", "b": ""}}, ["x", "Opaque", 2, "5m"]),
    (ServiceAccount, {"secrets": [{"name": "s"}]}, ["x", 1, "5m"]),
    (Lease, {"spec": {"holderIdentity": "me"}}, ["x", "me", "5m"]),
    (Lease, {"spec": {"holderIdentity": None}}, ["x", "", "5m"]),
]


@pytest.mark.parametrize(("kind", "document", "expected"), BUILT_IN)
def test_a_built_in_kind_is_shown_as_always(kind, document, expected):
    """Counts of keys, phases and holders, as kubectl users know them."""
    assert cells(kind.RESOURCE, document) == expected


@pytest.mark.parametrize("kind", [CoreEvent, Event])
def test_events_start_with_the_time_and_end_with_the_name(kind):
    """Both shapes of an event have the same columns."""
    assert names(kind.RESOURCE) == [
        "Last Seen",
        "Type",
        "Reason",
        "Object",
        "(Subobject)",
        "(Source)",
        "Message",
        "(First Seen)",
        "(Count)",
        "(Name)",
    ]


POD = {"kind": "Pod", "name": "p"}
EVENTS = [
    pytest.param(
        CoreEvent,
        {
            "involvedObject": POD | {"fieldPath": "spec"},
            "type": "Normal",
            "reason": "R",
            "message": " text ",
            "source": {"component": "c", "host": "h"},
            "firstTimestamp": AN_HOUR_AGO,
            "lastTimestamp": "2026-05-01T11:59:00Z",
            "count": 3,
        },
        ["60s", "Normal", "R", "pod/p", "spec", "c, h", "text", "60m", 3, "x"],
        id="old",
    ),
    pytest.param(
        CoreEvent,
        {"involvedObject": {"kind": "Pod"}, "source": {"component": "c"}},
        ["<unknown>", "", "", "pod", "", "c", "", "<unknown>", 1, "x"],
        id="old with little",
    ),
    pytest.param(
        Event,
        {
            "regarding": POD,
            "note": "text",
            "eventTime": "2026-05-01T11:00:00.000000Z",
            "reportingController": "rc",
            "reportingInstance": "ri",
        },
        ["60m", "", "", "pod/p", "", "rc, ri", "text", "60m", 1, "x"],
        id="new",
    ),
    pytest.param(
        Event,
        {
            "regarding": POD,
            "eventTime": AN_HOUR_AGO,
            "series": {"count": 7, "lastObservedTime": "2026-05-01T11:50:00.000000Z"},
            "deprecatedCount": 2,
        },
        ["10m", "", "", "pod/p", "", "", "", "60m", 7, "x"],
        id="new series",
    ),
    pytest.param(
        Event,
        {
            "deprecatedSource": {"component": "c"},
            "deprecatedFirstTimestamp": AN_HOUR_AGO,
            "deprecatedLastTimestamp": "2026-05-01T11:58:30Z",
            "deprecatedCount": 2,
        },
        ["90s", "", "", "", "", "c", "", "60m", 2, "x"],
        id="new with an old one's fields",
    ),
]


@pytest.mark.parametrize(("kind", "event", "expected"), EVENTS)
def test_an_event_is_shown_from_whichever_fields_it_has(kind, event, expected):
    """Times, counts and reporters come from the series, the old fields or the new ones."""
    assert cells(kind.RESOURCE, event) == expected


def test_a_scale_is_shown_with_both_numbers():
    """`kubectl get --subresource=scale` requests a table too."""
    document = {"spec": {"replicas": 4}, "status": {"replicas": 2}}
    assert names(scales.RESOURCE) == ["Name", "Desired", "Available", "Age"]
    assert cells(scales.RESOURCE, document) == ["x", 4, 2, "5m"]


@pytest.mark.timeout(60)
def test_ten_thousand_rows_take_no_longer_than_a_moment():
    """A row costs about as much as decoding its object."""
    data = [served(OBJECT)] * 10_000
    assert len(tables.table(WIDGET, data, {}, tables.TableFormat(), NOW)) > 1_000_000
