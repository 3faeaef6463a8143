"""Whether networks are ready, and what is missing until they are."""

from typing import Any

import msgspec
import pytest

from compute.api.compute import WorkloadDeployment
from compute.api.instance_spec import LocationRef, NetworkInterface, NetworkRef
from compute.api.networking import (
    NetworkBinding,
    NetworkBindingSpec,
    NetworkBindingStatus,
    NetworkContext,
    NetworkContextRef,
    NetworkContextSpec,
    NetworkContextStatus,
    Subnet,
    SubnetClaim,
    SubnetClaimSpec,
    SubnetClaimStatus,
    SubnetSpec,
    SubnetStatus,
)
from compute.decide.networking.networks import NetworkObjects, failed, location_of, network_plan
from kubekit.api.meta import Condition, LocalRef, ObjectMeta
from tests.support.compute.builders import NOW, condition, deployment, instance
from tests.support.compute.cell_neighbours import location
from tests.support.compute.federation_builders import with_meta

HERE = LocationRef(name="lab-dfw-1")
READY = (condition("Ready", "True", "Ready"),)
WAITING = (condition("Ready", "Unknown", "Pending", "Waiting for controller"),)
OWNER = deployment()
REF = NetworkContextRef(name="default--lab-dfw-1", namespace="ns-1")


def on(of: WorkloadDeployment, *networks: str) -> WorkloadDeployment:
    interfaces = tuple(NetworkInterface(network=NetworkRef(name=name)) for name in networks)
    inner = msgspec.structs.replace(of.spec.template.spec, network_interfaces=interfaces)
    template = msgspec.structs.replace(of.spec.template, spec=inner)
    return msgspec.structs.replace(of, spec=msgspec.structs.replace(of.spec, template=template))


def binding(
    number: int = 0,
    network: str = "default",
    conditions: tuple[Condition, ...] = READY,
    at: str = "lab-dfw-1",
    **meta: Any,
) -> NetworkBinding:
    known = {
        "name": f"web-home-dfw-net-{number}",
        "namespace": "ns-1",
        "uid": f"uid-net-{number}",
        "owner_references": (OWNER.reference(controller=True),),
    }
    return NetworkBinding(
        metadata=ObjectMeta(**(known | meta)),
        spec=NetworkBindingSpec(location=LocationRef(name=at), network=NetworkRef(name=network)),
        status=NetworkBindingStatus(conditions=conditions, network_context_ref=REF),
    )


def context(conditions: tuple[Condition, ...] = READY, **meta: Any) -> NetworkContext:
    known = {"name": REF.name, "namespace": REF.namespace, "uid": "uid-context"}
    return NetworkContext(
        metadata=ObjectMeta(**(known | meta)),
        spec=NetworkContextSpec(location=HERE, network=LocalRef(name="default")),
        status=NetworkContextStatus(conditions=conditions),
    )


def claim(
    conditions: tuple[Condition, ...] = READY, subnet: str = "sub", **changes: Any
) -> SubnetClaim:
    known: dict[str, Any] = {
        "subnet_class": "private",
        "ip_family": "IPv4",
        "network_context": LocalRef(name=REF.name),
        "location": HERE,
    }
    meta = {"name": "any", "namespace": REF.namespace} | changes.pop("meta", {})
    return SubnetClaim(
        metadata=ObjectMeta(**meta),
        spec=SubnetClaimSpec(**(known | changes)),
        status=SubnetClaimStatus(conditions=conditions, subnet_ref=LocalRef(name=subnet)),
    )


def subnet(conditions: tuple[Condition, ...] = READY, **meta: Any) -> Subnet:
    return Subnet(
        metadata=ObjectMeta(**({"name": "sub", "namespace": REF.namespace} | meta)),
        spec=SubnetSpec(
            subnet_class="private",
            ip_family="IPv4",
            network_context=LocalRef(name=REF.name),
            location=HERE,
            prefix_length=20,
            start_address="10.0.0.0",
        ),
        status=SubnetStatus(conditions=conditions),
    )


def there(**changes: Any) -> NetworkObjects:
    known: dict[str, Any] = {
        "locations": [location()],
        "bindings": [binding()],
        "contexts": [context()],
        "claims": [claim()],
        "subnets": [subnet()],
    }
    return NetworkObjects(**(known | changes))


def test_all_there_is_ready() -> None:
    """With every part ready the networks are, and nothing is to be done."""
    plan = network_plan(OWNER, (), there())
    assert (plan.verdict.ready, plan.verdict.location) == (True, HERE)
    assert not plan.due


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bindings": [binding(conditions=WAITING)]}, "it is being set up in the city"),
        ({"bindings": [binding(conditions=())]}, "it is being set up in the city"),
        ({"contexts": []}, "it is being set up in the city"),
        ({"contexts": [context(WAITING)]}, "it is being set up in the city"),
        ({"contexts": [context(deletion_timestamp=NOW)]}, "it is being set up in the city"),
        ({"contexts": [context(name="other")]}, "it is being set up in the city"),
        (
            {"claims": [claim((condition("Ready", "False", "SubnetNotReady", "soon"),))]},
            "soon",
        ),
        ({"claims": [claim((condition("Ready", "False", "SubnetNotReady"),))]}, "SubnetNotReady"),
        ({"subnets": []}, "it is being set up in the city"),
        ({"subnets": [subnet(namespace="ns-2")]}, "it is being set up in the city"),
        ({"subnets": [subnet(WAITING)]}, "it is being set up in the city"),
    ],
    ids=[
        "binding unheard of",
        "binding silent",
        "no context",
        "context unheard of",
        "context to go",
        "another context",
        "claim not ready",
        "claim without words",
        "no subnet",
        "subnet elsewhere",
        "subnet unheard of",
    ],
)
def test_each_part_is_waited_for(changes: dict[str, Any], message: str) -> None:
    """An object that is not ready is reported, and nothing that exists is created."""
    plan = network_plan(OWNER, (), there(**changes))
    assert plan.verdict.reason == "NetworkProvisioning"
    assert plan.verdict.message == f"network default: {message}"
    assert not plan.due


@pytest.mark.parametrize(
    "other",
    [
        claim(subnet_class="public"),
        claim(ip_family="IPv6"),
        claim(network_context=LocalRef(name="other")),
        claim(location=LocationRef(name="lab-2")),
        claim(meta={"namespace": "ns-2"}),
    ],
    ids=["class", "family", "context", "location", "namespace"],
)
def test_a_claim_for_something_else_is_no_claim(other: SubnetClaim) -> None:
    """A claim is asked for unless one of just this kind is there."""
    plan = network_plan(OWNER, (), there(claims=[other]))
    (made,) = plan.claims
    assert made.metadata.name == "default--lab-dfw-1-0"
    assert made.metadata.owner_references == (context().reference(),)


def test_a_claim_that_has_the_name_but_not_the_kind_is_waited_for() -> None:
    """A name that is taken is not asked for again and again."""
    wrong = claim(WAITING, ip_family="IPv6", meta={"name": "default--lab-dfw-1-0"})
    plan = network_plan(OWNER, (), there(claims=[wrong]))
    assert (plan.verdict.ready, plan.due) == (False, False)


def test_of_several_claims_a_ready_one_is_used() -> None:
    """One that is ready serves though another, first by name, is not or is to go."""
    unready = claim(WAITING, meta={"name": "a"})
    going = claim(meta={"name": "b", "deletion_timestamp": NOW})
    plan = network_plan(OWNER, (), there(claims=[unready, going, claim(meta={"name": "c"})]))
    assert plan.verdict.ready


def test_two_interfaces_of_one_network_claim_once() -> None:
    """Each interface has a binding of its own, and both lead to the same addresses."""
    owner = on(OWNER, "default", "default")
    plan = network_plan(owner, (), there(bindings=[binding(0), binding(1)], claims=[]))
    assert len(plan.claims) == 1
    assert not plan.bindings


def test_a_network_that_is_being_deleted_is_ready_where_it_is_attached() -> None:
    """Its own message is reported too."""
    going = (condition("Ready", "True", "NetworkTerminating", "Being deleted"),)
    plan = network_plan(OWNER, (), there(bindings=[binding(conditions=going)]))
    assert plan.verdict.ready
    assert plan.verdict.message == "network default: Being deleted"


def test_a_network_that_takes_nothing_new_is_reported_as_it_is() -> None:
    """Its reason is not called a failure of the network."""
    late = (condition("Ready", "False", "NetworkTerminating", "Being deleted"),)
    plan = network_plan(OWNER, (), there(bindings=[binding(conditions=late)]))
    assert (plan.verdict.ready, plan.verdict.reason) == (False, "NetworkTerminating")


def test_a_failed_binding_is_reported_with_the_name_of_its_network() -> None:
    """An Instance may be attached to several."""
    said = condition("Ready", "False", "NetworkNotFound", "there is none")
    got = failed(binding(), said)
    assert (got.subject, got.reason) == ("", "NetworkNotFound")
    assert got.message == "network default: there is none"


def test_what_is_missing_is_made() -> None:
    """An interface without a binding gets one that its deployment controls."""
    plan = network_plan(OWNER, (), there(bindings=[]))
    (made,) = plan.bindings
    assert made.metadata.name == "web-home-dfw-net-0"
    assert made.metadata.owner_references[0].uid == OWNER.metadata.uid
    assert made.spec == NetworkBindingSpec(location=HERE, network=NetworkRef(name="default"))
    assert plan.due


def test_any_binding_of_the_network_serves() -> None:
    """Which number a binding has does not matter once it is there."""
    plan = network_plan(OWNER, (), there(bindings=[binding(3)]))
    assert (plan.verdict.ready, plan.due) == (True, False)


def test_a_name_in_use_is_passed_over() -> None:
    """While Instances run on the old network its binding stays, and the new one goes beside it."""
    old, other = instance(), binding(2, "third")
    owner = on(OWNER, "backend", "cache")
    plan = network_plan(owner, [old], there(bindings=[binding(), other]))
    made = [(each.metadata.name, each.spec.network.name) for each in plan.bindings]
    assert made == [("web-home-dfw-net-3", "backend"), ("web-home-dfw-net-1", "cache")]
    assert plan.unused == (other,)


def test_a_binding_is_removed_when_nothing_runs_on_it() -> None:
    """Neither the template nor an Instance needs it: it is deleted."""
    fresh = instance()
    spec = on(OWNER, "backend").spec.template.spec
    moved = msgspec.structs.replace(fresh, spec=spec)
    plan = network_plan(on(OWNER, "backend"), [moved, moved], there(bindings=[binding()]))
    assert plan.unused == (binding(),)


def test_a_binding_of_an_interface_that_was_removed_goes() -> None:
    """Of two bindings of one network one is enough for one interface."""
    extra = binding(1)
    plan = network_plan(OWNER, [instance()], there(bindings=[binding(), extra]))
    assert plan.unused == (extra,)


def test_another_location_is_bound_beside_the_first() -> None:
    """An Instance keeps the network of the Location it was started at."""
    spec = msgspec.structs.replace(instance().spec, location=LocationRef(name="lab-old"))
    old = msgspec.structs.replace(instance(), spec=spec)
    plan = network_plan(OWNER, [old], there(bindings=[binding(at="lab-old")]))
    assert [each.metadata.name for each in plan.bindings] == ["web-home-dfw-net-1"]
    assert plan.unused == ()


@pytest.mark.parametrize(
    "taken",
    [binding(deletion_timestamp=NOW), binding(owner_references=())],
    ids=["to go", "another's"],
)
def test_a_name_that_is_taken_is_waited_for(taken: NetworkBinding) -> None:
    """What is on its way out, or not ours, is neither used nor removed."""
    plan = network_plan(OWNER, (), there(bindings=[taken]))
    assert (
        plan.verdict.message
        == "network default: another NetworkBinding web-home-dfw-net-0 has to be deleted first"
    )
    assert not plan.due


def test_the_worst_of_several_networks_is_reported() -> None:
    """A failure is reported before something that is only in progress."""
    broken = (condition("Ready", "False", "NetworkFailedToCreate", "no luck"),)
    parts = [binding(0, "default", WAITING), binding(1, "backend", broken)]
    plan = network_plan(on(OWNER, "default", "backend"), (), there(bindings=parts))
    assert plan.verdict.reason == "NetworkFailedToCreate"
    assert plan.verdict.message == "network backend: no luck"


@pytest.mark.parametrize(
    ("locations", "found"),
    [
        ([], None),
        ([location("b"), location("a")], "a"),
        ([location("a", "LHR"), location("b")], "b"),
        ([with_meta(location("a"), deletion_timestamp=NOW), location("b")], "b"),
        ([location("a", "dfw")], None),
    ],
    ids=["none", "first by name", "of the city", "not one that goes", "letter by letter"],
)
def test_the_location_of_a_city(locations: list[Any], found: str | None) -> None:
    """The Location is the first by name of exactly this city."""
    got = location_of("DFW", locations)
    assert (got.name if got else None) == found


def test_without_a_location_nothing_is_done() -> None:
    """Nothing is asked for, and no binding of what runs is removed."""
    plan = network_plan(OWNER, (), there(locations=[], bindings=[binding(), binding(1)]))
    assert (plan.verdict.reason, plan.verdict.location) == ("NoMatchingLocation", None)
    assert not plan.due
