"""The status of a Workload and of its placements."""

from datetime import timedelta

import msgspec
import pytest

from compute.api.compute import PlacementStatus, WorkloadStatus
from compute.decide.conditions import find
from compute.decide.deployment.rollup import same
from compute.decide.networking.network_use import Lack
from compute.decide.workload.placement import Split, Unmatched
from compute.decide.workload.workload_status import workload_status
from tests.support.compute.builders import NOW, condition, placement, workload
from tests.support.compute.status_builders import blocked, located, paused, serving

LATER = NOW + timedelta(hours=1)
PAUSE = "paused: template changes are held back until the workload is resumed"


def verdict(target, deployments, **world):
    """Status, reason and message of the Workload's Available."""
    got = find(workload_status(target, deployments, now=NOW, **world).conditions, "Available")
    assert got is not None
    return got.status, got.reason, got.message


def places(target, deployments, **world):
    """Name, status and reason of each placement's Available."""
    got = workload_status(target, deployments, now=NOW, **world).placements
    return [(p.name, p.conditions[0].status, p.conditions[0].reason) for p in got]


def written(target, status):
    return msgspec.structs.replace(target, status=status)


def test_a_healthy_workload():
    """The whole status of a Workload that is as it should be."""
    got = workload_status(workload(), [serving()], now=NOW)

    message = "1 of 1 instances ready"
    assert got == WorkloadStatus(
        conditions=(
            condition(
                "Available",
                reason="AvailablePlacementFound",
                message=message,
                since=NOW,
                generation=1,
            ),
        ),
        deployments=1,
        observed_generation=1,
        placements=(
            PlacementStatus(
                name="home",
                conditions=(
                    condition(
                        "Available",
                        reason="AvailableDeploymentFound",
                        message=message,
                        since=NOW,
                        generation=1,
                    ),
                ),
                desired_replicas=1,
                replicas=1,
                ready_replicas=1,
            ),
        ),
        desired_replicas=1,
        replicas=1,
        ready_replicas=1,
    )


@pytest.mark.parametrize(
    ("deployments", "expected"),
    [
        ([], ("False", "NoAvailablePlacements", "0 of 2 instances ready")),
        (
            [located("dfw")],
            (
                "False",
                "NoAvailablePlacements",
                "0 of 2 instances ready; web-home-dfw: its cell has not reported yet",
            ),
        ),
        (
            [blocked("dfw", message="same"), blocked("lhr", message="same")],
            ("False", "InstancesProvisioning", "0 of 2 instances ready; web-home-dfw: same"),
        ),
        (
            [blocked("dfw"), blocked("lhr", "ImageUnavailable", "no such tag")],
            ("False", "ImageUnavailable", "0 of 2 instances ready; web-home-lhr: no such tag"),
        ),
        (
            [blocked("lhr", "InstanceCrashing"), blocked("dfw", "ImageUnavailable")],
            ("False", "ImageUnavailable", "0 of 2 instances ready; web-home-dfw: ImageUnavailable"),
        ),
        (
            [serving("dfw"), blocked("lhr", "QuotaNotGranted", "ask for more")],
            (
                "True",
                "AvailablePlacementFound",
                "1 of 2 instances ready; web-home-lhr: ask for more",
            ),
        ),
    ],
    ids=[
        "no deployments",
        "nothing reported",
        "same reason",
        "mixed reasons",
        "tie by name",
        "one available wins",
    ],
)
def test_available(deployments, expected):
    """A Workload is available if any city is; else it gives the worst reason of any city."""
    assert verdict(workload("web", placement("home", "DFW", "LHR")), deployments) == expected


@pytest.mark.parametrize(
    "reason",
    [
        "InstancesProvisioning",
        "NetworkProvisioning",
        "NoMatchingLocation",
        "QuotaNotGranted",
        "QuotaBackendUnavailable",
        "ReferencedDataNotReady",
        "ImageUnavailable",
        "InstanceCrashing",
        "ConfigurationError",
        "SourceTooLarge",
        "NetworkNotFound",
        "NetworkFailedToCreate",
        "NoCellForCity",
        "Suspended",
    ],
)
def test_w5_every_cause_reaches_the_workload(reason):
    """What blocks a city is reported by the Workload, before a city that has not reported."""
    found = [located("dfw"), blocked("lhr", reason)]

    assert verdict(workload("web", placement("home", "DFW", "LHR")), found)[1] == reason


def test_w5_what_a_serving_city_lacks_is_reported_too():
    """A broken image in a city that still serves in part is seen from the Workload."""
    partly = condition("Available", "True", "StableInstanceFound", "1 of 2 ready; web-1: no image")
    short = msgspec.structs.replace(
        located("dfw", partly, ready=1).status, replicas=2, desired_replicas=2
    )
    found = [msgspec.structs.replace(located("dfw"), status=short), serving("lhr")]

    got = verdict(workload("web", placement("home", "DFW", "LHR", replicas=2)), found)

    assert got == (
        "True",
        "AvailablePlacementFound",
        "2 of 4 instances ready; web-home-dfw: 1 of 2 ready; web-1: no image",
    )


def test_an_unreachable_cell_is_reported():
    """Whether an unreachable city serves is unknown, whatever was counted there before."""
    silent = located("dfw", condition("Available", "Unknown", "CellUnreachable", "silent"), ready=1)

    got = verdict(
        workload("web", placement("home", "DFW", "LHR")),
        [silent, blocked("lhr", "ImageUnavailable")],
    )

    assert got == ("Unknown", "CellUnreachable", "1 of 2 instances ready; web-home-dfw: silent")


def test_placements_are_summed_and_sorted():
    """Every counter of a placement is the sum over its cities, the Workload's over placements."""
    target = workload("web", placement("west", "DFW", "LAX"), placement("east", "LHR"))
    found = [
        serving("dfw", place="west"),
        blocked("lax", place="west"),
        serving("lhr", place="east"),
    ]

    got = workload_status(target, found, now=NOW)

    assert [(p.name, p.replicas, p.ready_replicas) for p in got.placements] == [
        ("east", 1, 1),
        ("west", 2, 1),
    ]
    assert (got.deployments, got.replicas, got.desired_replicas, got.ready_replicas) == (3, 3, 3, 2)


def test_a_placement_reports_its_own_cause():
    """A placement that does not serve points at its deployments and quotes the worst."""
    target = workload("web", placement("east", "LHR"), placement("west", "DFW"))
    found = [serving("dfw", place="west"), blocked("lhr", "QuotaNotGranted", "full", place="east")]

    got = workload_status(target, found, now=NOW).placements[0].conditions[0]

    assert (got.status, got.reason) == ("False", "NoAvailableDeployments")
    assert got.message == "0 of 1 instances ready; web-east-lhr: full"


def test_a_placement_that_left_the_spec_is_counted_while_it_lasts():
    """What still runs of a removed placement is counted and may still serve."""
    old = serving("lhr", place="old", deletion_timestamp=NOW)

    assert places(workload(), [old]) == [
        ("home", "False", "NoAvailableDeployments"),
        ("old", "True", "AvailableDeploymentFound"),
    ]
    assert verdict(workload(), [old])[0] == "True"


def test_a_deployment_on_its_way_out_explains_nothing():
    """The trouble of a deployment that is being removed is not the Workload's any more."""
    old = blocked("lhr", "ImageUnavailable", place="old", deletion_timestamp=NOW)

    assert verdict(workload(), [old, blocked()])[1] == "InstancesProvisioning"


def test_w2_a_vanished_network_does_not_take_down_what_runs():
    """While something serves, a missing network is in the message and changes no status."""
    target = workload("web", placement("home", "DFW", "LHR"))

    got = workload_status(
        target,
        [serving("dfw"), blocked("lhr", message="slow")],
        lack=Lack(missing=frozenset({("default", "default")})),
        now=NOW,
    )

    available = find(got.conditions, "Available")
    assert available == condition(
        "Available",
        "True",
        "AvailablePlacementFound",
        "1 of 2 instances ready; networks not found: default (create them, or name others in the "
        "template); web-home-lhr: slow",
        since=NOW,
        generation=1,
    )
    assert (got.replicas, got.ready_replicas, got.deployments) == (2, 1, 2)


def test_w3_missing_networks_are_named_in_order():
    """Missing networks block a Workload of which nothing serves, and are named sorted."""
    got = verdict(
        workload(), [], lack=Lack(missing=frozenset({("default", "b"), ("default", "a")}))
    )

    assert got == (
        "False",
        "NetworkNotFound",
        "0 of 1 instances ready; networks not found: a, b (create them, or name others in the "
        "template)",
    )


def test_networks_that_are_being_deleted_are_reported_beside_missing_ones():
    """What does not exist is the weightier of the two; another namespace is named."""
    lack = Lack(
        missing=frozenset({("back", "gone")}),
        terminating=frozenset({("default", "b"), ("default", "a")}),
    )
    _, _, message = verdict(workload(), [], lack=lack)
    _, reason, _ = verdict(workload(), [], lack=Lack(terminating=lack.terminating))

    assert message == (
        "0 of 1 instances ready; networks not found: back/gone (create them, or name others in the "
        "template); networks being deleted: a, b (what runs keeps running, and nothing new is attached; "
        "name others in the template)"
    )
    assert reason == "NetworkTerminating"


def test_a_name_that_another_workload_holds_is_reported():
    """A deployment that cannot be made because its name is taken is no silent gap."""
    got = verdict(workload(), [], split=Split(taken=(blocked("dfw"),)))

    assert got[:2] == ("False", "DeploymentNameTaken")
    assert "belong to another workload, or an earlier one: web-home-dfw" in got[2]


def test_w6_a_placement_without_any_offered_city_says_so():
    """Where no city of a placement is offered, placement and Workload give that reason."""
    target = workload("web", placement("home", "XYZ", "ABC"))
    lost = [Unmatched("home", "XYZ"), Unmatched("home", "ABC")]

    assert places(target, [], split=Split(unmatched=tuple(lost))) == [
        ("home", "False", "NoMatchingLocations")
    ]
    assert verdict(target, [], split=Split(unmatched=tuple(lost))) == (
        "False",
        "NoMatchingLocations",
        "0 of 2 instances ready; cities not offered to this project: ABC, XYZ",
    )


def test_w6_a_city_that_is_not_offered_is_never_silent():
    """A Workload that serves elsewhere still tells which city it was not given."""
    target = workload("web", placement("home", "DFW", "XYZ"))

    got = verdict(target, [serving("dfw")], split=Split(unmatched=(Unmatched("home", "XYZ"),)))

    assert got == (
        "True",
        "AvailablePlacementFound",
        "1 of 2 instances ready; cities not offered to this project: XYZ",
    )


def test_w6_one_missing_city_does_not_hide_what_blocks_the_others():
    """As long as a placement has a city, its reason is what happens there."""
    target = workload("web", placement("home", "DFW", "XYZ"))
    lost = [Unmatched("home", "XYZ")]

    assert (
        verdict(target, [blocked("dfw")], split=Split(unmatched=tuple(lost)))[1]
        == "InstancesProvisioning"
    )
    assert (
        verdict(target, [blocked("dfw", "Stopped")], split=Split(unmatched=tuple(lost)))[1]
        == "Stopped"
    )
    assert verdict(target, [], split=Split(unmatched=tuple(lost)))[1] == "NoAvailablePlacements"


def test_w6_a_city_that_still_runs_is_judged_by_what_runs():
    """A deployment kept although its city is not offered any more reports for itself."""
    lost = [Unmatched("home", "DFW")]

    got = verdict(workload(), [serving()], split=Split(unmatched=tuple(lost)))

    assert got == (
        "True",
        "AvailablePlacementFound",
        "1 of 1 instances ready; cities not offered to this project: DFW",
    )
    assert (
        verdict(workload(), [blocked()], split=Split(unmatched=tuple(lost)))[1]
        == "InstancesProvisioning"
    )


def test_a_city_named_twice_is_one_city():
    """What was asked for is counted by city, as deployments are."""
    target = workload("web", placement("home", "DFW", "DFW", replicas=2))

    assert verdict(target, [])[2] == "0 of 2 instances ready"


def test_a_paused_workload_says_so():
    """A pause is a condition of its own, and part of the message."""
    got = workload_status(paused(workload()), [serving()], now=NOW)

    assert find(got.conditions, "Paused") == condition(
        "Paused", "True", "Paused", PAUSE, since=NOW, generation=1
    )
    assert verdict(paused(workload()), [serving()])[2] == f"1 of 1 instances ready; {PAUSE}"


def test_a_workload_names_the_deployments_that_an_operator_holds_back():
    """A rollout that stands still does not do so in silence."""
    reported = condition("Paused", "True", "PropagationSuspended")
    serves = serving()
    status = msgspec.structs.replace(
        serves.status, conditions=(*serves.status.conditions, reported)
    )
    held = msgspec.structs.replace(serves, status=status)

    name = held.metadata.name
    wanted = f"1 of 1 instances ready; changes held back by an operator of the hub: {name}"
    assert verdict(workload(), [held])[2] == wanted


def test_a_resumed_workload_forgets_the_pause():
    """The condition is there only while the Workload is paused."""
    held = workload_status(paused(workload()), [serving()], now=NOW)

    got = workload_status(written(workload(), held), [serving()], now=LATER)

    assert [c.type for c in got.conditions] == ["Available"]


def test_w14_every_condition_has_the_newest_generation():
    """Status, conditions and placements' conditions have the generation that they are of."""
    first = workload_status(workload(), [serving()], now=NOW)
    meta = msgspec.structs.replace(workload().metadata, generation=2)
    grown = msgspec.structs.replace(written(workload(), first), metadata=meta)

    got = workload_status(grown, [serving()], now=LATER)

    said = [*got.conditions, *got.placements[0].conditions]
    assert [(c.observed_generation, c.last_transition_time) for c in said] == [(2, NOW)] * 2
    assert got.observed_generation == 2


def test_same_compares_placements():
    """The order of a placement's conditions says nothing, its counters do."""
    conditions = (condition("Available"), condition("Synced"))
    one = PlacementStatus(name="home", conditions=conditions)
    other = PlacementStatus(name="home", conditions=conditions[::-1])
    more = PlacementStatus(name="home", conditions=conditions, replicas=1)

    assert same(WorkloadStatus(placements=(one,)), WorkloadStatus(placements=(other,)))
    assert not same(WorkloadStatus(placements=(one,)), WorkloadStatus(placements=(more,)))


def test_what_was_counted_of_an_older_template_is_not_counted_as_updated():
    """Until the cell has observed the newest spec the number of its Instances is unknown; they still serve."""
    seen = located("dfw", ready=1, generation=2)
    counted = msgspec.structs.replace(
        seen.status, updated_replicas=1, current_replicas=1, observed_generation=1
    )
    behind = msgspec.structs.replace(seen, status=counted)
    caught_up = msgspec.structs.replace(
        seen, status=msgspec.structs.replace(counted, observed_generation=2)
    )
    sums = [
        (status.updated_replicas, status.current_replicas, status.ready_replicas)
        for status in (workload_status(workload(), [of], now=NOW) for of in (behind, caught_up))
    ]
    assert sums == [(0, 0, 1), (1, 1, 1)]


def test_an_unreachable_city_is_not_reported_as_down():
    """While nothing is known to serve and a city is silent, it is Unknown; one that serves is enough."""
    target = workload("web", placement("home", "DFW", "LHR", "SIN"))
    silent = located("lhr", condition("Available", "Unknown", "CellUnreachable", "silent"))
    got = workload_status(target, [silent, blocked("sin")], now=NOW)
    said = [got.conditions[0], got.placements[0].conditions[0]]
    assert [(c.status, c.reason) for c in said] == [
        ("Unknown", "CellUnreachable"),
        ("Unknown", "NoAvailableDeployments"),
    ]
    known = workload_status(target, [silent, serving("dfw")], now=NOW)
    assert [c.status for c in known.conditions] == ["True"]
