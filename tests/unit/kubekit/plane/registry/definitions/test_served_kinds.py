"""Kinds out of CustomResourceDefinitions."""

import pytest

from kubekit.api.resource import AGE, Column, Scale
from kubekit.plane.registry.definitions.served_kinds import BadDefinition, kinds_of

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
        ({"group": "example"}, "spec.group: Invalid value: .* a domain with at least one dot"),
        ({"scope": "World"}, 'spec.scope: Unsupported value: "World"'),
        ({"names": {"plural": "Widgets", "kind": "Widget"}}, "spec.names.plural: Invalid value"),
        ({"names": {"plural": "widgets", "kind": "W W"}}, "spec.names.kind: Invalid value"),
        ({"names": {"plural": "gadgets", "kind": "Gadget"}}, "metadata.name: .* must be spec.names.plural"),
        ({"names": {"kind": "Widget"}}, "spec.names.plural: Required value"),
        ({"names": {"plural": "widgets", "kind": "Widget", "shortNames": ["A"]}}, r"spec.names.shortNames\[0\]"),
        ({"names": {"plural": "widgets", "kind": "Widget", "singular": "A/"}}, "spec.names.singular: Invalid value"),
        ({"names": {"plural": "widgets", "kind": "Widget", "listKind": "A\""}}, "spec.names.listKind: Invalid value"),
        ({"names": {"plural": "widgets", "kind": ""}}, "spec.names.kind: Required value"),
        ({"conversion": {"strategy": "Webhook"}}, "spec.conversion.strategy: .* not served here"),
        ({"versions": []}, "spec.versions: .* exactly one version marked as storage version"),
        ({"versions": [version(), version()]}, "spec.versions: .* must contain unique version names"),
        ({"versions": [version("V1")]}, r"spec.versions\[0\].name: Invalid value"),
        ({"versions": [version(schema=None)]}, r"spec.versions\[0\].schema.openAPIV3Schema: Required value"),
    ],
)  # fmt: skip
def test_a_bad_definition_is_refused_by_field(change, words):
    """The error names the wrong field."""
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
         r"additionalPrinterColumns\[1\].jsonPath: .* starting with \."),
        ({"columns": [column(jsonPath="")]}, r"additionalPrinterColumns\[0\].jsonPath: Required"),
        ({"columns": [column(jsonPath=".spec[")]},
         r"additionalPrinterColumns\[0\].jsonPath: .* is not a path"),
        ({"columns": [column(type="")]}, r"additionalPrinterColumns\[0\].type: Required"),
        ({"columns": [column(format="hex")]}, r"additionalPrinterColumns\[0\].format: .*int32"),
        ({"columns": [column(type="text")]}, r"additionalPrinterColumns\[0\].type: .* one of boolean"),
        ({"columns": [column(name="")]}, r"additionalPrinterColumns\[0\].name: Required"),
        ({"selectable": [".spec.n", ".spec.n"]}, r"selectableFields\[1\].jsonPath: Duplicate"),
        ({"selectable": [".spec.f"]}, r"selectableFields\[0\].jsonPath: .* to a field of type string"),
        ({"selectable": [".spec.m"]}, r"selectableFields\[0\].jsonPath: .* to a field of type string"),
        ({"selectable": [".spec.x.y"]}, r"selectableFields\[0\].jsonPath: .* refer to a valid field"),
        ({"selectable": [".spec.n[0]"]}, r"selectableFields\[0\].jsonPath: .* array notation"),
        ({"selectable": ["spec"]}, r"selectableFields\[0\].jsonPath: .* but got: spec"),
        ({"selectable": [""]}, r"selectableFields\[0\].jsonPath: Required"),
        ({"selectable": [".metadata.name"]}, r"selectableFields\[0\].jsonPath: .* a valid field"),
        ({"selectable": [f".spec.m.{c}" for c in "abcdefghi"]},
         "selectableFields: Too many: 9: must have at most 8 items"),
        ({"specReplicasPath": ".status.n"}, "scale.specReplicasPath: .* json path under .spec"),
        ({"specReplicasPath": ".spec"}, "scale.specReplicasPath: .* json path under .spec"),
        ({"specReplicasPath": ".spec.n[0]"}, "scale.specReplicasPath: .* json path under .spec"),
        ({"specReplicasPath": "spec.n"}, r"scale.specReplicasPath: .* starting with \."),
        ({"statusReplicasPath": ""}, "scale.statusReplicasPath: Required"),
        ({"labelSelectorPath": ".metadata.x"},
         "scale.labelSelectorPath: .* under either .spec or .status"),
    ],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_refused_by_field(parts, words):
    """Otherwise the error would appear only on a scale, selection or list."""
    with pytest.raises(BadDefinition, match=r"spec.versions\[0\].*" + words):
        kinds_of(widgets(with_paths(**parts)))


def test_paths_that_lead_somewhere_are_taken():
    """Columns may show any place; what is scaled or selected by must be one field."""
    columns = [column(jsonPath=".spec.list[?(@.a=='b')].c", type="date")]
    selectable = [".spec.n", ".spec.m.any"]

    (kind,) = kinds_of(widgets(with_paths(columns, selectable, labelSelectorPath=".spec.m")))

    assert kind.selectable_fields == tuple(selectable)


def test_a_schema_that_cannot_be_worked_with_is_refused():
    """The field of the schema is named."""
    schema = {"type": "object", "properties": {"x": {"type": "text"}}}

    with pytest.raises(BadDefinition, match=r"properties\[x\].type: Unsupported value"):
        kinds_of(widgets(version(schema={"openAPIV3Schema": schema})))


def test_the_root_of_a_schema_is_an_object():
    """An object of the API is nothing else."""
    with pytest.raises(BadDefinition, match=r"openAPIV3Schema.type: .* object at the root"):
        kinds_of(widgets(version(schema={"openAPIV3Schema": {"type": "string"}})))


def test_a_schema_may_not_be_nested_without_end():
    """A recursion over it must end."""
    schema: dict[str, object] = {"type": "object"}
    for _ in range(200):
        schema = {"type": "object", "properties": {"x": schema}}

    with pytest.raises(BadDefinition, match="nested deeper than 100 levels"):
        kinds_of(widgets(version(schema={"openAPIV3Schema": schema})))


MANY = [f"n{n}" for n in range(101)]
COLUMNS = [{"name": name, "type": "string", "jsonPath": ".spec.x"} for name in MANY]
VERSIONS = [version(name, storage=name == "n0") for name in MANY]
NAMES = {"plural": "widgets", "kind": "Widget"}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (widgets(*VERSIONS), "spec.versions"),
        (
            widgets(version(additionalPrinterColumns=COLUMNS)),
            "versions[0].additionalPrinterColumns",
        ),
        (widgets(names=NAMES | {"shortNames": MANY}), "spec.names.shortNames"),
        (widgets(names=NAMES | {"categories": MANY}), "spec.names.categories"),
    ],
    ids=["versions", "columns", "short-names", "categories"],
)
def test_d7_a_definition_lists_not_more_than_others_can_bear(given, path):
    """Every list of objects, and every definition in the same group, searches these."""
    with pytest.raises(BadDefinition) as refusal:
        kinds_of(given)

    (error,) = refusal.value.errors
    assert error.path.endswith(path)
    assert error.detail == "must have at most 100 items"


def test_d7_the_rules_of_a_definition_are_not_longer_than_can_be_made_ready():
    """Each alone is accepted; all together would block other requests."""
    rules = [{"rule": f"self.spec != {n} " + "|| true" * 500} for n in range(20)]
    schema = SCHEMA | {"x-kubernetes-validations": rules}
    versions = [
        version(name, storage=name == "v1", schema={"openAPIV3Schema": schema})
        for name in ("v1", "v2")
    ]

    with pytest.raises(BadDefinition, match="must have at most 100000 characters together"):
        kinds_of(widgets(*versions))


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([], "example.test/v1beta1 Widget is deprecated"),
        (["v1alpha1"], "example.test/v1beta1 Widget is deprecated"),
        (
            ["v1", "v2", "v1beta2"],
            "example.test/v1beta1 Widget is deprecated; use example.test/v2 Widget",
        ),
    ],
    ids=["alone", "older", "newer"],
)
def test_the_warning_of_a_deprecated_version_names_a_newer_one(others, words):
    """The best version that is served and not deprecated itself, if it is newer."""
    old = version("v1beta1", deprecated=True)
    gone = version("v3", storage=False, served=False)
    worse = version("v4", storage=False, deprecated=True)
    views = kinds_of(widgets(old, gone, worse, *(version(name, storage=False) for name in others)))

    assert views[0].warning == words
