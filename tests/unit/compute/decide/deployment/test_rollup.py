"""The status of a WorkloadDeployment."""

from datetime import timedelta

import msgspec
import pytest

from compute.api import annotations
from compute.api.compute import InstanceStatus, WorkloadDeploymentStatus
from compute.api.instance_spec import LocationRef
from compute.api.reasons import Reason
from compute.decide.conditions import find
from compute.decide.deployment.rollup import (
    NetworkVerdict,
    deployment_status,
    has_new_verdict,
    progress,
    same,
)
from compute.decide.ranking import Candidate
from tests.support.compute.builders import NOW, condition, deployment, instance
from tests.support.compute.status_builders import (
    PROGRAMMED,
    READY,
    SOMEWHERE,
    refused,
    running,
    stuck,
)

LATER = NOW + timedelta(hours=1)


def verdict(target, instances, network=None, kind="Available"):
    """Status, reason and message of a condition."""
    got = find(deployment_status(target, instances, network, NOW).conditions, kind)
    assert got is not None
    return got.status, got.reason, got.message


def written(target, status):
    return msgspec.structs.replace(target, status=status)


def test_a_healthy_deployment():
    """The whole status of a deployment that is as it should be."""
    got = deployment_status(deployment(2, generation=4), [running(0), running(1)], SOMEWHERE, NOW)

    assert got == WorkloadDeploymentStatus(
        conditions=(
            condition(
                "Available",
                reason="StableInstanceFound",
                message="2 of 2 instances ready",
                since=NOW,
                generation=4,
            ),
            condition(
                "ReplicasReady",
                reason="ReplicasAvailable",
                message="Nothing holds instances back",
                since=NOW,
                generation=4,
            ),
        ),
        replicas=2,
        desired_replicas=2,
        updated_replicas=2,
        current_replicas=2,
        ready_replicas=2,
        location=LocationRef(name="lab-dfw-1"),
        observed_generation=4,
    )


@pytest.mark.parametrize(
    ("subject", "counters"),
    [
        (running(), (1, 1, 1, 1)),
        (running(conditions=(READY,)), (1, 1, 0, 1)),
        (running(conditions=(PROGRAMMED,)), (1, 1, 1, 0)),
        (running(template_hash="older"), (1, 0, 0, 1)),
        (running(deletion_timestamp=NOW), (1, 1, 1, 0)),
        (msgspec.structs.replace(running(), status=InstanceStatus()), (1, 0, 0, 0)),
    ],
    ids=["running", "not programmed", "not ready", "stale", "deleting", "provider silent"],
)
def test_what_an_instance_counts_as(subject, counters):
    """Replicas exist, updated ones run the newest template, current are programmed besides."""
    got = deployment_status(deployment(), [subject], None, NOW)

    replicas = (got.replicas, got.updated_replicas, got.current_replicas, got.ready_replicas)
    assert replicas == counters


@pytest.mark.parametrize(
    ("target", "desired"),
    [
        (deployment(3), 3),
        (deployment(0), 0),
        (deployment(-1), 0),
        (deployment(3, deletion_timestamp=NOW), 0),
    ],
    ids=["as asked", "zero", "nonsense", "deleting"],
)
def test_how_many_are_desired(target, desired):
    """As many as asked for, none once the deployment is being deleted."""
    assert deployment_status(target, [], None, NOW).desired_replicas == desired


def test_more_instances_than_desired_are_no_shortfall():
    """While scaling down, all that are ready are reported."""
    assert progress(3, 1) == "3 of 3 instances ready"
    assert progress(1, 3) == "1 of 3 instances ready"


def test_one_ready_instance_makes_it_available():
    """Available is True with one ready Instance, and the message tells what keeps the rest."""
    got = verdict(deployment(3), [running(0), running(1), stuck(2, message="no such tag")])

    assert got == (
        "True",
        "StableInstanceFound",
        "2 of 3 instances ready; web-home-dfw-2: no such tag",
    )


def test_what_is_too_much_is_no_concern():
    """Once enough Instances are ready, a surplus one that is stuck is not reported."""
    got = verdict(deployment(1), [running(0), stuck(1)])

    assert got == ("True", "StableInstanceFound", "1 of 1 instances ready")


def test_without_instances_they_are_on_their_way():
    """An unknown state is reported as provisioning."""
    got = verdict(deployment(2), [])

    assert got == ("False", "InstancesProvisioning", "0 of 2 instances ready")


def test_an_instance_without_conditions():
    """An Instance without a Ready condition is on its way."""
    got = verdict(deployment(), [instance()])

    assert got == (
        "False",
        "InstancesProvisioning",
        "0 of 1 instances ready; web-home-dfw-0: nothing reported yet",
    )


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("ImageUnavailable", "ImageUnavailable"),
        ("InstanceCrashing", "InstanceCrashing"),
        ("ConfigurationError", "ConfigurationError"),
        ("Failed", "Failed"),
        ("NetworkFailedToCreate", "NetworkFailedToCreate"),
        ("AwaitingPropagation", "AwaitingPropagation"),
        ("SourceNotFound", "SourceNotFound"),
        ("SchedulingGatesPresent", "InstancesProvisioning"),
        ("PendingProgramming", "InstancesProvisioning"),
        ("Provisioning", "InstancesProvisioning"),
        ("PendingQuota", "InstancesProvisioning"),
        ("Waking", "InstancesProvisioning"),
    ],
)
@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_w5_an_instances_cause_reaches_the_deployment(reason, expected, status):
    """What blocks an Instance is what its deployment says; ordinary progress is provisioning."""
    got = verdict(deployment(), [stuck(reason=reason, message="because", status=status)])

    assert got == ("False", expected, "0 of 1 instances ready; web-home-dfw-0: because")


def test_the_worst_instance_is_reported():
    """Several stuck Instances are explained by the worst; ties go to the first name."""
    found = [stuck(2), stuck(1, "InstanceCrashing"), stuck(0, "Provisioning")]

    assert verdict(deployment(3), found)[1] == "InstanceCrashing"


def test_an_instance_on_its_way_out_explains_nothing():
    """The trouble of an Instance that is being replaced is not the deployment's any more."""
    old = instance(deletion_timestamp=NOW, conditions=stuck().status.conditions)

    assert verdict(deployment(), [old])[1] == "InstancesProvisioning"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("QuotaExceeded", "QuotaNotGranted"),
        ("ValidationFailed", "ValidationFailed"),
        ("QuotaBackendUnavailable", "QuotaBackendUnavailable"),
        ("QuotaMisconfigured", "QuotaMisconfigured"),
        ("QuotaNamespaceNotFound", "QuotaNamespaceNotFound"),
        ("QuotaProjectNotFound", "QuotaProjectNotFound"),
        ("QuotaProjectIDUnresolvable", "QuotaProjectIDUnresolvable"),
    ],
)
def test_w9_only_a_lack_of_budget_is_called_that(reason, expected):
    """A fault of the quota service keeps its own reason, in Available and in ReplicasReady."""
    found = [refused(reason=reason, message="because")]

    assert verdict(deployment(), found)[1] == expected
    assert verdict(deployment(), found, kind="ReplicasReady") == (
        "False",
        reason,
        "web-home-dfw-0: because",
    )


def test_w9_a_lack_of_budget_is_reported_before_faults():
    """ReplicasReady says QuotaExceeded as soon as one Instance was refused for it."""
    found = [refused(0, "QuotaBackendUnavailable"), refused(1, message="10 of 10 used")]

    got = verdict(deployment(2), found, kind="ReplicasReady")

    assert got == ("False", "QuotaExceeded", "web-home-dfw-1: 10 of 10 used")


def test_a_refusal_of_an_instance_on_its_way_out_holds_nothing_back():
    """ReplicasReady is about the Instances that stay."""
    old = instance(deletion_timestamp=NOW, conditions=refused().status.conditions)

    assert verdict(deployment(), [old], kind="ReplicasReady")[0] == "True"


def test_a_grant_blocks_nothing():
    """Quota that is granted is no cause, whatever reason comes with it."""
    granted = condition("QuotaGranted", "True", "QuotaBackendUnavailable")
    starting = condition("Ready", "False", "PendingProgramming")

    got = verdict(deployment(), [instance(conditions=(granted, starting))])

    assert got[1] == "InstancesProvisioning"


def test_waiting_for_budget_is_reported():
    """An Instance that waits for budget says so upwards, though nothing refused it yet."""
    waiting = instance(
        conditions=(
            condition("QuotaGranted", "Unknown", "QuotaNoBudget", "no budget yet"),
            condition("Ready", "False", "SchedulingGatesPresent", "Waiting for Quota"),
        )
    )

    assert verdict(deployment(), [waiting])[1:] == (
        "QuotaNoBudget",
        "0 of 1 instances ready; web-home-dfw-0: no budget yet",
    )
    assert verdict(deployment(), [waiting], kind="ReplicasReady")[0] == "True"


def test_quota_that_is_being_asked_for_is_ordinary_progress():
    """A claim that was just made blocks nothing."""
    asked = instance(
        conditions=(
            condition("QuotaGranted", "Unknown", "PendingEvaluation", "Asked"),
            condition("Ready", "False", "SchedulingGatesPresent", "Waiting for Quota (Asked)"),
        )
    )

    assert verdict(deployment(), [asked])[1:] == (
        "InstancesProvisioning",
        "0 of 1 instances ready; web-home-dfw-0: Waiting for Quota (Asked)",
    )


def test_data_that_is_not_there_holds_replicas_back():
    """ReplicasReady waits for propagation when an Instance lacks data, after quota."""
    lacking = instance(
        0, conditions=(condition("ReferencedDataReady", "False", "SourceNotFound", "no map"),)
    )

    assert verdict(deployment(), [lacking], kind="ReplicasReady") == (
        "False",
        "AwaitingPropagation",
        "web-home-dfw-0: no map",
    )
    assert verdict(deployment(2), [lacking, refused(1)], kind="ReplicasReady")[1] == "QuotaExceeded"


def test_a_deployment_without_its_data_says_so():
    """What the management plane misses of the deployment's data competes by rank."""
    lacking = condition("ReferencedDataReady", "False", "SourceNotFound", "no map")
    target = written(deployment(), WorkloadDeploymentStatus(conditions=(lacking,)))

    got = verdict(target, [stuck(reason="Provisioning")])

    assert got[1:] == ("SourceNotFound", "0 of 1 instances ready; no map")


def test_a_deployment_whose_data_is_being_resolved_is_progressing():
    """Data that is not known to be missing blocks nothing."""
    looking = condition("ReferencedDataReady", "Unknown", "Resolving")
    target = written(deployment(), WorkloadDeploymentStatus(conditions=(looking,)))

    assert verdict(target, [])[1] == "InstancesProvisioning"


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        (
            NetworkVerdict(ready=False),
            ("NetworkProvisioning", "0 of 1 instances ready; The network is not ready yet"),
        ),
        (
            NetworkVerdict(ready=False, reason=Reason.NO_MATCHING_LOCATION, message="no DFW here"),
            ("NoMatchingLocation", "0 of 1 instances ready; no DFW here"),
        ),
        (
            SOMEWHERE,
            (
                "InstancesProvisioning",
                "0 of 1 instances ready; web-home-dfw-0: Waiting for Network",
            ),
        ),
    ],
    ids=["on its way", "no location", "ready"],
)
def test_the_network_explains_what_waits_for_it(network, expected):
    """A network that is not ready ranks above the gates that wait for it."""
    waiting = stuck(reason="SchedulingGatesPresent", message="Waiting for Network")

    assert verdict(deployment(), [waiting], network)[1:] == expected


def test_a_note_on_a_network_is_reported_with_what_serves():
    """A network that is being deleted is named though nothing waits for it."""
    going = NetworkVerdict(ready=True, message="n: going")

    assert verdict(deployment(), [running()], going) == (
        "True",
        "StableInstanceFound",
        "1 of 1 instances ready; n: going",
    )


def test_w11_the_location_is_cleared_when_it_is_gone():
    """A location that no longer serves the city leaves the status."""
    placed = deployment_status(deployment(), [running()], SOMEWHERE, NOW)
    gone = NetworkVerdict(ready=False, reason=Reason.NO_MATCHING_LOCATION)

    got = deployment_status(written(deployment(), placed), [running()], gone, LATER)

    assert (placed.location, got.location) == (LocationRef(name="lab-dfw-1"), None)


def test_w10_a_suspended_deployment_says_so():
    """Suspension is reported before everything else once nothing is ready, and not before."""
    target = deployment(annotations={annotations.SUSPENDED: "true"})

    assert verdict(target, [stuck()])[1:] == (
        "Suspended",
        "0 of 1 instances ready; "
        "The project is suspended: instances stay stopped until that is lifted",
    )
    assert verdict(target, [running()])[1] == "StableInstanceFound"
    assert verdict(deployment(annotations={annotations.SUSPENDED: "false"}), [])[1] != "Suspended"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (deployment(0), ("False", "Stopped", "Scaled to zero: no instances are wanted")),
        (
            deployment(2, deletion_timestamp=NOW),
            ("False", "Stopping", "Being removed; instances left: 1"),
        ),
    ],
    ids=["scaled to zero", "being removed"],
)
def test_a_deployment_at_rest_is_not_blocked(target, expected):
    """Where no Instance is wanted, none is on its way and nothing is in its way."""
    network = NetworkVerdict(ready=False, reason=Reason.NETWORK_FAILED_TO_CREATE)

    assert verdict(target, [stuck()], network) == expected


def test_w14_conditions_have_the_newest_generation():
    """An unchanged answer is repeated for each generation, with the same time as before."""
    first = deployment_status(deployment(), [running()], None, NOW)
    grown = written(deployment(generation=2), first)

    got = deployment_status(grown, [running()], None, LATER)

    assert [(c.observed_generation, c.last_transition_time) for c in got.conditions] == [
        (2, NOW)
    ] * 2


def test_what_others_say_is_kept():
    """Conditions of other writers stay as and where they are."""
    foreign = condition("Synced", "Unknown", "Waiting")
    target = written(deployment(), WorkloadDeploymentStatus(conditions=(foreign,)))

    assert deployment_status(target, [], None, NOW).conditions[0] == foreign


def test_same_ignores_the_order_of_conditions_only():
    """Conditions are keyed by type; any other difference counts."""
    ready, available = condition("Ready"), condition("Available")
    both = InstanceStatus(conditions=(ready, available))

    assert same(both, InstanceStatus(conditions=(available, ready)))
    assert not same(both, InstanceStatus(conditions=(available, condition("Ready", "False"))))
    assert not same(both, InstanceStatus(conditions=(available, condition("Ready", since=NOW))))


def test_an_instance_that_serves_is_not_the_cause():
    """Of Instances that are all on their way, the ready one explains nothing."""
    waiting = stuck(1, "SchedulingGatesPresent", "Waiting for Network")

    assert verdict(deployment(2), [running(0), waiting])[2] == (
        "1 of 2 instances ready; web-home-dfw-1: Waiting for Network"
    )


def test_an_instance_that_cannot_be_created_is_reported():
    """An Instance that is refused explains a deployment better than those on their way."""
    why = Candidate("web-home-dfw-1", Reason.CONFIGURATION_ERROR, "it cannot be made")
    got = deployment_status(deployment(2), [stuck(0, "Provisioning")], None, NOW, why)
    said = find(got.conditions, "Available")
    assert said is not None
    assert (said.reason, said.message) == (
        "ConfigurationError",
        "0 of 2 instances ready; web-home-dfw-1: it cannot be made",
    )


@pytest.mark.parametrize(
    ("before", "after", "news"),
    [
        pytest.param(1, 2, False, id="one more of many"),
        pytest.param(0, 1, True, id="the first: it serves"),
        pytest.param(3, 4, True, id="the last: all serve"),
    ],
)
def test_the_progress_of_a_count_is_not_written_at_once(before, after, news):
    """What is decided differently is, and so is the end of counting."""

    def counted(ready):
        there = [running(n) if n < ready else instance(n) for n in range(4)]
        return deployment_status(deployment(4), there, None, NOW)

    assert has_new_verdict(counted(before), counted(after)) is news


def test_another_spec_is_written_at_once():
    """The status is of another generation then, whatever it counts."""
    there = [running(n) for n in range(2)]
    old = deployment_status(deployment(4, generation=1), there, None, NOW)
    new = deployment_status(deployment(4, generation=2), there, None, NOW)

    assert has_new_verdict(old, new)
