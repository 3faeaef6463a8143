"""Objects inside objects. The texts are those of kube-apiserver v1.34."""

import pytest

from kubekit.api.structural import Judge, coerced, faults, found, validate

ANY_RESOURCE = {
    "type": "object",
    "x-kubernetes-embedded-resource": True,
    "x-kubernetes-preserve-unknown-fields": True,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "e": ANY_RESOURCE,
        "l": {"type": "array", "items": ANY_RESOURCE},
        "m": {"type": "object", "additionalProperties": ANY_RESOURCE},
        "o": {"type": "object", "properties": {"e": ANY_RESOURCE}},
    },
}
POD = {"apiVersion": "v1", "kind": "Pod"}
DAY = "2023-12-31T23:00:00Z"


def messages(document):
    return [str(error) for error in faults(document, SCHEMA, Judge(found))]


def read(metadata):
    return coerced({"e": {**POD, "metadata": metadata}}, SCHEMA)


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ({}, ["e.apiVersion: Required value", "e.kind: Required value"]),
        (POD, []),
        (POD | {"apiVersion": "", "kind": ""},
         ['e.apiVersion: Invalid value: "": must not be empty', 'e.kind: Invalid value: "": must not be empty']),
        (POD | {"apiVersion": "a/b/c"},
         ['e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c']),
        (POD | {"apiVersion": 1}, ["e.apiVersion: Invalid value: 1: must be a string"]),
        (POD | {"metadata": 5},
         ["e.metadata: Invalid value: 5: json: cannot unmarshal number into Go value of type v1.ObjectMeta"]),
        (POD | {"metadata": {"name": "a/b"}}, ["e.metadata.name: Invalid value: \"a/b\": may not contain '/'"]),
        (POD | {"metadata": {"name": ".."}}, ["e.metadata.name: Invalid value: \"..\": may not be '..'"]),
        (POD | {"metadata": {"generateName": "a%"}},
         ["e.metadata.generateName: Invalid value: \"a%\": may not contain '%'"]),
        (POD | {"metadata": {"ownerReferences": [POD | {"name": "a", "uid": "b"}], "finalizers": ["a"]}}, []),
        (POD | {"metadata": {"generation": -1}},
         ["e.metadata.generation: Invalid value: -1: must be greater than or equal to 0"]),
        (POD | {"metadata": {"ownerReferences": [{}]}},
         ['e.metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
          'e.metadata.ownerReferences.kind: Invalid value: "": must not be empty',
          'e.metadata.ownerReferences.name: Invalid value: "": must not be empty',
          'e.metadata.ownerReferences.uid: Invalid value: "": must not be empty']),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_embedded_is_an_object_of_the_api(resource, expected):
    """It says what it is, and its metadata is right, whatever its schema asks."""
    assert messages({"e": resource}) == expected


def test_a_kind_may_have_mixed_case():
    """But is otherwise a label."""
    (error,) = faults({"e": POD | {"kind": "Po d"}}, SCHEMA, Judge(found))

    assert error.message.startswith(
        'Invalid value: "Po d": may have mixed case, but should otherwise match: a DNS-1035 label'
    )


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        ({"namespace": "A"}, "namespace"),
        ({"labels": {"a b": "c"}}, "labels"),
        ({"labels": {"a": "c d"}}, "labels"),
        ({"annotations": {"a b": "c"}}, "annotations"),
        ({"finalizers": ["a b"]}, "finalizers"),
    ],
    ids=str,
)
def test_names_and_labels_have_their_forms(metadata, path):
    """The same as in the metadata of any object."""
    assert [e.path for e in faults({"e": POD | {"metadata": metadata}}, SCHEMA, Judge(found))] == [
        f"e.metadata.{path}"
    ]


def test_resources_are_found_in_lists_maps_and_objects():
    """A member of a map is named by its key."""
    document = {"l": [{}, 3], "m": {"k": {}, "n": 1}, "o": {"e": {}}, "x": {}}

    paths = [error.path for error in faults(document, SCHEMA, Judge(found))]

    assert [path for path in paths if path.endswith("kind")] == [
        "l[0].kind",
        "m[k].kind",
        "o.e.kind",
    ]


@pytest.mark.parametrize(
    ("metadata", "kept"),
    [
        (None, {}),
        ({"name": "", "labels": {}, "annotations": None, "generation": 0}, {}),
        ({"name": "a", "labels": {"a": None}}, {"name": "a", "labels": {"a": ""}}),
        ({"creationTimestamp": None}, {}),
        ({"creationTimestamp": "2024-01-01T00:00:00.5+01:00"}, {"creationTimestamp": DAY}),
        ({"deletionGracePeriodSeconds": 0, "generation": None}, {"deletionGracePeriodSeconds": 0}),
        ({"ownerReferences": [None]},
         {"ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]}),
        ({"ownerReferences": [{"controller": True, "kind": "A", "apiVersion": "v1", "name": "a", "uid": "b"}]},
         {"ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": "a", "uid": "b", "controller": True}]}),
        ({"finalizers": ["a", None], "managedFields": [{"a": 1}]},
         {"finalizers": ["a", ""], "managedFields": [{"a": 1}]}),
    ],
    ids=str,
)  # fmt: skip
def test_metadata_is_kept_without_what_says_nothing(metadata, kept):
    """It is stored as Kubernetes would write it: instants in UTC, nothing empty."""
    got = read(metadata)

    assert (got.document["e"]["metadata"], got.unknown, got.fault) == (kept, [], None)
    assert read(kept).document == got.document


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (5, "json: cannot unmarshal number into Go value of type v1.ObjectMeta"),
        ({"name": 1}, "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"),
        ({"labels": []}, "json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string"),
        ({"labels": {"a": 1}}, "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"),
        ({"generation": 1.5}, "json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64"),
        ({"generation": "a"}, "json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64"),
        ({"finalizers": {}}, "json: cannot unmarshal object into Go struct field ObjectMeta.finalizers of type []string"),
        ({"creationTimestamp": True}, "json: cannot unmarshal bool into Go value of type string"),
        ({"creationTimestamp": "x"}, 'parsing time "x" as "2006-01-02T15:04:05Z07:00"'),
        ({"ownerReferences": [{"controller": 1}]},
         "json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.controller of type bool"),
        ({"managedFields": [1]},
         "json: cannot unmarshal number into Go struct field ObjectMeta.managedFields of type v1.ManagedFieldsEntry"),
    ],
    ids=str,
)  # fmt: skip
def test_metadata_of_the_wrong_type_cannot_be_read(metadata, words):
    """The document is not changed, and the first such error is reported."""
    got = read(metadata)

    assert got.fault is not None
    assert got.fault.path == "e.metadata"
    assert got.fault.detail.startswith(words)


def test_an_identity_that_is_no_text_cannot_be_read():
    """The path in the document is reported with keys of maps in brackets."""
    got = coerced({"m": {"k": POD | {"kind": None}}}, SCHEMA)

    assert str(got.fault) == "m[k].kind: Invalid value: null: must be a string"


def test_unknown_fields_of_metadata_are_dropped_and_reported():
    """With their paths, sorted."""
    odd = POD | {
        "metadata": {"odd": 1, "ownerReferences": [POD | {"name": "a", "uid": "b", "x": 1}]}
    }
    got = coerced({"l": [odd, 5], "e": POD, "n": 1}, SCHEMA)

    assert [error.path for error in got.unknown] == [
        "l[0].metadata.odd",
        "l[0].metadata.ownerReferences[0].x",
    ]
    assert list(got.document["l"][0]["metadata"]) == ["ownerReferences"]


def test_deep_values_are_reported_without_their_content():
    """An error is shown in answers and logs, whose writers have no patience without end."""
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    schema = {"type": "object", "properties": {"e": ANY_RESOURCE}}

    (error,) = validate({"e": POD | {"metadata": deep}}, schema)

    assert str(error).startswith('e.metadata: Invalid value: "...": json: cannot unmarshal array')
