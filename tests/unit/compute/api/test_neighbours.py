"""The neighbours' kinds: their first conditions, and how they are listed."""

import json

import msgspec
import pytest

from compute.api import networking, quota, resource_manager, services
from compute.api.infrastructure import CONTROL_PLANE_READY, ProjectControlPlane
from compute.decide.conditions import is_true
from kubekit.api import scheme
from kubekit.api.table import Table, TableColumn, TableRow


def waiting(*types):
    return [
        {
            "type": kind,
            "status": "Unknown",
            "lastTransitionTime": "1970-01-01T00:00:00Z",
            "reason": "Pending",
            "message": "Waiting for controller",
        }
        for kind in types
    ]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (networking.NEW_NETWORK_BINDING_STATUS, waiting("Ready")),
        (networking.NEW_NETWORK_CONTEXT_STATUS, waiting("Programmed", "Ready")),
        (networking.NEW_SUBNET_CLAIM_STATUS, waiting("Allocated", "Programmed", "Ready")),
        (networking.NEW_SUBNET_STATUS, waiting("Allocated", "Programmed", "Ready")),
        (
            quota.NEW_RESOURCE_CLAIM_STATUS,
            [
                {
                    "type": "Granted",
                    "status": "False",
                    "lastTransitionTime": "1970-01-01T00:00:00Z",
                    "reason": "PendingEvaluation",
                    "message": "Awaiting capacity evaluation",
                }
            ],
        ),
        (
            resource_manager.ProjectStatus(conditions=resource_manager.NEW_CONDITIONS),
            [
                {
                    "type": "Ready",
                    "status": "Unknown",
                    "lastTransitionTime": "1970-01-01T00:00:00Z",
                    "reason": "Unknown",
                    "message": "Waiting for control plane to reconcile",
                }
            ],
        ),
    ],
    ids=["binding", "context", "subnet-claim", "subnet", "quota-claim", "project"],
)
def test_a_new_status(status, expected):
    """The CRDs write exactly these conditions on creation; other programs compare them."""
    assert json.loads(msgspec.json.encode(status)) == {"conditions": expected}


@pytest.mark.parametrize(
    ("kind", "namespaced", "columns"),
    [
        (networking.Location, False, ["Class", "City", "Age", "Ready", "Reason"]),
        (networking.LocationBinding, False, ["Location", "Class", "Available", "Age"]),
        (quota.ResourceRegistration, False, ["Type", "Active", "Age"]),
        (quota.ResourceClaim, True, ["Granted", "Resource", "Age"]),
        (
            quota.AllowanceBucket,
            True,
            ["Resource Type", "Limit", "Allocated", "Available", "Claims", "Age"],
        ),
        (
            quota.ResourceGrant,
            True,
            ["Active", "Consumer Group", "Consumer Type", "Consumer", "Age"],
        ),
        (services.ServiceEntitlement, False, ["Service", "Phase", "Origin", "Suspended"]),
        (resource_manager.Project, False, ["Ready", "Age"]),
    ],
)
def test_how_a_kind_is_listed(kind, namespaced, columns):
    """Scope and columns are those that users of the original know."""
    assert kind.RESOURCE.namespaced is namespaced
    assert [column.name for column in kind.RESOURCE.columns] == columns


def test_claims_can_be_listed_by_their_consumer():
    """The fields that claims may be selected by, as the quota service has them."""
    assert quota.ResourceClaim.RESOURCE.selectable_fields == (
        ".spec.consumerRef.kind",
        ".spec.consumerRef.name",
        ".spec.resourceRef.apiGroup",
        ".spec.resourceRef.kind",
        ".spec.resourceRef.name",
        ".spec.resourceRef.namespace",
    )


def test_a_network_without_wishes():
    """What a network does not say is what its CRD would have filled in."""
    got = networking.NetworkSpec(ipam=networking.NetworkIPAM(mode="Auto"))

    assert (got.ip_families, got.mtu) == (("IPv4",), 1460)


def test_a_table():
    """A table holds any cell, and the object of a row."""
    table = Table(
        column_definitions=(TableColumn(name="Name", type="string", format="name"),),
        rows=(TableRow(cells=("web", 3, None, True), object={"kind": "Workload"}),),
    )
    wire = msgspec.json.encode(table)

    assert msgspec.json.decode(wire) == {
        "apiVersion": "meta.k8s.io/v1",
        "kind": "Table",
        "metadata": {},
        "columnDefinitions": [
            {"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}
        ],
        "rows": [{"cells": ["web", 3, None, True], "object": {"kind": "Workload"}}],
    }
    assert msgspec.json.decode(wire, type=Table) == table


def test_a_control_plane_of_milo_is_read():
    """It has a namespace, and one condition that says that its project's plane answers."""
    ready = {
        "type": "ControlPlaneReady",
        "status": "True",
        "lastTransitionTime": "2026-03-01T12:00:00Z",
    }
    document = {
        "apiVersion": "infrastructure.miloapis.com/v1alpha1",
        "kind": "ProjectControlPlane",
        "metadata": {"name": "shop", "namespace": "milo-system"},
        "status": {"conditions": [ready]},
    }
    plane = scheme.decode_as(ProjectControlPlane, json.dumps(document).encode())

    assert plane.metadata.name == "shop"
    assert is_true(plane.status.conditions, CONTROL_PLANE_READY)
