"""When a claim is given back, and which were forgotten."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api import finalizers, labels, names
from compute.api.compute import MOST_REPLICAS
from compute.api.reasons import Reason
from compute.decide.quota import (
    ClaimAbsent,
    ClaimConflict,
    ClaimLookupFailed,
    Hold,
    QuotaDisabled,
    ReleaseClaim,
    RemoveFinalizer,
    holders,
    leaked,
    release,
    released,
    slot_stays,
)
from kubekit.api.finalizers import FOREGROUND
from tests.support.compute.builders import NOW, deployment, instance, instance_spec
from tests.support.compute.quota_builders import CELL, found, stored

OURS = (finalizers.CLAIM, finalizers.INSTANCE)


def going(*held: str, ordinal: int = 0):
    return instance(ordinal, deletion_timestamp=NOW, finalizers=held)


def claim_of(name: str, namespace: str = "ns-1", cell: str = CELL, **meta):
    """A claim under the name of an Instance's slot."""
    known = {labels.SOURCE_CLUSTER: cell, labels.INSTANCE_NAMESPACE: namespace}
    claim = stored(**meta)
    metadata = msgspec.structs.replace(claim.metadata, name=names.claim(name), labels=known)
    return msgspec.structs.replace(claim, metadata=metadata)


def test_w17_a_claim_is_kept_while_the_machine_may_run():
    """As long as the provider holds the Instance, its quota is in use."""
    held = going(finalizers.CLAIM, "unikraft.datumapis.com/finalizer")
    got = release(held, found(stored()), NOW, slot_stays=False)

    assert got == Hold(
        "the machine may still run: unikraft.datumapis.com/finalizer holds the instance"
    )


def test_a_claim_is_kept_until_the_instance_is_deleted():
    """An Instance that is not being deleted keeps its claim."""
    assert isinstance(release(instance(), found(stored()), NOW, slot_stays=False), Hold)


@pytest.mark.parametrize("held", [OURS, OURS[:1], ()])
def test_w17_a_claim_is_given_back_once_the_machine_has_stopped(held):
    """With only our own finalizers left, the claim goes, by its uid."""
    assert release(going(*held), found(stored()), NOW, slot_stays=False) == ReleaseClaim(
        "uid-claim"
    )


def test_w65_a_claim_stays_for_the_next_instance_of_its_slot():
    """A slot that is to be filled again with the same size keeps its place in the project."""
    assert release(going(*OURS), found(stored()), NOW, slot_stays=True) == RemoveFinalizer()


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        pytest.param(ClaimAbsent(), RemoveFinalizer(), id="the claim is gone"),
        pytest.param(QuotaDisabled(), RemoveFinalizer(), id="there never was one"),
        pytest.param(
            found(stored(deletion_timestamp=NOW)), Hold("the claim is being removed"), id="going"
        ),
        pytest.param(found(stored(cell="cell-lhr")), RemoveFinalizer(), id="another cell's by now"),
        pytest.param(
            ClaimLookupFailed(Reason.QUOTA_BACKEND_UNAVAILABLE, "no answer"),
            Hold("no answer"),
            id="outage",
        ),
        pytest.param(
            ClaimLookupFailed(Reason.QUOTA_MISCONFIGURED, "not allowed"),
            Hold("not allowed"),
            id="forbidden",
        ),
        pytest.param(
            ClaimLookupFailed(Reason.QUOTA_PROJECT_NOT_FOUND, ""),
            RemoveFinalizer(),
            id="no project",
        ),
        pytest.param(
            ClaimLookupFailed(Reason.QUOTA_NAMESPACE_NOT_FOUND, ""),
            RemoveFinalizer(),
            id="no namespace",
        ),
        pytest.param(
            ClaimLookupFailed(Reason.QUOTA_PROJECT_ID_UNRESOLVABLE, ""),
            RemoveFinalizer(Reason.QUOTA_CLAIM_ORPHANED),
            id="unknown project",
        ),
        pytest.param(
            ClaimConflict(),
            Hold("the claim has just been created; it is read again"),
            id="raced",
        ),
    ],
)
def test_the_finalizer_stays_until_the_claim_is_dealt_with(outcome, expected):
    """Trouble that passes is waited for; a claim that is lost is announced."""
    assert release(going(*OURS), outcome, NOW, slot_stays=False) == expected


@pytest.mark.parametrize(
    ("waited", "expected"),
    [
        pytest.param(29, Hold("no answer"), id="a restart of the service"),
        pytest.param(30, RemoveFinalizer(Reason.QUOTA_CLAIM_ORPHANED), id="it stays away"),
    ],
)
def test_a_quota_service_that_stays_away_does_not_keep_an_instance(waited, expected):
    """The cell finishes the deletion; the claim is found again as leaked, and released then."""
    outage = ClaimLookupFailed(Reason.QUOTA_BACKEND_UNAVAILABLE, "no answer")
    later = NOW + timedelta(seconds=waited)

    assert release(going(*OURS), outage, later, slot_stays=False) == expected


def test_our_finalizers_come_off_and_no_others():
    """What others hold an Instance for is theirs to end."""
    held = going(finalizers.CLAIM, FOREGROUND, finalizers.INSTANCE)

    assert (holders(held), released(held)) == (("foregroundDeletion",), ("foregroundDeletion",))


def resized(cpu: str):
    plain = instance_spec()
    resources = msgspec.structs.replace(
        plain.runtime.resources, requests={"cpu": cpu, "memory": "1Gi"}
    )
    runtime = msgspec.structs.replace(plain.runtime, resources=resources)
    return msgspec.structs.replace(plain, runtime=runtime)


def with_template(spec):
    of = deployment(2)
    template = msgspec.structs.replace(of.spec.template, spec=spec)
    return msgspec.structs.replace(of, spec=msgspec.structs.replace(of.spec, template=template))


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        pytest.param(deployment(1), True, id="wanted again"),
        pytest.param(deployment(1, image="registry.test/web:2"), True, id="with another image"),
        pytest.param(deployment(0), False, id="scaled down"),
        pytest.param(deployment(1, deletion_timestamp=NOW), False, id="deployment going"),
        pytest.param(None, False, id="deployment gone"),
        pytest.param(deployment(1, name="other"), False, id="another deployment"),
        pytest.param(with_template(resized("4")), False, id="another size"),
    ],
)
def test_w65_a_slot_stays_if_it_is_to_be_filled_alike(of, expected):
    """Scaling, deletion and another size end a slot's claim; a new template does not."""
    assert slot_stays(going(*OURS), of) is expected


def test_an_instance_of_no_slot_has_none_to_leave():
    """A name without an ordinal stands in no slot."""
    assert not slot_stays(instance(name="stray"), deployment(1))


def test_w51_no_more_slots_are_counted_than_a_deployment_can_have():
    """An Instance that a rollout removes finally does not keep its claim, whatever the replicas."""
    beyond = instance(MOST_REPLICAS)

    assert not slot_stays(beyond, deployment(MOST_REPLICAS + 1))


def test_w51_forgotten_claims_are_found():
    """A claim is forgotten when neither an Instance nor a slot that awaits one has it."""
    kept = claim_of("web-home-dfw-0")
    awaited = claim_of("web-home-dfw-1")
    surplus = claim_of("web-home-dfw-2")
    elsewhere = claim_of("web-home-dfw-0", namespace="ns-2")
    gone = claim_of("gone-0")
    odd = claim_of("stray")
    claims = [kept, awaited, surplus, elsewhere, gone, odd]
    got = leaked(claims, [instance(0)], [deployment(2)], source_cluster=CELL)

    assert got == (surplus, elsewhere, gone, odd)


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(claim_of("gone-0", cell="cell-lhr"), id="another cell's"),
        pytest.param(claim_of("gone-0", deletion_timestamp=NOW), id="going already"),
        pytest.param(claim_of("gone-0", namespace=""), id="without a namespace"),
    ],
)
def test_w51_claims_of_others_are_left_alone(claim):
    """What this cell did not make, or cannot place, is not its to delete."""
    assert leaked([claim], [], [], source_cluster=CELL) == ()


def test_w51_an_object_that_is_no_slots_claim_is_left_alone():
    """A claim that is not named after an Instance is not ours."""
    claim = stored(name="handmade")

    assert leaked([claim], [], [], source_cluster=CELL) == ()


@given(st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)), st.integers(0, 6))
def test_w51_no_claim_in_use_is_ever_taken_for_forgotten(claimed, present, replicas):
    """Exactly the claims beyond what exists and what is wanted are given back."""
    claims = [claim_of(names.instance("web-home-dfw", o)) for o in sorted(claimed)]
    got = leaked(
        claims, [instance(o) for o in present], [deployment(replicas)], source_cluster=CELL
    )

    surplus = claimed - present - set(range(replicas))
    assert {c.metadata.name for c in got} == {
        names.claim(names.instance("web-home-dfw", o)) for o in surplus
    }
