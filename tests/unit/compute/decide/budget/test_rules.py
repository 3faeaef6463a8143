"""What may be registered, granted and claimed."""

from datetime import timedelta

import msgspec
import pytest

from compute.api import quota as api
from compute.api.quota import ObjectRef, ResourceRegistrationStatus, ResourceRequest
from compute.decide import quota
from compute.decide.budget import active, faults, grant_faults, registration_faults
from compute.services.quota.registrations import REGISTRATIONS
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import NOW, condition
from tests.support.compute.service_builders import claim, consumer, grant

STATUS = ResourceRegistrationStatus(conditions=(condition("Active"),))
REGISTERED = active(msgspec.structs.replace(each, status=STATUS) for each in REGISTRATIONS)


def changed(**spec):
    made = claim(vcpus=1000)
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, **spec))


def asks(*requests: tuple[str, int]):
    return changed(
        requests=tuple(ResourceRequest(resource_type=kind, amount=a) for kind, a in requests)
    )


def refers(**reference: str):
    known = {"api_group": "compute.datumapis.com", "kind": "Instance", "name": "web-0"}
    return changed(resource_ref=ObjectRef(**(known | reference)))


def test_the_claim_of_an_instance_is_well():
    """What our cells ask for may be asked for, whether or not it names its consumer."""
    assert list(faults(claim(vcpus=1000, memory=2048), "shop", REGISTERED)) == []
    assert list(faults(changed(consumer_ref=None), "shop", REGISTERED)) == []
    assert list(faults(refers(kind="instance"), "shop", REGISTERED)) == []


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        pytest.param(changed(consumer_ref=consumer("bank")), "spec.consumerRef", id="consumer"),
        pytest.param(changed(resource_ref=None), "spec.resourceRef", id="nothing named"),
        pytest.param(refers(name=""), "spec.resourceRef.name", id="no name"),
        pytest.param(refers(kind="Pod"), "spec.resourceRef", id="kind that may not claim"),
        pytest.param(refers(api_group=""), "spec.resourceRef", id="group that may not claim"),
        pytest.param(asks((quota.VCPUS, 0)), "spec.requests[0].amount", id="an amount of nothing"),
        pytest.param(
            asks((quota.VCPUS, 1), (quota.VCPUS, 2)), "spec.requests[1].resourceType", id="twice"
        ),
        pytest.param(asks(("gpu", 1)), "spec.requests[0].resourceType", id="not registered"),
    ],
)
def test_a_claim_that_violates_a_rule_reports_the_field(wrong, path):
    """Each rule names the field that breaks it, and no other."""
    found = [str(fault.path) for fault in faults(wrong, "shop", REGISTERED)]
    assert list(dict.fromkeys(found)) == [path]


def test_a_claim_for_an_object_without_a_kind_reports_it():
    """Kind and name are both needed."""
    found = [str(fault.path) for fault in faults(refers(kind=""), "shop", REGISTERED)]
    assert found == ["spec.resourceRef.kind"]


def test_what_is_not_active_cannot_be_claimed():
    """A registration that was not judged yet, or that goes, does not count."""
    going = msgspec.structs.replace(
        REGISTRATIONS[0], metadata=ObjectMeta(name="x", deletion_timestamp=NOW), status=STATUS
    )
    assert active([REGISTRATIONS[1], going]) == {}


def test_a_grant_counts_only_for_what_is_registered_for_its_consumer():
    """Unregistered types, and consumers of another kind, are named."""
    assert list(grant_faults(grant("g", {quota.VCPUS: 1}), REGISTERED)) == []
    unknown = [str(fault) for fault in grant_faults(grant("g", {"gpu": 1}), REGISTERED)]
    assert unknown == [
        'spec.allowances[0].resourceType: Not found: "gpu": '
        "no active ResourceRegistration has this type"
    ]
    given = grant("g", {quota.VCPUS: 1})
    organization = api.ObjectRef(kind="Organization", name="acme")
    spec = msgspec.structs.replace(given.spec, consumer_ref=organization)
    wrong = list(grant_faults(msgspec.structs.replace(given, spec=spec), REGISTERED))
    assert [fault.detail for fault in wrong] == ["it can only be granted to a Project"]


def test_the_older_of_two_registrations_of_a_type_keeps_it():
    """A type means one thing; among equals in age the name decides."""
    first = msgspec.structs.replace(
        REGISTRATIONS[0], metadata=ObjectMeta(name="b", creation_timestamp=NOW)
    )
    second = msgspec.structs.replace(
        REGISTRATIONS[0],
        metadata=ObjectMeta(name="a", creation_timestamp=NOW + timedelta(seconds=1)),
    )
    assert list(registration_faults(first, [second, REGISTRATIONS[1]])) == []
    assert [fault.detail for fault in registration_faults(second, [first])] == [
        "the registration b has this type already"
    ]
    fresh = REGISTRATIONS[0]
    assert list(registration_faults(fresh, [second])) == []
