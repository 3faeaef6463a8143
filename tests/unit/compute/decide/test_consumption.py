"""When a project is engaged, by the records of its consumption."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from compute.api.services import (
    ConsumerProjectRef,
    ServiceConsumer,
    ServiceConsumerSpec,
    ServiceConsumerStatus,
    ServiceRef,
)
from compute.decide.consumption import Consumption, consumption
from kubekit.api.meta import ObjectMeta

COMPUTE = "compute.datumapis.com"
GONE = datetime(2026, 3, 1, tzinfo=UTC)


def record(phase="Active", *, project="shop", service=COMPUTE, deleting=False):
    return ServiceConsumer(
        metadata=ObjectMeta(name="any", deletion_timestamp=GONE if deleting else None),
        spec=ServiceConsumerSpec(
            service_ref=ServiceRef(name=service),
            consumer_project_ref=ConsumerProjectRef(name=project),
        ),
        status=ServiceConsumerStatus(phase=phase),
    )


@pytest.mark.parametrize(
    ("records", "verdict"),
    [
        ([], Consumption.NONE),
        ([record()], Consumption.ACTIVE),
        ([record("Denied"), record()], Consumption.ACTIVE),
        ([record("PendingApproval")], Consumption.UNDECIDED),
        ([record("")], Consumption.UNDECIDED),
        ([record("Denied")], Consumption.REVOKED),
        ([record(deleting=True)], Consumption.REVOKED),
        ([record("PendingApproval"), record("Denied")], Consumption.REVOKED),
        ([record(project="other")], Consumption.NONE),
        ([record(service="dns.example.test")], Consumption.NONE),
    ],
)
def test_the_records_of_a_project_decide(records, verdict):
    assert consumption("shop", [COMPUTE], records) is verdict


def test_without_named_services_any_record_counts():
    assert consumption("shop", [], [record(service="any")]) is Consumption.ACTIVE


@given(st.lists(st.sampled_from(["", "PendingApproval", "Active", "Denied"])), st.randoms())
def test_the_order_of_the_records_does_not_matter(phases, chance):
    records = [record(phase) for phase in phases]
    shuffled = records.copy()
    chance.shuffle(shuffled)

    assert consumption("shop", [COMPUTE], records) is consumption("shop", [COMPUTE], shuffled)
