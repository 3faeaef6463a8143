"""Real kubectl and CustomResourceDefinitions that a plane was not built with.

The definitions are in a folder beside this file, each with a sample of its kind. Together they have
every feature that a schema can have.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.conftest import Kubectl, needs_kubectl
from tests.support.kubekit.kites import namespace_manifest

FOLDER = Path(__file__).parent / "definitions"
FILES = sorted(FOLDER.glob("*.yaml"))
GROUP = "definitions.example.test"
PATIENCE = "--timeout=30s"

needs_kubectl()

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def documents(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The definition in a file, and its sample."""
    definition, sample = yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text())
    return definition, sample


def manifest(*documents: dict[str, Any]) -> str:
    return yaml.safe_dump_all(documents)


def with_spec(name: str, spec: dict[str, Any], called: str = "other") -> str:
    """The sample of a file with other values in its spec; None takes one out."""
    _, sample = documents(name)
    merged = {k: v for k, v in {**sample["spec"], **spec}.items() if v is not None}
    return manifest(sample | {"metadata": {"name": called}, "spec": merged})


@pytest.fixture(scope="module")
def defined(
    kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, str]]:
    """The home of a kubectl, and a namespace, on a server that has all the definitions."""
    home = tmp_path_factory.mktemp("home")
    namespace = f"definitions-{os.getpid()}"
    kubectl = Kubectl(kubeconfig, home, namespace)
    kubectl("create", "-f", "-", text=namespace_manifest(namespace))
    kubectl("apply", "-f", "-", text=manifest(*(documents(f.stem)[0] for f in FILES)))
    names = [f"crd/{documents(f.stem)[0]['metadata']['name']}" for f in FILES]
    kubectl("wait", "--for=condition=Established", PATIENCE, *names)
    yield home, namespace
    kubectl("delete", *names, PATIENCE)
    kubectl("delete", "namespace", namespace, "--wait=false")


@pytest.fixture
def kubectl(kubeconfig: Path, defined: tuple[Path, str]) -> Kubectl:
    return Kubectl(kubeconfig, *defined)


def test_there_are_ten_of_them():
    """So that none is lost."""
    assert len(FILES) == 10


def test_definitions_are_listed(kubectl):
    """By name, and by when they were created."""
    lines = [line.split() for line in kubectl("get", "crds").splitlines()]

    assert lines[0] == ["NAME", "CREATED", "AT"]
    assert {f"{f.stem}.{GROUP}" for f in FILES} <= {line[0] for line in lines}


def test_kinds_are_found_by_all_their_names(kubectl):
    """In discovery, with the short names of each, and by category."""
    listed = [
        line.split()
        for line in kubectl("api-resources", "--no-headers", f"--api-group={GROUP}").splitlines()
    ]

    assert ["gauges", "gg", f"{GROUP}/v1", "true", "Gauge"] in listed
    assert ["regions", "rg,rgs", f"{GROUP}/v1", "false", "Region"] in listed
    kubectl("apply", "-f", "-", text=manifest(documents("badges")[1]))
    assert kubectl("get", "pin", "sample", "-o", "name") == f"badge.{GROUP}/sample\n"
    assert "parcels" in kubectl("api-resources", "--categories=freight", "-o", "name")


@pytest.mark.parametrize("name", [file.stem for file in FILES])
def test_a_sample_is_taken(kubectl, name):
    """With strict validation; applied once more it is what it was."""
    _, sample = documents(name)
    text = manifest(sample)
    kubectl("delete", "-f", "-", "--ignore-not-found", text=text)
    applied = kubectl("apply", "--validate=strict", "-f", "-", text=text)
    kubectl("apply", "--validate=strict", "-f", "-", text=text)
    word = f"{sample['kind'].lower()}.{GROUP}/{sample['metadata']['name']}"

    assert applied == f"{word} created\n"
    assert kubectl("get", word, "-o", "jsonpath={.metadata.generation}") == "1"


@pytest.mark.parametrize("name", [file.stem for file in FILES])
def test_a_kind_is_explained(kubectl, name):
    """By the description in its schema."""
    definition, sample = documents(name)
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    text = kubectl("explain", f"{name}.{GROUP}")

    assert f"KIND:       {sample['kind']}" in text
    assert schema["description"] in text
    assert "metadata" in text


def test_fields_are_explained(kubectl):
    """With their types, at any depth."""
    text = kubectl("explain", f"orchards.{GROUP}.spec.trees", "--recursive")
    deep = kubectl("explain", f"gauges.{GROUP}.spec.limit")
    lines = {" ".join(line.split()) for line in text.splitlines()}

    assert "The trees, distinguished by row and name." in text
    assert {"name <string> -required-", "row <integer>", "height <number>"} <= lines
    assert "FIELD: limit <" in deep
    assert "The level at which it gives alarm, as a number or a share." in deep


DEFAULTS: dict[str, Any] = {
    "beacons": {"colour": "white", "height": 30},
    "orchards": {
        "gate": {"width": 3},
        "labels": {"owner": "anna"},
        "order": [3, 1, 1],
        "plots": {"north": {"size": 5}, "south": {"size": 9}},
        "tags": ["old", "wild"],
        "trees": [{"height": 3.5, "name": "elm", "row": 1}, {"name": "elm", "row": 2}],
    },
    "recipes": {
        "extras": {"salt": {"grams": 10}, "sugar": {"grams": 50}},
        "oven": {"degrees": 200, "mode": "hot"},
        "serves": 2,
        "steps": [{"minutes": 5, "text": "stir"}, {"minutes": 60, "text": "wait"}],
        "tools": ["spoon"],
    },
    "turbines": {"blades": 3, "maker": "ada", "power": 20, "spinning": True},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_filled_in(kubectl, name):
    """Wherever the schema has one and the sample has nothing."""
    kubectl("apply", "-f", "-", text=manifest(documents(name)[1]))

    assert json.loads(kubectl("get", name, "sample", "-o", "json"))["spec"] == DEFAULTS[name]


def test_null_and_unknown_fields_are_kept_where_they_may_be(kubectl):
    """Apply leaves null out; create does not."""
    text = with_spec("parcels", {}, "free")
    document = yaml.safe_load(text)
    document["spec"]["note"] = document["spec"]["stamp"] = None
    kubectl("create", "-f", "-", text=manifest(document))
    spec = json.loads(kubectl("get", "parcel", "free", "-o", "json"))["spec"]

    assert (spec["note"], spec["stamp"]) == (None, None)
    assert spec["content"] == {"weight": 3, "things": ["book", {"pen": "red"}]}
    assert spec["anything"] == [1, "two", None]
    assert spec["template"]["metadata"] == {"name": "inside", "labels": {"a": "b"}}


def test_tables_have_the_columns_of_the_definition(kubectl):
    """Of every type, the less important ones with -o wide."""
    kubectl("apply", "-f", "-", text=manifest(documents("gauges")[1], documents("badges")[1]))
    plain = kubectl("get", "gg").splitlines()
    wide = kubectl("get", "gg", "-o", "wide").splitlines()

    assert plain[0].split() == ["NAME", "LIMIT", "LEVEL", "READY", "CHECKED"]
    assert wide[0].split() == ["NAME", "LIMIT", "LEVEL", "RATIO", "LOUD", "READY", "CHECKED"]
    assert wide[1].split()[:4] == ["sample", "80%", "0.5", "false"]
    assert kubectl("get", "badges").splitlines()[1].split()[:2] == ["sample", "anna"]


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "int or string": ("gauges", {"limit": "much"}, "spec.limit"),
    "neither": ("gauges", {"limit": True}, "spec.limit"),
    "minimum": ("gauges", {"small": -1}, "spec.small in body should be greater than or equal to 0"),
    "exclusive maximum": ("gauges", {"ratio": 1}, "spec.ratio in body should be less than 1"),
    "date-time": ("gauges", {"checked": "yesterday"}, "spec.checked"),
    "duration": ("gauges", {"every": "often"}, "spec.every"),
    "ipv4": ("gauges", {"address": "10.0.0.256"}, "spec.address"),
    "uri": ("gauges", {"page": "http://[bad"}, "spec.page"),
    "uuid": ("gauges", {"serial": "1-2-3"}, "spec.serial"),
    "byte": ("gauges", {"seal": "%%%"}, "spec.seal"),
    "unknown": ("gauges", {"levle": 3}, 'unknown field "spec.levle"'),
    "required": ("gauges", {"limit": None}, "spec.limit: Required value"),
    "below unknown fields": ("parcels", {"content": {"weight": "3"}}, "spec.content.weight"),
    "no object": ("parcels", {"template": {"kind": "X"}}, "spec.template.apiVersion"),
    "set": ("orchards", {"tags": ["a", "a"]}, 'spec.tags[1]: Duplicate value: "a"'),
    "too many": ("orchards", {"tags": list("abcde")}, "spec.tags: Too many: 5"),
    "list map": (
        "orchards",
        {"trees": [{"name": "a"}, {"row": 1, "name": "a"}]},
        "spec.trees[1]: Duplicate value",
    ),
    "too few": ("orchards", {"order": []}, "spec.order in body should have at least 1 items"),
    "map value": ("orchards", {"labels": {"a": "123456789"}}, "spec.labels.a: Too long"),
    "too many members": (
        "orchards",
        {"plots": {"a": {}, "b": {}, "c": {}}},
        "spec.plots: Too many: 3",
    ),
    "enum": ("turbines", {"maker": "eve"}, 'supported values: "ada", "bob"'),
    "none of": ("filters", {"allow": None}, "must validate one and only one schema (oneOf)"),
    "both of": ("filters", {"deny": "x"}, "must validate one and only one schema (oneOf)"),
    "any of": ("filters", {"size": {}}, "must validate at least one schema (anyOf)"),
    "not": ("filters", {"word": "none"}, "must not validate the schema (not)"),
    "all of": ("filters", {"code": "abcde"}, "must validate all the schemas (allOf)"),
    "pattern": ("regions", {"code": "dfw"}, "spec.code in body should match '^[A-Z]{3}$'"),
    "too short": ("regions", {"title": "x"}, "spec.title in body should be at least 2 chars long"),
    "too long": ("regions", {"title": "x" * 11}, "spec.title: Too long"),
    "maximum": ("regions", {"depth": 1}, "spec.depth in body should be less than or equal to 0"),
    "exclusive minimum": ("regions", {"share": 0}, "spec.share in body should be greater than 0"),
    "multiple": ("regions", {"step": 7}, "spec.step in body should be a multiple of 5"),
    "no members": (
        "regions",
        {"facts": {}},
        "spec.facts in body should have at least 1 properties",
    ),
    "rule between fields": ("ledgers", {"lowest": 5}, "spec.lowest: Invalid value"),
    "rule with a message": (
        "ledgers",
        {"entries": [{"name": "rent", "amount": 0}]},
        "spec: Forbidden: an amount of 0 is no entry, in anna",
    ),
    "type in a default": ("recipes", {"oven": {"degrees": "hot"}}, "spec.oven.degrees"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(kubectl, case):
    """The refusal has the field and the reason, and nothing is stored."""
    name, spec, words = WRONG[case]

    assert words in kubectl("create", "-f", "-", text=with_spec(name, spec, "wrong"), code=1)
    assert "NotFound" in kubectl("get", name, "wrong", code=1)


@pytest.mark.parametrize(
    ("spec", "words"),
    [({"owner": "bert"}, "the owner cannot be changed"), ({"version": 2}, "a version only rises")],
    ids=["fixed", "rising"],
)
def test_rules_know_what_was(kubectl, spec, words):
    """A rule that compares with the old value is asked when there is one."""
    kubectl("apply", "-f", "-", text=with_spec("ledgers", {}, "kept"))

    assert words in kubectl("apply", "-f", "-", text=with_spec("ledgers", spec, "kept"), code=1)
    kubectl("apply", "-f", "-", text=with_spec("ledgers", {"version": 4}, "kept"))
    kubectl("delete", "ledgers", "kept")


def test_the_name_of_an_object_has_rules(kubectl):
    """A schema may say how long it is."""
    _, sample = documents("badges")
    text = manifest(sample | {"metadata": {"name": "a-very-long-name"}})

    assert "metadata.name" in kubectl("create", "-f", "-", text=text, code=1)


def test_a_scale(kubectl):
    """Numbers and the selector are where the definition says."""
    kubectl("apply", "-f", "-", text=with_spec("turbines", {}, "scaled"))
    status = '{"status":{"blades":3,"selector":"a=b"}}'
    kubectl("patch", "tb", "scaled", "--subresource=status", "--type=merge", "-p", status)
    kubectl("scale", "tb", "scaled", "--replicas=5")
    shown = json.loads(kubectl("get", "tb", "scaled", "--subresource=scale", "-o", "json"))

    assert shown["spec"] == {"replicas": 5}
    assert shown["status"] == {"replicas": 3, "selector": "a=b"}
    assert kubectl("get", "tb", "scaled", "-o", "jsonpath={.spec.blades}") == "5"


def test_a_status_of_its_own(kubectl):
    """It is not written with the rest, and the rest is not written with it."""
    kubectl("apply", "-f", "-", text=manifest(documents("turbines")[1]))
    patch = '{"spec":{"power":1},"status":{"phase":"up"}}'
    kubectl("patch", "tb", "sample", "--subresource=status", "--type=merge", "-p", patch)
    found = json.loads(kubectl("get", "tb", "sample", "-o", "json"))

    assert (found["spec"]["power"], found["status"]) == (20, {"phase": "up"})


@pytest.mark.parametrize("selector", ["spec.maker=bob", "spec.power=7", "spec.spinning=false"])
def test_fields_to_select_by(kubectl, selector):
    """Of all three types that a field can have."""
    other = {"maker": "bob", "power": 7, "spinning": False}
    kubectl("apply", "-f", "-", text=with_spec("turbines", other, "chosen"))
    kubectl("apply", "-f", "-", text=manifest(documents("turbines")[1]))
    found = kubectl("get", "turbines", f"--field-selector={selector}", "-o", "name")

    assert found == f"turbine.{GROUP}/chosen\n"
    assert "field label not supported: spec.blades" in kubectl(
        "get", "turbines", "--field-selector=spec.blades=3", code=1
    )


def test_versions(kubectl):
    """One object in two versions, a warning for the older one, and none in what is not served."""
    _, sample = documents("beacons")
    old = sample | {"apiVersion": f"{GROUP}/v1beta1", "metadata": {"name": "old"}}
    text = kubectl("create", "-f", "-", text=manifest(old))

    assert "Warning: beacons of v1beta1 go out; light those of v1" in text
    new = json.loads(kubectl("get", f"beacons.v1.{GROUP}", "old", "-o", "json"))
    assert (new["apiVersion"], new["spec"]["height"]) == (f"{GROUP}/v1", 30)
    alpha = sample | {"apiVersion": f"{GROUP}/v1alpha1", "metadata": {"name": "never"}}
    refused = kubectl("create", "-f", "-", text=manifest(alpha), code=1)
    assert f'no matches for kind "Beacon" in version "{GROUP}/v1alpha1"' in refused


def brand_new(plural: str, **version: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A small definition of a kind that no other test has, and an object of it."""
    definition, sample = documents("recipes")
    kind = plural.capitalize()
    definition["metadata"]["name"] = f"{plural}.{GROUP}"
    definition["spec"]["names"] = {"plural": plural, "kind": kind}
    definition["spec"]["versions"][0] |= version
    return definition, sample | {"kind": kind}


def test_an_unknown_kind(kubectl):
    """Kubectl says so in its usual words."""
    _, thing = brand_new("unheardof")

    refused = kubectl("apply", "-f", "-", text=manifest(thing), code=1)
    assert f'no matches for kind "Unheardof" in version "{GROUP}/v1"' in refused
    assert "doesn't have a resource type" in kubectl("get", "unheardof", code=1)


def test_a_kind_comes_and_goes(kubectl):
    """Defined, used, changed and deleted with its objects; then it is unknown again."""
    definition, thing = brand_new("briefly")
    name = f"briefly.{GROUP}"
    kubectl("apply", "-f", "-", text=manifest(definition))
    kubectl("wait", f"crd/{name}", "--for=condition=Established", PATIENCE)
    kubectl("apply", "-f", "-", text=manifest(thing))
    column = {"name": "Serves", "type": "integer", "jsonPath": ".spec.serves"}
    changed, _ = brand_new("briefly", additionalPrinterColumns=[column])
    assert kubectl("apply", "-f", "-", text=manifest(changed)).endswith("configured\n")
    kubectl("wait", "briefly/sample", "--for=jsonpath={.spec.serves}=2", PATIENCE)
    kubectl("delete", "crd", name, PATIENCE)

    assert "not found" in kubectl("get", "crd", name, code=1)
    assert "NotFound" in kubectl("get", "--raw", f"/apis/{GROUP}/v1/briefly", code=1)


def test_a_definition_that_is_wrong(kubectl):
    """It is refused by its fields."""
    definition, _ = brand_new("crooked", storage=False)
    definition["spec"]["scope"] = "World"
    refused = kubectl("create", "-f", "-", text=manifest(definition), code=1)

    assert 'spec.scope: Unsupported value: "World"' in refused
    assert "must have exactly one version marked as storage version" in refused


def test_a_definition_cannot_become_another_kind(kubectl):
    """What is stored must stay what it is."""
    definition, _ = documents("gauges")
    definition["spec"]["scope"] = "Cluster"
    refused = kubectl("apply", "-f", "-", text=manifest(definition), code=1)

    assert 'spec.scope: Invalid value: "Cluster": field is immutable' in refused
