import msgspec
import pytest

from compute.api import finalizers
from compute.api.reasons import NeighbourReason, Owner, Reason
from compute.decide import overrides
from compute.decide.explain.explanations import explain_deployment, explain_reason, explain_workload
from tests.support.compute.builders import NOW, condition, placement
from tests.support.compute.explain_builders import quota
from tests.support.compute.progress_builders import (
    BROKEN,
    NOTHING_RUNS,
    asked,
    given,
    not_ready,
    running,
    unavailable,
)

SERVING = condition("Available", reason="StableInstanceFound")


def test_a_deployment_that_serves_is_well():
    """All Instances ready is all there is to say."""
    got = explain_deployment(
        given(2, condition("Available", reason="StableInstanceFound")), [], NOW
    )

    assert got.healthy
    assert (got.reason, got.cause, got.next_step) == (
        "StableInstanceFound",
        "Deployment web-home-dfw in DFW has 2 of 2 instances ready.",
        "Nothing to do.",
    )


def test_a_deployment_is_explained_by_the_instance_that_is_the_cause():
    """A deployment that still serves names the Instance that does not."""
    serving = condition("Available", reason="StableInstanceFound")
    deployment = given(3, serving, counters={"ready_replicas": 1})
    instances = [
        running(0, BROKEN, deletion_timestamp=NOW),
        running(1, not_ready("Provisioning")),
        running(10, BROKEN),
        running(2, BROKEN),
        running(0, BROKEN, city="LHR"),
        running(3),
    ]
    got = explain_deployment(deployment, instances, NOW)

    assert (got.subject, got.culprit) == (
        "workloaddeployment/web-home-dfw",
        "instance/web-home-dfw-2",
    )
    assert got.cause == (
        "Deployment web-home-dfw in DFW has 1 of 3 instances ready. "
        "Instance web-home-dfw-2 in DFW is the cause. "
        "The image cannot be pulled: its name, its tag or the access to it is wrong. "
        "It says: manifest unknown."
    )


@pytest.mark.parametrize(
    ("said", "instances", "reason", "culprit"),
    [
        pytest.param(
            (unavailable("QuotaNotGranted"),),
            (running(0, not_ready("PendingQuota"), quota()),),
            "QuotaExceeded",
            "instance/web-home-dfw-0",
            id="down to the instance",
        ),
        pytest.param(
            (unavailable("NoCellForCity"),),
            (running(0, BROKEN),),
            "NoCellForCity",
            "workloaddeployment/web-home-dfw",
            id="the higher rank is reported, though it is further up",
        ),
        pytest.param(
            (unavailable("ImageUnavailable"),),
            (running(0, BROKEN),),
            "ImageUnavailable",
            "instance/web-home-dfw-0",
            id="of the same, the deeper",
        ),
        pytest.param(
            (unavailable("QuotaNotGranted"),),
            (),
            "QuotaNotGranted",
            "workloaddeployment/web-home-dfw",
            id="a pointer, when its target is not shown",
        ),
        pytest.param(
            (), (), "InstancesProvisioning", "workloaddeployment/web-home-dfw", id="nothing said"
        ),
    ],
)
def test_a_deployment_is_explained_by_what_weighs_most(said, instances, reason, culprit):
    """Pointers are followed as far as they lead, and the rank decides between what is found."""
    got = explain_deployment(given(1, *said, counters=NOTHING_RUNS), instances, NOW)

    assert (got.reason, got.culprit) == (reason, culprit)


def test_a_deployment_scaled_to_zero_is_well():
    """Nothing is missing where nothing is wanted."""
    got = explain_deployment(given(0, unavailable("Stopped", "Scaled to zero")), [], NOW)

    assert (got.healthy, got.reason) == (True, "Stopped")
    assert got.cause == "Deployment web-home-dfw in DFW has 0 of 0 instances ready."


def test_a_deployment_that_is_being_removed_counts_what_is_left():
    """The reader sees what the finalizer waits for."""
    leaving = given(deletion_timestamp=NOW, finalizers=(finalizers.FEDERATOR,))
    got = explain_deployment(leaving, [running(), running(1), running(city="LHR")], NOW)

    assert got.cause == (
        "Deployment web-home-dfw in DFW is being removed. 2 instances left. "
        "compute.datumapis.com/federator holds it: "
        "the federator removes it once the hub's copy is gone."
    )


def counted(ready=2, **changes):
    workload = asked(placement("home", "DFW", "LHR"), **changes)
    status = msgspec.structs.replace(workload.status, ready_replicas=ready)
    return msgspec.structs.replace(workload, status=status)


def test_a_workload_that_serves_everywhere_is_well():
    """The count is over all cities."""
    deployments = [given(1, SERVING), given(1, SERVING, city="LHR")]
    got = explain_workload(counted(), deployments, [], NOW)

    assert got.healthy
    assert (got.reason, got.since, got.cause) == (
        "Available",
        None,
        "Workload web has 2 of 2 instances ready.",
    )


def test_a_workload_is_explained_by_the_instance_that_is_the_cause():
    """From the top, the reader is led straight to the city and the Instance."""
    deployments = [
        given(1, SERVING),
        given(1, unavailable("InstancesProvisioning"), city="LHR", counters=NOTHING_RUNS),
    ]
    said = unavailable("InstancesProvisioning")
    instances = [running(), running(0, not_ready("InstanceCrashing", "exit code 1."), city="LHR")]
    got = explain_workload(counted(1, said=said), deployments, instances, NOW)

    assert (got.subject, got.culprit) == ("workload/web", "instance/web-home-lhr-0")
    assert got.cause == (
        "Workload web has 1 of 2 instances ready. Instance web-home-lhr-0 in LHR is the cause. "
        "The program starts and exits again and again. It says: exit code 1."
    )
    assert got.next_step == (
        "See `compute events web`, then correct the program or run `compute rollout undo web`."
    )


def test_of_two_cities_that_fail_alike_the_first_by_name_is_reported():
    """The answer does not depend on the order of the list."""
    deployments = [given(city="LHR", counters=NOTHING_RUNS), given(counters=NOTHING_RUNS)]
    instances = [running(0, BROKEN, city="LHR"), running(1, BROKEN), running(0, BROKEN)]
    got = explain_workload(counted(0), deployments, instances, NOW)

    assert got.culprit == "instance/web-home-dfw-0"
    assert got == explain_workload(counted(0), deployments[::-1], instances[::-1], NOW)


def test_a_workload_is_explained_by_the_city_that_is_the_cause():
    """Where a whole city is out of reach, the next step names the city."""
    silent = condition("Available", "Unknown", "CellUnreachable", "silent", since=NOW)
    deployments = [given(1, SERVING), given(1, silent, city="LHR")]
    got = explain_workload(counted(1), deployments, [running()], NOW)

    assert got.culprit == "workloaddeployment/web-home-lhr"
    assert got.cause == (
        "Workload web has 1 of 2 instances ready. Deployment web-home-lhr in LHR is the cause. "
        "The city's cell has not reported for a while; what runs there keeps running unobserved. "
        "It says: silent."
    )
    assert got.next_step == (
        "Run `compute cities describe LHR`; the operators of the cell have to restore it."
    )


def test_a_workload_can_be_the_cause_itself():
    """A missing network is reported for the Workload, which names it."""
    said = unavailable("NetworkNotFound", "networks not found: default")
    got = explain_workload(counted(0, said=said), [], [], NOW)

    assert got.culprit == "workload/web"
    assert got.cause == (
        "Workload web has 0 of 2 instances ready. "
        "A network that the template names does not exist in the project. "
        "It says: networks not found: default."
    )


def test_a_workload_that_is_not_available_is_not_well():
    """What its controller says counts, even where every deployment says otherwise by now."""
    said = unavailable("NoAvailablePlacements", "0 of 2 instances ready")
    deployments = [given(1, SERVING), given(1, SERVING, city="LHR")]
    got = explain_workload(counted(0, said=said), deployments, [], NOW)

    assert (got.healthy, got.culprit) == (False, "workload/web")


def test_the_instance_of_another_deployment_explains_nothing():
    """A deployment is explained by its own Instances alone."""
    waiting = given(1, unavailable("InstancesProvisioning"), counters=NOTHING_RUNS)
    got = explain_deployment(waiting, [running(0, BROKEN, city="LHR")], NOW)

    assert got.culprit == "workloaddeployment/web-home-dfw"


def test_a_city_without_a_deployment_is_reported():
    """A city that was asked for and left out is not passed over."""
    said = condition("Available", message="cities not offered to this project: LHR")
    got = explain_workload(counted(1, said=said), [given(1, SERVING)], [], NOW)

    assert (got.healthy, got.reason) == (False, "Pending")
    assert got.cause == (
        "Workload web has 1 of 2 instances ready. "
        "It says: LHR has no deployment yet; cities not offered to this project: LHR."
    )


def test_w6_a_placement_that_is_offered_nowhere_is_up_to_the_user():
    """The condition of the placement counts although the Workload serves elsewhere."""
    lost = condition("Available", "False", "NoMatchingLocations", "not offered: DFW", since=NOW)
    serves = condition("Available", "True", "AvailablePlacementFound", since=NOW)
    target = asked(placement("home", "DFW"), placement("b", "LHR"), said=serves, of_placement=lost)
    got = explain_workload(target, [given(1, SERVING, city="LHR", placement="b")], [], NOW)

    assert (got.culprit, got.reason) == ("workload/web", "NoMatchingLocations")
    assert got.owner is Owner.USER


def test_w6_one_city_that_is_not_offered_is_reported_where_the_offer_is_known():
    """A city of a placement that serves elsewhere needs no patience but another spec."""
    serves = condition("Available", "True", "AvailablePlacementFound", since=NOW)
    target = asked(placement("home", "DFW", "XXX"), said=serves)
    served = [given(1, SERVING)]
    got = explain_workload(target, served, [], NOW, offered={"DFW", "LHR"})

    assert (got.reason, got.owner) == ("NoMatchingLocations", Owner.USER)
    assert "XXX is not offered to this project" in got.cause
    patient = explain_workload(target, served, [], NOW, offered={"DFW", "XXX"})
    assert "XXX has no deployment yet" in patient.cause


def test_a_paused_workload_says_so():
    """The pause explains why a change does not arrive."""
    deployments = [given(1, SERVING), given(1, SERVING, city="LHR")]
    got = explain_workload(counted(paused=True), deployments, [], NOW)

    assert (got.healthy, got.reason, got.owner) == (True, "Paused", Owner.USER)
    assert got.cause == (
        "Workload web has 2 of 2 instances ready. "
        "The rollout is paused: running instances keep the template they have."
    )
    assert got.next_step == "Run `compute rollout resume web` to continue."


def test_a_workload_that_is_paused_in_a_city_names_it():
    """All of its cities by name are the whole of it."""
    deployments = [given(1, SERVING), given(1, SERVING, city="LHR")]
    in_one = explain_workload(overrides.paused(counted(), ("LHR",)), deployments, [], NOW)
    in_both = explain_workload(overrides.paused(counted(), ("DFW", "LHR")), deployments, [], NOW)

    assert (in_one.healthy, in_one.reason) == (True, "Paused")
    assert in_one.cause == (
        "Workload web has 2 of 2 instances ready. "
        "The rollout is paused in LHR: running instances keep the template they have."
    )
    assert in_both == explain_workload(counted(paused=True), deployments, [], NOW)


def test_a_paused_workload_that_fails_says_both():
    """A pause may be why the cure does not arrive."""
    deployments = [given(1, SERVING), given(1, city="LHR", counters=NOTHING_RUNS)]
    got = explain_workload(
        counted(1, paused=True), deployments, [running(0, BROKEN, city="LHR")], NOW
    )

    assert got.reason == "ImageUnavailable"
    assert got.cause == (
        "Workload web has 1 of 2 instances ready. "
        "The rollout is paused: running instances keep the template they have. "
        "Instance web-home-lhr-0 in LHR is the cause. "
        "The image cannot be pulled: its name, its tag or the access to it is wrong. "
        "It says: manifest unknown."
    )


def test_a_workload_that_is_being_removed_counts_what_is_left():
    """The reader sees what the finalizer waits for, and leaving deployments are no cause."""
    bare = asked()
    meta = msgspec.structs.replace(
        bare.metadata, deletion_timestamp=NOW, finalizers=(finalizers.WORKLOAD,)
    )
    got = explain_workload(msgspec.structs.replace(bare, metadata=meta), [given()], [], NOW)

    assert got.cause == (
        "Workload web is being removed. 1 deployment left. "
        "compute.datumapis.com/workload-controller holds it: "
        "its controller removes it once everything created from it is gone."
    )


def test_a_leaving_deployment_does_not_explain_its_workload():
    """What is on its way out is not asked to serve."""
    leaving = given(1, city="LAX", counters=NOTHING_RUNS, deletion_timestamp=NOW)
    deployments = [given(1, SERVING), given(1, SERVING, city="LHR"), leaving]

    assert explain_workload(counted(), deployments, [], NOW).healthy


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("QuotaExceeded", Reason.QUOTA_EXCEEDED),
        ("quotaexceeded", Reason.QUOTA_EXCEEDED),
        ("noclusterfit", NeighbourReason.NO_CLUSTER_FIT),
        ("SolarFlare", None),
    ],
)
def test_a_reason_is_found_however_it_is_typed(text, known):
    """Case is no reason to send a reader away."""
    assert explain_reason(text) is known
