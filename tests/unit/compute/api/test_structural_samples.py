from pathlib import Path

import msgspec
import pytest
import yaml

from compute.api.compute import Instance, Workload, WorkloadDeployment
from kubekit.api.structural import prune, unknown_fields, validate, with_defaults
from tests.support.compute.builders import condition, deployment, instance, workload
from tests.support.kubekit.schema_nodes import schema_of_kind

SAMPLES = list(yaml.safe_load_all(Path(__file__).with_name("workload_samples.yaml").read_text()))


def as_document(obj):
    return msgspec.json.decode(msgspec.json.encode(obj))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["metadata"]["name"])
def test_manifests_of_the_original_pass(sample):
    """A container, a machine and several cities: valid, and without a field we do not know."""
    schema = schema_of_kind(Workload)

    assert unknown_fields(sample, schema) == []
    assert validate(sample, schema) == []
    assert validate(with_defaults(sample, schema), schema) == []


def test_the_policy_is_filled_in():
    """A placement that names no policy gets the ordered one."""
    [placement] = with_defaults(SAMPLES[0], schema_of_kind(Workload))["spec"]["placements"]

    assert placement["scaleSettings"] == {
        "minReplicas": 1,
        "instanceManagementPolicy": "OrderedReady",
    }


@pytest.mark.parametrize(
    ("kind", "obj"),
    [
        (Workload, workload()),
        (WorkloadDeployment, deployment()),
        (Instance, instance(conditions=(condition("Ready"),), gates=("Network",))),
    ],
    ids=["Workload", "WorkloadDeployment", "Instance"],
)
def test_what_we_write_is_valid(kind, obj):
    """The types and the schema made from them agree: what a type encodes, its schema accepts."""
    schema = schema_of_kind(kind)
    document = as_document(obj)

    assert validate(document, schema) == []
    assert unknown_fields(document, schema) == []


def test_a_new_instance_gets_its_first_conditions():
    """An Instance created without a status reports that it has not been reconciled yet."""
    document = {name: part for name, part in as_document(instance()).items() if name != "status"}

    status = with_defaults(document, schema_of_kind(Instance))["status"]

    assert [(c["type"], c["reason"]) for c in status["conditions"]] == [
        ("Programmed", "Pending"),
        ("Available", "Pending"),
        ("Ready", "Pending"),
        ("QuotaGranted", "PendingEvaluation"),
    ]


def test_a_template_keeps_five_fields_of_its_metadata():
    """What a template may not set is pruned away."""
    document = as_document(workload())
    document["spec"]["template"]["metadata"] = {"labels": {"app": "web"}, "uid": "1"}

    pruned = prune(document, schema_of_kind(Workload))

    assert pruned["spec"]["template"]["metadata"] == {"labels": {"app": "web"}}


def test_every_error_in_a_manifest_is_reported_at_once():
    """A user who made four mistakes reads of four, each with its path."""
    document = as_document(deployment())
    document["spec"]["scaleSettings"] = {"minReplicas": "two"}
    document["spec"]["template"]["spec"]["networkInterfaces"] = []
    del document["spec"]["cityCode"]
    document["status"]["conditions"] = [as_document(condition("Ready")) | {"status": "Yes"}]

    assert [str(error) for error in validate(document, schema_of_kind(WorkloadDeployment))] == [
        'spec.scaleSettings.minReplicas: Invalid value: "string": '
        'spec.scaleSettings.minReplicas in body must be of type integer: "string"',
        "spec.template.spec.networkInterfaces: Invalid value: 0: "
        "spec.template.spec.networkInterfaces in body should have at least 1 items",
        "spec.cityCode: Required value",
        'status.conditions[0].status: Unsupported value: "Yes": '
        'supported values: "True", "False", "Unknown"',
    ]
