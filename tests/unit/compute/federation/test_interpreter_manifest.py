"""The manifest that tells Karmada what our engine knows by itself."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from compute.api.compute import WorkloadDeployment, WorkloadDeploymentStatus
from compute.api.karmada import ResourceInterpreterCustomization
from compute.api.karmada_work import AggregatedStatusItem
from compute.federation import interpreter, karmada_keys
from kubekit.api import scheme
from kubekit.api.schema import schema_of
from kubekit.api.structural import validate
from tests.support.compute.builders import deployment
from tests.support.compute.federation_builders import with_meta
from tools.generate import field_docs

FOLDER = Path(__file__).parents[4] / "config/components/federation"


def manifest() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((FOLDER / "workloaddeployment.yaml").read_text())
    return document


def scripts() -> dict[str, str]:
    rules = manifest()["spec"]["customizations"]
    return {name: rule["luaScript"] for name, rule in rules.items()}


def test_the_manifest_is_valid_against_the_definition():
    """Every field is one of Karmada's: nothing is unknown, nothing is missing."""
    schema = schema_of(ResourceInterpreterCustomization, field_docs)
    assert validate(manifest(), schema) == []
    read = scheme.decode_as(ResourceInterpreterCustomization, manifest())
    assert yaml.safe_load(scheme.encode(read)) == manifest()


def test_the_manifest_is_about_our_kind():
    """By the version that we serve."""
    resource = WorkloadDeployment.RESOURCE
    assert manifest()["spec"]["target"] == {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
    }
    assert manifest()["metadata"] == {"name": resource.singular}


def test_status_travels_and_nothing_is_retained():
    """Karmada asks for these two only; the spec is the hub's, replicas too."""
    assert sorted(scripts()) == ["statusAggregation", "statusReflection"]


@pytest.mark.parametrize(
    ("rule", "head"),
    [
        ("statusReflection", "function ReflectStatus(observedObj)"),
        ("statusAggregation", "function AggregateStatus(desiredObj, statusItems)"),
    ],
)
def test_a_script_is_one_function_of_the_name_that_karmada_calls(rule, head):
    """Each block of it is closed."""
    script = scripts()[rule]
    assert script.startswith(head)
    opened = re.findall(r"\b(function|then|do)\b", script)
    assert len(re.findall(r"\bend\b", script)) == len(opened)


def test_karmada_reports_an_empty_status_of_a_fresh_deployment_without_a_warning():
    """Karmada accepts only a table: nil is an error and a Warning event on every new Work."""
    script = scripts()["statusReflection"]
    assert set(re.findall(r"return (.+)", script)) == {"{}", "status"}
    assert "if status == nil or next(status) == nil then\n    return {}" in script


def test_karmada_keeps_the_hub_object_while_the_report_is_empty():
    """An empty report has no generation to translate, and must not clear the status of the hub."""
    script = scripts()["statusAggregation"]
    assert set(re.findall(r"return (.+)", script)) == {"desiredObj"}
    assert "if status == nil or next(status) == nil then\n    return desiredObj" in script


def test_the_engine_follows_both_rules():
    """A fresh copy is reported empty, and an empty report leaves the hub's object as it is."""
    known = msgspec.structs.replace(deployment(), status=WorkloadDeploymentStatus(replicas=1))
    assert interpreter.reflected(deployment()) == {}
    silent = AggregatedStatusItem(cluster_name="cell")
    for item in (silent, msgspec.structs.replace(silent, status={})):
        assert interpreter.aggregated(known, (item,)) is known


def test_generations_travel_by_the_names_that_the_engine_knows():
    """What one script adds to a status the other takes out again: neither is a field of ours."""
    copy = with_meta(
        msgspec.structs.replace(deployment(), status=WorkloadDeploymentStatus(replicas=1)),
        annotations={karmada_keys.TEMPLATE_GENERATION: "4"},
    )
    reflected = interpreter.reflected(copy)
    assert reflected is not None
    added = reflected.keys() - msgspec.json.decode(scheme.encode(copy.status))
    rules = scripts()
    assert f'annotations["{karmada_keys.TEMPLATE_GENERATION}"]' in rules["statusReflection"]
    assert set(re.findall(r"status\.(\w+) = ", rules["statusReflection"])) == added
    assert set(re.findall(r"status\.(\w+) = nil", rules["statusAggregation"])) == added


def test_the_kustomization_lists_every_manifest():
    """A file that is not listed would never reach a hub."""
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    there = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}
    assert sorted(listed) == sorted(there)
