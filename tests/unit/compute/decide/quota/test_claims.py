"""The claim of a slot, and what a refusal means."""

import msgspec
import pytest

from compute.api import labels
from compute.api.instance_spec import InstanceResources
from compute.api.quota import ObjectRef, ResourceClaim, ResourceClaimSpec, ResourceRequest
from compute.api.reasons import Reason
from compute.decide.quota import (
    INSTANCES,
    MEMORY,
    VCPUS,
    ClaimConflict,
    ClaimLookupFailed,
    claim,
    is_of_old_deployment,
    refusal,
    requests,
    requests_same_quota,
)
from kubekit.api import errors
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import instance, instance_spec
from tests.support.compute.quota_builders import stored, wanted


def test_w50_a_claim_is_for_the_instance_and_on_the_projects_account():
    """The claim refers to the Instance; the project is only the consumer."""
    got = claim(instance(3), project="shop", claim_namespace="default", source_cluster="cell-1")

    assert got == ResourceClaim(
        metadata=ObjectMeta(
            name="instance-web-home-dfw-3",
            namespace="default",
            labels={labels.SOURCE_CLUSTER: "cell-1", labels.INSTANCE_NAMESPACE: "ns-1"},
        ),
        spec=ResourceClaimSpec(
            consumer_ref=ObjectRef(
                api_group="resourcemanager.miloapis.com", kind="Project", name="shop"
            ),
            requests=(
                ResourceRequest(resource_type=INSTANCES, amount=1),
                ResourceRequest(resource_type=VCPUS, amount=1000),
                ResourceRequest(resource_type=MEMORY, amount=2048),
            ),
            resource_ref=ObjectRef(
                api_group="compute.datumapis.com",
                kind="Instance",
                name="web-home-dfw-3",
                namespace="ns-1",
            ),
        ),
    )


def sized(kind: str = "datumcloud/other", **amounts: str):
    plain = instance_spec()
    resources = InstanceResources(instance_type=kind, requests=dict(amounts))
    runtime = msgspec.structs.replace(plain.runtime, resources=resources)
    return msgspec.structs.replace(plain, runtime=runtime)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(sized(), {INSTANCES: 1}, id="unknown size"),
        pytest.param(
            sized(cpu="2", memory="1Gi"), {INSTANCES: 1, VCPUS: 2000, MEMORY: 1024}, id="full size"
        ),
        pytest.param(
            sized(cpu="1", memory="1Ki"), {INSTANCES: 1, VCPUS: 1000}, id="memory floors to zero"
        ),
        pytest.param(sized(cpu="-1", memory="0"), {INSTANCES: 1}, id="amounts that are none"),
    ],
)
def test_no_amount_of_zero_is_asked_for(spec, expected):
    """The service refuses a claim with an amount of zero, so such a request is left out."""
    assert {r.resource_type: r.amount for r in requests(spec)} == expected


FULL = {INSTANCES: 1, VCPUS: 1000, MEMORY: 2048}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(stored(), True, id="the same"),
        pytest.param(stored(amounts=dict(reversed(FULL.items()))), True, id="in another order"),
        pytest.param(stored(amounts=FULL | {MEMORY: 1024}), False, id="another amount"),
        pytest.param(stored(amounts={INSTANCES: 1}), False, id="less"),
        pytest.param(stored(cell="cell-lhr"), False, id="by another cell"),
        pytest.param(
            stored(labels=wanted().metadata.labels | {labels.INSTANCE_NAMESPACE: "ns-2"}),
            False,
            id="for another namespace",
        ),
    ],
)
def test_claims_are_compared_by_their_requests_and_their_slot(made, expected):
    """Order does not matter; amounts, and the cell and namespace it was made for, do."""
    assert requests_same_quota(made, wanted()) is expected


@pytest.mark.parametrize(
    ("made", "now", "expected"),
    [
        pytest.param("uid-1", "uid-1", False, id="the same"),
        pytest.param("uid-1", "uid-2", True, id="a later one"),
        pytest.param("", "uid-2", True, id="no label"),
    ],
)
def test_a_claim_is_of_a_slot_of_one_deployment(made, now, expected):
    """A deployment that comes later under the same name has slots of its own."""
    before, after = (
        wanted(instance(labels={labels.DEPLOYMENT_UID: uid} if uid else {})) for uid in (made, now)
    )

    assert is_of_old_deployment(before, after) is expected


@pytest.mark.parametrize(
    ("error", "namespace", "expected"),
    [
        pytest.param(errors.NotFound("x"), "default", Reason.QUOTA_NAMESPACE_NOT_FOUND, id="404"),
        pytest.param(
            errors.NotFound("x"), "", Reason.QUOTA_PROJECT_NOT_FOUND, id="404 and no namespace"
        ),
        pytest.param(errors.Forbidden("x"), "default", Reason.QUOTA_MISCONFIGURED, id="403"),
        pytest.param(errors.Invalid("x"), "default", Reason.QUOTA_MISCONFIGURED, id="422"),
        pytest.param(
            errors.Unavailable("x"), "default", Reason.QUOTA_BACKEND_UNAVAILABLE, id="503"
        ),
        pytest.param(
            errors.InternalError("x"), "default", Reason.QUOTA_BACKEND_UNAVAILABLE, id="500"
        ),
    ],
)
def test_a_refusal_is_reported_by_its_cause(error, namespace, expected):
    """Each way in which the quota service refuses has a reason of its own."""
    got = refusal(error, namespace)

    assert isinstance(got, ClaimLookupFailed)
    assert got.reason == expected


def test_an_outage_reads_the_same_on_every_try():
    """The message of a transport error varies; the status that reports it must not."""
    assert refusal(errors.Unavailable("after 5.01 s"), "d") == refusal(errors.Timeout("5.02"), "d")


def test_w47_a_claim_that_is_already_there_is_no_failure():
    """Losing the race to create a claim means that there is one to read."""
    assert refusal(errors.AlreadyExists("instance-web-0"), "default") == ClaimConflict()
