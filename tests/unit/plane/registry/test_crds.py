"""Kinds out of CustomResourceDefinitions."""

import pytest

from compute.api.resource import AGE, Column, Scale
from compute.plane.registry.crds import BadDefinition, kinds_of

SCHEMA = {"type": "object", "properties": {"spec": {"type": "object"}}}


def version(name="v1", **parts):
    whole = {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}
    return whole | parts


def widgets(*versions, **spec):
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.test", "annotations": {"a": "b"}},
        "spec": {
            "group": "example.test",
            "names": {"plural": "widgets", "kind": "Widget"},
            "scope": "Namespaced",
            "versions": list(versions or (version(),)),
        }
        | spec,
    }


def test_a_small_definition():
    """What the definition leaves out has the values that Kubernetes gives it."""
    (kind,) = kinds_of(widgets())

    resource = kind.resource
    assert (resource.api_version, resource.kind, resource.plural) == (
        "example.test/v1",
        "Widget",
        "widgets",
    )
    assert (kind.singular, kind.list_kind) == ("widget", "WidgetList")
    assert (kind.storage, kind.conversion, kind.custom) == ("example.test/widgets", None, True)
    assert kind.head == b'{"apiVersion":"example.test/v1","kind":"Widget","metadata":{'
    assert (resource.columns, resource.status, resource.scale) == ((AGE,), False, None)
    assert resource.annotations == {"a": "b"}


def test_a_large_definition():
    """Names, columns, subresources and selectable fields are those of the definition."""
    names = {"plural": "widgets", "kind": "Widget", "singular": "one", "listKind": "Widgetry",
             "shortNames": ["wd"], "categories": ["all"]}  # fmt: skip
    paths = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1}
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}}
    (kind,) = kinds_of(
        widgets(
            version(
                subresources={"status": {}, "scale": paths},
                additionalPrinterColumns=[column],
                selectableFields=[{"jsonPath": ".spec.size"}],
                schema={"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                deprecated=True,
            ),
            names=names,
            scope="Cluster",
        )
    )

    resource = kind.resource
    assert (kind.singular, kind.list_kind) == ("one", "Widgetry")
    assert (resource.short_names, resource.categories) == (("wd",), ("all",))
    assert (resource.namespaced, resource.status) == (False, True)
    assert resource.scale == Scale(".spec.n", ".status.n", "")
    assert resource.columns == (Column("Size", ".spec.size", "integer", wide=True),)
    assert kind.selectable_fields == (".spec.size",)
    assert kind.warning == "example.test/v1 Widget is deprecated"


def test_versions_are_views_of_one_object():
    """A version that is not stored changes the apiVersion on the way in and out, and nothing else."""
    old, new = kinds_of(widgets(version("v1", storage=False), version("v2")))
    document = {"apiVersion": "example.test/v1", "kind": "Widget", "spec": {}}

    assert old.conversion is not None
    stored = old.conversion.to_storage(document)

    assert (old.storage, new.conversion) == (new.storage, None)
    assert stored == document | {"apiVersion": "example.test/v2"}
    assert old.conversion.from_storage(stored) == document


def test_only_served_versions_are_kinds():
    """Where the stored version is not served, the best served one takes its place."""
    off = version("v3", served=False)

    kinds = kinds_of(widgets(off, version("v1", storage=False), version("v2beta1", storage=False)))

    assert [kind.resource.version for kind in kinds] == ["v1", "v2beta1"]
    assert [kind.conversion is None for kind in kinds] == [True, False]
    assert kinds_of(widgets(off)) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"group": "example"}, "spec.group: Invalid value: .* must be a DNS name with a dot"),
        ({"scope": "World"}, 'spec.scope: Unsupported value: "World"'),
        ({"names": {"plural": "Widgets", "kind": "Widget"}}, "spec.names.plural: Invalid value"),
        ({"names": {"plural": "widgets", "kind": "W W"}}, "spec.names.kind: Invalid value"),
        ({"names": {"plural": "gadgets", "kind": "Gadget"}}, "metadata.name: .* gadgets.example.test"),
        ({"names": {"kind": "Widget"}}, "spec.names.plural: .* it is required"),
        ({"names": {"plural": "widgets", "kind": "Widget", "shortNames": ["A"]}}, r"spec.names.shortNames\[0\]"),
        ({"names": {"plural": "widgets", "kind": "Widget", "singular": "A/"}}, "spec.names.singular: Invalid value"),
        ({"names": {"plural": "widgets", "kind": "Widget", "listKind": "A\""}}, "spec.names.listKind: Invalid value"),
        ({"names": {"plural": "widgets", "kind": ""}}, "spec.names.kind: Invalid value"),
        ({"conversion": {"strategy": "Webhook"}}, "spec.conversion.strategy: Unsupported value"),
        ({"versions": []}, "spec.versions: .* exactly one with storage: true"),
        ({"versions": [version(), version()]}, r"spec.versions\[1\].name: Duplicate value"),
        ({"versions": [version("V1")]}, r"spec.versions\[0\].name: Invalid value"),
        ({"versions": [version(schema=None)]}, r"spec.versions\[0\].schema.openAPIV3Schema: Required value"),
    ],
)  # fmt: skip
def test_a_bad_definition_is_refused_by_field(change, words):
    """Whoever wrote the file finds the field that is wrong."""
    with pytest.raises(BadDefinition, match=words):
        kinds_of(widgets(**change))


@pytest.mark.parametrize("metadata", [None, [], "x", {}, {"name": 3}])
def test_a_definition_without_a_name_is_refused(metadata):
    """Whatever stands where the name should be."""
    with pytest.raises(BadDefinition, match=r"CustomResourceDefinition (without a name|3): meta"):
        kinds_of(widgets() | {"metadata": metadata})


FIELDS = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "f": {"type": "number"},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
SCALE = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}


def with_paths(columns=(), selectable=(), **scale):
    return version(
        schema={"openAPIV3Schema": {"type": "object", "properties": {"spec": FIELDS}}},
        additionalPrinterColumns=list(columns),
        selectableFields=[{"jsonPath": path} for path in selectable],
        subresources={"scale": SCALE | scale},
    )


def column(**parts):
    return {"name": "A", "type": "string", "jsonPath": ".spec.n"} | parts


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"columns": [column(), column(jsonPath="spec.n")]},
         r"additionalPrinterColumns\[1\].jsonPath: .* is not a path"),
        ({"columns": [column(jsonPath="")]}, r"additionalPrinterColumns\[0\].jsonPath: .* must name"),
        ({"columns": [column(type="text")]}, r"additionalPrinterColumns\[0\].type: Unsupported"),
        ({"columns": [column(name="")]}, r"additionalPrinterColumns\[0\].name: Required"),
        ({"selectable": [".spec.n", ".spec.n"]}, r"selectableFields\[1\].jsonPath: Duplicate"),
        ({"selectable": [".spec.f"]}, r"selectableFields\[0\].jsonPath: .* lead to a field whose"),
        ({"selectable": [".spec.m"]}, r"selectableFields\[0\].jsonPath: .* lead to a field whose"),
        ({"selectable": [".spec.x.y"]}, r"selectableFields\[0\].jsonPath: .* lead to a field"),
        ({"selectable": [".spec.n[0]"]}, r"selectableFields\[0\].jsonPath: .* lead to a field"),
        ({"selectable": ["spec"]}, r"selectableFields\[0\].jsonPath: .* lead to a field"),
        ({"specReplicasPath": ".status.n"}, "scale.specReplicasPath: .* one field under .spec"),
        ({"specReplicasPath": ".spec"}, "scale.specReplicasPath: .* one field under .spec"),
        ({"specReplicasPath": ".spec.n[0]"}, "scale.specReplicasPath: .* one field under .spec"),
        ({"statusReplicasPath": ""}, "scale.statusReplicasPath: .* one field under .status"),
        ({"labelSelectorPath": ".metadata.x"},
         "scale.labelSelectorPath: .* one field under .spec or .status"),
    ],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_refused_by_field(parts, words):
    """Else only whoever scales, selects or lists would notice, and much later."""
    with pytest.raises(BadDefinition, match=r"spec.versions\[0\].*" + words):
        kinds_of(widgets(with_paths(**parts)))


def test_paths_that_lead_somewhere_are_taken():
    """Columns may show any place; what is scaled or selected by must be one field."""
    columns = [column(jsonPath=".spec.list[?(@.a=='b')].c", type="date")]
    selectable = [".spec.n", ".spec.m.any"]

    (kind,) = kinds_of(widgets(with_paths(columns, selectable, labelSelectorPath=".spec.m")))

    assert kind.selectable_fields == tuple(selectable)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (3, r"properties\[x\]: Invalid value: 3: must be an object"),
        ({"type": "text"}, r"properties\[x\].type: Unsupported value"),
        ({"type": ["string"]}, r"properties\[x\].type: Unsupported value"),
        ({"type": "array"}, r"properties\[x\].items: Required value"),
        ({"type": "array", "items": [{}]}, r"properties\[x\].items: .* one schema"),
        ({"pattern": "("}, r"properties\[x\].pattern: .* regular expression"),
        ({"pattern": 3}, r"properties\[x\].pattern: .* regular expression"),
        ({"minimum": "3"}, r"properties\[x\].minimum: .* number"),
        ({"minLength": -1}, r"properties\[x\].minLength: .* whole number"),
        ({"enum": "a"}, r"properties\[x\].enum: .* list"),
        ({"required": [1]}, r"properties\[x\].required: .* list of names"),
        ({"nullable": "yes"}, r"properties\[x\].nullable: .* boolean"),
        ({"properties": []}, r"properties\[x\].properties: .* object"),
        ({"additionalProperties": {"type": 1}}, r"properties\[x\].additionalProperties.type"),
        ({"type": "array", "items": {}, "x-kubernetes-list-type": "map"}, "list-map-keys: Required value"),
        ({"type": "array", "items": {"properties": 3}, "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["a"]}, r"items.properties: .* object"),
        ({"type": "string", "default": 3}, r"properties\[x\].default: .* must be of type string"),
        ({"type": "object", "default": {"y": 3}, "properties": {"y": {"type": "string"}}},
         r"properties\[x\].default.y: .* must be of type string"),
        ({"type": "array", "items": {}, "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["a"]}, r"list-map-keys\[0\]: .* property of the items"),
    ],
)  # fmt: skip
def test_a_schema_that_cannot_be_read_is_refused(node, words):
    """Every keyword that is read later has a value that can be read."""
    schema = {"type": "object", "properties": {"x": node}}

    with pytest.raises(BadDefinition, match=words):
        kinds_of(widgets(version(schema={"openAPIV3Schema": schema})))


def test_the_root_of_a_schema_is_an_object():
    """An object of the API is nothing else."""
    with pytest.raises(BadDefinition, match=r"openAPIV3Schema.type: .* object at the root"):
        kinds_of(widgets(version(schema={"openAPIV3Schema": {"type": "string"}})))


def test_a_schema_may_not_be_nested_without_end():
    """Whoever walks it later must come back."""
    schema: dict[str, object] = {"type": "object"}
    for _ in range(200):
        schema = {"type": "object", "properties": {"x": schema}}

    with pytest.raises(BadDefinition, match="nested deeper than 100 levels"):
        kinds_of(widgets(version(schema={"openAPIV3Schema": schema})))


def test_keywords_of_others_are_left_alone():
    """What is not judged here does not keep a kind from being served."""
    spec = {"type": "object", "oneOf": [{"required": ["a"]}], "x-kubernetes-validations": 3}
    schema = {"type": "object", "properties": {"spec": spec}}

    (kind,) = kinds_of(widgets(version(schema={"openAPIV3Schema": schema})))

    assert kind.conform({"spec": {}}).errors == []
