"""What is wrong with a document of any kind."""

import msgspec
import pytest

from compute.api.compute import Instance, Workload
from compute.api.networking import Network
from compute.decide.workload_edits.document_errors import document_errors, sentence
from kubekit.api import scheme
from kubekit.api.kinds.core import ConfigMap
from tests.support.compute.builders import workload


def errors(kind, document, **settings):
    return [sentence(error) for error in document_errors(kind, document, **settings)]


def written():
    document = msgspec.json.decode(scheme.encode(workload()))
    document["metadata"] = {"name": "web", "managedFields": []}
    return document


def test_a_valid_document_has_none():
    """What a server writes is no error."""
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
        "data": {"k": "v"},
    }

    assert errors(Workload, written(), cities=("DFW",)) == []
    assert errors(ConfigMap, config) == []


def test_an_unknown_field_is_an_error():
    """A server would drop it."""
    document = written()
    document["spec"]["placments"] = []
    document["metadata"]["lables"] = {}

    assert errors(Workload, document, cities=("DFW",)) == [
        'unknown field "spec.placments"; did you mean "placements"?',
        'unknown field "metadata.lables"; did you mean "labels"?',
    ]


def test_a_wrong_value_is_an_error():
    """By the rules of admission for a Workload, and by the schema for any other kind."""
    network: dict[str, object] = {
        "apiVersion": "networking.datumapis.com/v1alpha",
        "kind": "Network",
    }
    network |= {"metadata": {"name": "lab"}, "spec": {"ipam": {"mode": "Automatic"}}}

    assert "spec.placements[0].cityCodes[0]" in errors(Workload, written(), cities=("LHR",))[0]
    assert "spec.ipam.mode: Unsupported value" in errors(Network, network)[0]


@pytest.mark.parametrize("metadata", [None, [], {}, {"name": ""}])
def test_an_object_needs_a_name(metadata):
    """Without one it could not be found again."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}

    assert "metadata.name: Required value: name the object" in errors(ConfigMap, config)


def test_what_the_platform_makes_is_not_written_by_users():
    """The error says what to write."""
    assert errors(Instance, {}) == [
        "kind: Forbidden: the platform makes each Instance from a Workload; write that"
    ]


def test_a_wrong_type_is_one_sentence():
    """With what was probably meant."""
    document = written()
    document["spec"]["placements"][0]["scaleSettings"]["minReplicas"] = "3"

    assert errors(Workload, document, cities=("DFW",)) == [
        "spec.placements[0].scaleSettings.minReplicas: must be of type integer; write it without quotes: 3"
    ]
