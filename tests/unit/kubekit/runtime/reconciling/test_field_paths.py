"""Which fields a write names, and whose they are."""

import pytest

from kubekit.client.options import PatchType
from kubekit.runtime.reconciling.field_paths import (
    CREATION,
    DELETION,
    of_patch,
    of_whole,
    owns,
    shown,
)

MERGE = {
    "metadata": {"resourceVersion": "7", "annotations": {"a": None, "b.c/d": "1"}},
    "spec": {"replicas": 2, "template": {"labels": {}}},
}
JSON = [
    {"op": "test", "path": "/metadata/uid", "value": "1"},
    {"op": "add", "path": "/metadata/finalizers/-", "value": "x"},
    {"op": "replace", "path": "/spec/containers/0/image", "value": "y"},
    {"op": "remove", "path": "/metadata/labels/a~1b"},
]
DOCUMENT = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "one", "namespace": "default", "labels": {"a": "1"}},
    "data": {"key": {"deeper": "1"}},
}


@pytest.mark.parametrize(
    ("kind", "patch", "expected"),
    [
        (
            PatchType.MERGE,
            MERGE,
            [
                '.metadata.annotations["a"]',
                '.metadata.annotations["b.c/d"]',
                ".spec.replicas",
                ".spec.template.labels",
            ],
        ),
        (
            PatchType.STRATEGIC,
            {"spec": {"$patch": "replace", "x-y": [1]}},
            ['.spec["x-y"]'],
        ),
        (
            PatchType.JSON,
            JSON,
            [".metadata.finalizers", ".spec.containers", '.metadata.labels["a/b"]'],
        ),
        (PatchType.JSON, [{"op": "replace", "path": "", "value": {}}], ["."]),
        (PatchType.JSON, {"not": "a patch"}, []),
        (PatchType.APPLY, DOCUMENT, [".metadata.labels", '.data["key"]']),
        (PatchType.MERGE, "not a patch", []),
    ],
)
def test_the_fields_of_a_patch(kind, patch, expected):
    """The fields of each kind of patch, without those that only identify the object."""
    assert [shown(path) for path in of_patch(kind, patch)] == expected


def test_the_fields_of_a_whole_document():
    """A document that replaces another is described by its top-level fields."""
    assert [shown(path) for path in of_whole(DOCUMENT)] == [".metadata.labels", '.data["key"]']


def test_a_write_of_very_many_fields_is_identified_by_the_first():
    """What is kept of one write is bounded."""
    wide = {"data": {f"k{number}": "" for number in range(1000)}}
    assert len(of_patch(PatchType.MERGE, wide)) == 16
    assert len(of_patch(PatchType.JSON, [{"op": "add", "path": "/a"}] * 100)) == 16


def test_what_is_nested_very_deeply_is_cut():
    """The path ends at the depth limit."""
    deep: dict[str, object] = {}
    for _ in range(100):
        deep = {"a": deep}
    assert of_patch(PatchType.MERGE, deep) == (("a",) * 8,)


def test_creation_and_deletion_have_words():
    """They are not fields, and are described as what they are."""
    assert [shown(path) for path in CREATION + DELETION] == ["its creation", "its deletion"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("metadata", "annotations", "a"), True),
        (("metadata", "annotations", "b"), False),
        (("metadata", "annotations"), True),
        (("spec", "selector", "anything"), True),
        (("spec", "replicas"), False),
        (("status",), False),
    ],
)
def test_whose_a_field_is(path, expected):
    """A manager owns a field if its entry names the field, or a parent of it as a whole."""
    entry = {
        "f:metadata": {"f:annotations": {".": {}, "f:a": {}}},
        "f:spec": {"f:selector": {}},
    }
    assert owns(entry, path) is expected
