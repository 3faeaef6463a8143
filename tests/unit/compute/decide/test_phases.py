import msgspec
import pytest
from msgspec.structs import replace

from compute.api import annotations
from compute.decide import overrides
from compute.decide.progress import RolloutVerdict, observe, verdict
from compute.decide.progress.phases import Phase, PhaseTimeouts
from compute.decide.progress.rollouts import held_back
from tests.support.compute.builders import NOW, condition, placement
from tests.support.compute.progress_builders import (
    BROKEN,
    LATER,
    NOTHING_RUNS,
    OLD,
    SECOND,
    asked,
    given,
    look,
    not_ready,
    numbers,
    phase_and_text,
    row_of,
    running,
    unavailable,
)


def test_done_when_everything_agrees():
    """Workload, deployment, counters and Instances all say that the new template serves."""
    two = asked(placement(replicas=2))
    seen = look(two, (given(2),), (running(0), running(1)))

    assert phase_and_text(seen) == (Phase.DONE, "", "")
    assert numbers(seen) == (2, 2, 0, 2)


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(look(asked(observed=1), (given(),), (running(),)), id="not taken up"),
        pytest.param(look(asked(), (given(image=OLD),), (running(),)), id="other template"),
        pytest.param(look(asked(), (given(2),), (running(),)), id="other scale"),
        pytest.param(look(asked(), (given(),), (running(image=OLD),)), id="other hash"),
        pytest.param(look(asked(), (given(),), ()), id="no instance shown"),
        pytest.param(
            look(asked(), (given(deletion_timestamp=NOW),), (running(),)), id="leaving deployment"
        ),
        pytest.param(
            look(asked(), (given(),), (running(0), running(1, image=OLD))), id="one left over"
        ),
        pytest.param(look(asked(), (given(),), (running(0, not_ready()),)), id="not ready"),
        pytest.param(
            look(asked(), (given(),), (running(deletion_timestamp=NOW),)), id="on its way out"
        ),
        pytest.param(
            look(asked(), (given(counters={"observed_generation": 0}),), (running(),)), id="unheard"
        ),
        *(
            pytest.param(look(asked(), (given(counters={name: count}),), (running(),)), id=name)
            for name, count in {
                "desired_replicas": 2,
                "ready_replicas": 0,
                "replicas": 2,
                "updated_replicas": 0,
            }.items()
        ),
    ],
)
def test_not_done_while_one_witness_disagrees(seen):
    """A single witness that says otherwise keeps the rollout from being called done."""
    assert row_of(seen).phase is not Phase.DONE


def test_trap_9_the_cells_generation_is_never_compared_with_the_projects():
    """The deployment's status counts generations of the cell: any number of it may be current."""
    for generation in (1, 2, 3, 4000):
        seen = look(asked(), (given(counters={"observed_generation": generation}),), (running(),))
        assert row_of(seen).phase is Phase.DONE


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        pytest.param(
            look(asked(observed=1), (given(image=OLD),)),
            "the change has not been observed yet",
            id="workload",
        ),
        pytest.param(look(), "there is no deployment for the city yet", id="missing"),
        pytest.param(
            look(asked(), (given(deletion_timestamp=NOW),)),
            "an earlier deployment is still being removed",
            id="terminating",
        ),
        pytest.param(
            look(asked(), (given(image=OLD),)),
            "the deployment does not have the change yet",
            id="template",
        ),
        pytest.param(
            look(asked(placement(replicas=2)), (given(),)),
            "the deployment does not have the change yet",
            id="scale",
        ),
        pytest.param(
            look(asked(placement(replicas=2)), (given(2, counters={"desired_replicas": 1}),)),
            "the cell has not reported on the change yet",
            id="scale not counted",
        ),
    ],
)
def test_queued_says_how_far_the_change_has_come(seen, why):
    """Until the cell has seen what is asked for, the row says who has to hand it on."""
    assert phase_and_text(seen) == (Phase.QUEUED, why, "")


def test_a_city_that_has_started_is_not_queued_again():
    """An Instance shown later than the counters that include it does not turn the phase back."""
    begun = observe(look(asked(), (given(counters=NOTHING_RUNS),)))
    seen = look(asked(), (given(counters={"ready_replicas": 0}),), at=NOW + SECOND)

    assert begun.rows[0].phase is Phase.PENDING
    assert row_of(seen, begun).phase is Phase.PENDING
    assert row_of(seen).phase is Phase.QUEUED


def test_updating_says_how_many_and_what_the_next_one_waits_for():
    """A row in motion names the Instance that is being worked on."""
    three = asked(placement(replicas=3))
    counters = {"updated_replicas": 2, "ready_replicas": 2}
    instances = (running(0, image=OLD), running(1), running(2, not_ready("Provisioning")))
    seen = look(three, (given(3, counters=counters),), instances)

    assert phase_and_text(seen) == (
        Phase.UPDATING,
        "2 of 3 updated, 2 ready; web-home-dfw-2: It is being set up.",
        "Provisioning",
    )
    assert numbers(seen) == (2, 2, 1, 3)


def test_scaling_down_says_how_many_are_left_over():
    """Instances of the right template may still be too many."""
    counters = {"replicas": 3, "updated_replicas": 3, "ready_replicas": 3}
    seen = look(asked(), (given(counters=counters),), tuple(running(o) for o in range(3)))

    assert phase_and_text(seen) == (Phase.UPDATING, "2 instances more than asked for", "")


def test_an_autoscaled_city_is_done_at_what_load_makes_of_it():
    """Between the least and the most, the cell's own number is what is asked for."""
    elastic = asked(placement(max_replicas=3))
    bare = given(2)
    scale = elastic.spec.placements[0].scale_settings
    spec = msgspec.structs.replace(bare.spec, scale_settings=scale)
    scaled = msgspec.structs.replace(bare, spec=spec)
    seen = look(elastic, (scaled,), (running(0), running(1)))

    assert row_of(seen).phase is Phase.DONE
    assert numbers(seen) == (2, 2, 0, 2)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        pytest.param(unavailable("QuotaNotGranted", "no quota"), "QuotaNotGranted", id="quota"),
        pytest.param(unavailable("NetworkNotFound", "no net"), "NetworkNotFound", id="network"),
        pytest.param(unavailable("NoCellForCity", "no cell"), "NoCellForCity", id="cell"),
        pytest.param(
            condition("ReplicasReady", "False", "QuotaExceeded", "no quota", since=NOW),
            "QuotaExceeded",
            id="some replicas",
        ),
    ],
)
def test_a_deployments_reason_blocks_at_once(said, reason):
    """A problem that the user or the platform has to fix is reported without waiting for a stall."""
    seen = look(asked(), (given(1, said, counters=NOTHING_RUNS),))

    assert phase_and_text(seen) == (Phase.BLOCKED, f"web-home-dfw: {said.message}", reason)


def test_a_condition_from_above_blocks_before_the_cell_has_reported():
    """A deployment that no cell takes is not waited for until it reports."""
    said = unavailable("NoCellForCity", "no cell serves DFW")
    seen = look(asked(), (given(1, said, counters={"observed_generation": 0}),))

    assert phase_and_text(seen) == (
        Phase.BLOCKED,
        "web-home-dfw: no cell serves DFW",
        "NoCellForCity",
    )


def test_a_reason_from_before_the_change_does_not_block():
    """What the old template suffered from is what the new one is there to cure."""
    said = unavailable("NoMatchingLocation"), unavailable("ImageUnavailable")
    old = running(0, BROKEN, image=OLD)
    unseen = look(asked(), (given(1, *said),), (old,))
    seen = look(asked(), (given(1, said[1], counters={"updated_replicas": 0}),), (old,))

    assert row_of(unseen).phase is Phase.QUEUED
    assert row_of(seen).phase is Phase.PENDING


def test_what_keeps_deployments_from_being_made_blocks_at_once():
    """A missing network is reported in the row of a city that has no deployment because of it."""
    said = unavailable("NetworkNotFound", "networks not found: default")

    assert phase_and_text(look(asked(said=said))) == (
        Phase.BLOCKED,
        "web: networks not found: default",
        "NetworkNotFound",
    )


def test_a_placement_comes_before_its_workload():
    """Of two that explain a missing deployment alike, the nearer one is reported."""
    near = unavailable("NoMatchingLocations", "cities not offered: DFW")
    far = unavailable("NoMatchingLocations", "cities not offered: DFW, LHR")

    assert phase_and_text(look(asked(said=far, of_placement=near))) == (
        Phase.BLOCKED,
        "web: cities not offered: DFW",
        "NoMatchingLocations",
    )


def test_another_citys_trouble_does_not_block_a_city_without_a_deployment():
    """What the Workload says of its worst city is only a hint for the others."""
    said = unavailable("QuotaNotGranted", "web-home-lhr: no quota")

    assert row_of(look(asked(said=said))).phase is Phase.QUEUED


def test_an_unknown_reason_is_given_time():
    """An unknown reason may be ordinary progress, so only a stall makes it Blocked."""
    instances = (running(0, not_ready("WarmingUp", "42%")),)
    deployments = (given(counters={"ready_replicas": 0}),)
    before = observe(look(asked(), deployments, instances))

    assert before.rows[0].phase is Phase.UPDATING
    assert phase_and_text(look(asked(), deployments, instances, LATER), before) == (
        Phase.BLOCKED,
        "1 of 1 updated, 0 ready; web-home-dfw-0: 42%",
        "WarmingUp",
    )


@pytest.mark.parametrize(
    ("age", "phase"), [(9, Phase.BLOCKED), (10, Phase.FAILED)], ids=["young", "lasting"]
)
def test_an_instance_that_cannot_run_fails_once_it_has_lasted(age, phase):
    """A broken image blocks at once, and fails after ten seconds: by then it was tried again."""
    deployments = (given(counters={"ready_replicas": 0}),)
    seen = look(asked(), deployments, (running(0, BROKEN),), NOW + age * SECOND)

    assert phase_and_text(seen) == (phase, "web-home-dfw-0: manifest unknown", "ImageUnavailable")
    assert row_of(seen).since == NOW


@pytest.mark.parametrize(
    ("age", "phase"), [(9, Phase.BLOCKED), (10, Phase.FAILED)], ids=["young", "lasting"]
)
def test_time_spent_waiting_for_something_else_is_no_failure(age, phase):
    """An Instance that waited long for quota has not been failing since then."""
    deployments = (given(counters={"ready_replicas": 0}),)
    waiting = running(0, condition("Ready", "Unknown", "QuotaExceeded", since=NOW))
    before = observe(look(asked(), deployments, (waiting,)))
    for seconds in (600, 600 + age):
        at = NOW + seconds * SECOND
        before = observe(look(asked(), deployments, (running(0, BROKEN),), at), before)

    assert before.rows[0].phase is phase


def test_an_instance_that_recovered_starts_anew():
    """Two short failures are not one long one."""
    deployments = (given(counters={"ready_replicas": 0}),)
    broken, well = running(0, BROKEN), running(0, not_ready("Provisioning"))
    before = observe(look(asked(), deployments, (well,)))
    for seconds, instance in ((10, broken), (20, well), (70, broken)):
        at = NOW + seconds * SECOND
        before = observe(look(asked(), deployments, (instance,), at), before)

    assert before.rows[0].phase is Phase.BLOCKED


def test_the_patience_for_failures_can_be_chosen():
    """Who deploys from a slow registry may wait longer."""
    deployments = (given(counters={"ready_replicas": 0}),)
    seen = look(asked(), deployments, (running(0, BROKEN),), NOW + 300 * SECOND)
    (row,) = observe(seen, None, PhaseTimeouts(failure=600 * SECOND)).rows

    assert row.phase is Phase.BLOCKED


def test_a_condition_from_1970_is_as_old_as_its_instance():
    """An Unknown condition never got a time; a young Instance has not failed for fifty years."""
    ancient = condition("Ready", "Unknown", "ImageUnavailable", "manifest unknown")
    deployments = (given(counters={"ready_replicas": 0}),)
    seen = look(asked(), deployments, (running(0, ancient),), NOW + SECOND)

    assert row_of(seen).phase is Phase.BLOCKED
    assert row_of(seen).since == NOW


def test_paused_while_the_template_is_held_back():
    """A pause that holds something back is reported as a pause, however long it lasts."""
    held = look(asked(paused=True), (given(image=OLD),), (running(image=OLD),))
    before = observe(held)
    later = look(held.workload, held.deployments, held.instances, LATER)

    assert phase_and_text(held) == (Phase.PAUSED, "paused with 0 of 1 updated", "Paused")
    assert row_of(later, before) == replace(row_of(held), since=NOW)


def test_paused_in_one_city_only():
    """A pause of a city is reported for that city; the other goes on."""
    both = overrides.paused(asked(placement("home", "DFW", "LHR")), ("LHR",))
    deployments = given(image=OLD), given(image=OLD, city="LHR")
    instances = running(image=OLD), running(image=OLD, city="LHR")
    rows = observe(look(both, deployments, instances)).rows

    assert [(row.city, row.phase) for row in rows] == [
        ("DFW", Phase.QUEUED),
        ("LHR", Phase.PAUSED),
    ]


def test_the_cities_where_a_pause_holds_something_back():
    """Not those that run the version already, and not those that are not paused."""
    three = placement("home", "DFW", "LHR", "SIN")
    deployments = (given(image=OLD), given(city="LHR"), given(image=OLD, city="SIN"))
    seen = look(overrides.paused(asked(three), ("LHR", "SIN")), deployments)

    assert held_back(seen) == ("SIN",)


def test_paused_before_the_first_instance():
    """A template that is held back from an empty city is held back too."""
    seen = look(asked(paused=True), (given(image=OLD, counters=NOTHING_RUNS),))

    assert phase_and_text(seen) == (Phase.PAUSED, "paused with 0 of 1 updated", "Paused")


@pytest.mark.parametrize("status", ["True", "False"])
def test_paused_while_an_operator_of_the_hub_holds_the_change_back(status):
    """It is reported with the message of the deployment, for nothing in the city can be fixed meanwhile."""
    held = condition("Paused", status, "PropagationSuspended", "held back", since=NOW)
    behind = given(1, held, counters={"updated_replicas": 0})
    seen = look(asked(), (behind,), (running(image=OLD),))
    expected = (Phase.PAUSED, "web-home-dfw: held back", "PropagationSuspended")

    assert (phase_and_text(seen) == expected) is (status == "True")


def test_what_a_cell_refuses_is_blocked():
    """It holds though the cell has reported nothing of the change."""
    refused = condition("Available", "False", "RefusedByCell", "the name is taken", since=NOW)
    seen = look(asked(), (given(1, refused, counters={**NOTHING_RUNS, "observed_generation": 0}),))

    assert phase_and_text(seen) == (
        Phase.BLOCKED,
        "web-home-dfw: the name is taken",
        "RefusedByCell",
    )


def test_an_instance_on_its_way_out_is_old_whatever_its_template():
    """It serves the rollout no more, so it is not counted as updated."""
    seen = look(asked(), (given(),), (running(deletion_timestamp=NOW),))

    assert numbers(seen) == (0, 0, 1, 1)


def test_paused_halfway_reports_problems_as_well():
    """A pause to check the first Instance shows its state."""
    two = asked(placement(replicas=2), paused=True)
    instances = (running(0, image=OLD), running(1, BROKEN))
    seen = look(two, (given(2),), instances, NOW + 300 * SECOND)

    assert phase_and_text(seen) == (
        Phase.PAUSED,
        "paused with 1 of 2 updated; web-home-dfw-1: manifest unknown",
        "Paused",
    )


@pytest.mark.parametrize(
    ("deployments", "instances", "phase"),
    [
        pytest.param((given(),), (running(),), Phase.DONE, id="all updated"),
        pytest.param((), (), Phase.QUEUED, id="nothing there yet"),
        pytest.param(
            (given(counters={"ready_replicas": 0}),),
            (running(0, not_ready()),),
            Phase.UPDATING,
            id="healing",
        ),
        pytest.param(
            (given(counters={"replicas": 2}),),
            (running(0), running(1, image=OLD, deletion_timestamp=NOW)),
            Phase.UPDATING,
            id="the last old one is leaving",
        ),
    ],
)
def test_a_pause_that_holds_nothing_back_is_not_reported(deployments, instances, phase):
    """A pause stops templates; what needs no new template continues as usual."""
    assert row_of(look(asked(paused=True), deployments, instances)).phase is phase


def test_unreachable_when_the_hub_says_so():
    """A cell that went silent is not judged by what it said before."""
    silent = condition("Available", "Unknown", "CellUnreachable", "silent", since=NOW)
    seen = look(asked(), (given(1, silent, image=OLD),), (running(image=OLD),))

    assert phase_and_text(seen) == (Phase.UNREACHABLE, "web-home-dfw: silent", "CellUnreachable")
    assert verdict(observe(seen), NOW) is RolloutVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("report", "phase"),
    [
        pytest.param("2026-06-01T11:58:00Z", Phase.UNREACHABLE, id="old"),
        pytest.param("2026-06-01T11:58:01Z", Phase.QUEUED, id="fresh"),
        pytest.param("yesterday", Phase.QUEUED, id="unreadable"),
    ],
)
def test_unreachable_when_the_last_report_is_too_old(report, phase):
    """Data older than two minutes is no ground for a verdict."""
    late = given(image=OLD, annotations={annotations.LAST_REPORT: report})

    assert row_of(look(asked(), (late,))).phase is phase


def test_unreachable_says_when_the_cell_last_reported():
    """The instant is reported and not the age, which would be another text in every snapshot."""
    report = {annotations.LAST_REPORT: "2026-06-01T11:50:00Z"}
    seen = look(asked(), (given(image=OLD, annotations=report),))

    assert phase_and_text(seen) == (
        Phase.UNREACHABLE,
        "the cell last reported at 2026-06-01T11:50:00Z",
        "CellUnreachable",
    )
    assert row_of(seen).since == NOW - 600 * SECOND
