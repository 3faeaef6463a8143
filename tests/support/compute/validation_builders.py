"""Workload documents for the tests of validation: small, valid, and changed in one place."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import msgspec

from compute.api.compute import Workload
from compute.decide.validation import validate
from kubekit.api.fields import FieldError, Problem

CITIES = ("DFW", "DLS", "LHR")
SSH_KEYS = "compute.datumapis.com/ssh-keys"
ED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG73EeHTplL7q/vGY/nWPU/g1229UHAYKWiPQlC6l7iR"

ABSENT = object()

Document = dict[str, Any]


def sandbox(changes: Mapping[str, Any] | None = None) -> Document:
    """A Workload of one container; ``changes`` are values by path, such as ``spec/placements/0``."""
    runtime = {
        "resources": {"instanceType": "datumcloud/d1-standard-2"},
        "sandbox": {"containers": [{"name": "app", "image": "registry.test/web:1"}]},
    }
    return changed(_workload({"runtime": runtime}), changes or {})


def machine(changes: Mapping[str, Any] | None = None) -> Document:
    """A Workload of one virtual machine with a disk to boot from and one to work on."""
    runtime = {
        "resources": {"instanceType": "datumcloud/d1-standard-2"},
        "virtualMachine": {"volumeAttachments": [{"name": "root"}, {"name": "data"}]},
    }
    image = {"image": {"name": "datumcloud/ubuntu-2204-lts"}}
    volumes = [
        {"name": "root", "disk": {"template": {"spec": {"populator": image}}}},
        {"name": "data", "disk": disk("10Gi", populator={"filesystem": {"type": "ext4"}})},
    ]
    document = _workload({"runtime": runtime, "volumes": volumes})
    document["spec"]["template"]["metadata"] = {"annotations": {SSH_KEYS: f"ops:{ED25519}"}}
    return changed(document, changes or {})


def disk(storage: str | int, **spec: Any) -> Document:
    """A disk of some size."""
    return {"template": {"spec": {"resources": {"requests": {"storage": storage}}, **spec}}}


def changed(document: Mapping[str, Any], changes: Mapping[str, Any]) -> Document:
    """A copy with a value at each path; ABSENT removes the field."""
    copy = deepcopy(dict(document))
    for path, value in changes.items():
        *above, last = (int(s) if s.isdigit() else s for s in path.split("/"))
        parent: Any = copy
        for step in above:
            parent = parent[step]
        if value is ABSENT:
            del parent[last]
        else:
            parent[last] = value
    return copy


def decoded(document: Mapping[str, Any]) -> Workload:
    return msgspec.convert(document, Workload)


def errors_of(document: Mapping[str, Any], old: Mapping[str, Any] | None = None) -> list[str]:
    """The errors of a document as a user reads them."""
    return [str(error) for error in found(document, old)]


def blamed(
    document: Mapping[str, Any], old: Mapping[str, Any] | None = None
) -> list[tuple[str, Problem]]:
    """The fields with errors, and the kind of each error."""
    return [(error.path, error.problem) for error in found(document, old)]


def found(
    document: Mapping[str, Any], old: Mapping[str, Any] | None = None
) -> tuple[FieldError, ...]:
    before = None if old is None else decoded(old)
    return validate(decoded(document), cities=CITIES, old=before).errors


def _workload(spec: Document) -> Document:
    return {
        "apiVersion": "compute.datumapis.com/v1alpha",
        "kind": "Workload",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "template": {"spec": spec | {"networkInterfaces": [{"network": {"name": "default"}}]}},
            "placements": [
                {"name": "home", "cityCodes": ["DFW"], "scaleSettings": {"minReplicas": 1}}
            ],
        },
    }
