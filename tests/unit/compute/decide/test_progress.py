import msgspec
import pytest
from hypothesis import given as over, settings, strategies as st
from msgspec.structs import replace

from compute.decide.deployment import drains
from compute.decide.deployment.slots import is_ready
from compute.decide.deployment.template import matches
from compute.decide.joins import city, expected, placement_city
from compute.decide.progress import Rollout, RolloutVerdict, observe, verdict
from compute.decide.progress.phases import Phase, PhaseTimeouts
from tests.support.compute.builders import NOW, condition, placement
from tests.support.compute.progress_builders import (
    BROKEN,
    LATER,
    NEW,
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
from tests.support.generated import depth


def test_defect_a_a_stall_is_reported_though_nothing_changes():
    """A rollout without progress turns Blocked by the clock alone, and is reported just once."""
    deployments, instances = (given(counters={"ready_replicas": 0}),), (running(0, not_ready()),)
    first = observe(look(asked(), deployments, instances))
    second = observe(look(asked(), deployments, instances, LATER), first)
    third = observe(look(asked(), deployments, instances, LATER + SECOND), second)

    assert [r.rows[0].phase for r in (first, second)] == [Phase.UPDATING, Phase.BLOCKED]
    assert third.rows == second.rows
    assert second.rows[0].since == NOW


@pytest.mark.parametrize(
    ("seconds", "phase"), [(29, Phase.UPDATING), (30, Phase.BLOCKED)], ids=["moving", "stalled"]
)
def test_a_stall_is_counted_from_the_last_movement(seconds, phase):
    """Every Instance that makes progress restarts the thirty seconds."""
    two = asked(placement(replicas=2))
    deployments = (given(2, counters={"ready_replicas": 1}),)
    first = observe(look(two, deployments, (running(0, not_ready()), running(1, not_ready()))))
    instances = (running(0), running(1, not_ready()))
    moved = observe(look(two, deployments, instances, NOW + 20 * SECOND), first)
    later = look(two, deployments, instances, NOW + (20 + seconds) * SECOND)

    assert row_of(later, moved).phase is phase


def test_defect_b_a_problem_of_the_first_instance_is_reported_at_once():
    """Pending does not hide a reason that needs action."""
    quota = condition("QuotaGranted", "False", "QuotaExceeded", "1000 wanted, 500 left", since=NOW)
    new = running(0, not_ready("PendingQuota"), quota, gates=("Quota",))
    seen = look(asked(), (given(counters={"ready_replicas": 0}),), (new,))

    assert phase_and_text(seen) == (
        Phase.BLOCKED,
        "web-home-dfw-0: 1000 wanted, 500 left",
        "QuotaExceeded",
    )


def test_defect_b_pending_stalls_too():
    """No first Instance for half a minute is a standstill like any other."""
    deployments = (
        given(1, unavailable("NetworkProvisioning", "no subnet yet"), counters=NOTHING_RUNS),
    )
    before = observe(look(asked(), deployments))

    assert before.rows[0].phase is Phase.PENDING
    assert phase_and_text(look(asked(), deployments, at=LATER), before) == (
        Phase.BLOCKED,
        "no instance of the template yet; web-home-dfw: no subnet yet",
        "NetworkProvisioning",
    )


def test_defect_c_an_old_healthy_status_is_not_a_finished_rollout():
    """Counters that a cell wrote before it saw the change do not end the rollout."""
    seen = look(asked(), (given(),), (running(image=OLD),))

    assert phase_and_text(seen) == (Phase.QUEUED, "the cell has not reported on the change yet", "")
    assert numbers(seen) == (0, 1, 1, 1)
    assert verdict(observe(seen), NOW) is RolloutVerdict.PROGRESSING


def test_defect_d_a_city_without_a_deployment_is_waited_for():
    """Every place that is asked for has a row, whether or not anything exists there."""
    everywhere = asked(placement("home", "DFW", "LHR"))
    seen = look(everywhere, (given(),), (running(),))
    got = observe(seen)

    assert [(row.city, row.phase) for row in got.rows] == [
        ("DFW", Phase.DONE),
        ("LHR", Phase.QUEUED),
    ]
    assert got.rows[1].why == "there is no deployment for the city yet"
    assert verdict(got, NOW) is RolloutVerdict.PROGRESSING


def test_defect_d_a_city_that_never_gets_a_deployment_blocks():
    """Waiting for a deployment ends in a verdict, with what the Workload says about it."""
    said = condition("Available", message="1 of 2 instances ready; cities not offered: LHR")
    everywhere = asked(placement("home", "DFW", "LHR"), said=said)
    before = observe(look(everywhere, (given(),), (running(),)))
    got = observe(look(everywhere, (given(),), (running(),), LATER), before)

    assert got.rows[1].phase is Phase.BLOCKED
    assert got.rows[1].why == (
        "there is no deployment for the city yet; "
        "web: 1 of 2 instances ready; cities not offered: LHR"
    )
    assert verdict(got, LATER) is RolloutVerdict.BLOCKED


def test_defect_e_two_placements_in_one_city_have_a_row_each():
    """Rows are keyed by placement and city, so one cannot hide the other."""
    both = asked(placement("edge", "DFW"), placement("home", "DFW"))
    deployments = (given(), given(placement="edge", counters={"ready_replicas": 0}))
    instances = (running(), running(0, BROKEN, placement="edge"))
    got = observe(look(both, deployments, instances))

    assert [(row.placement, row.city, row.phase) for row in got.rows] == [
        ("edge", "DFW", Phase.BLOCKED),
        ("home", "DFW", Phase.DONE),
    ]


def test_defect_f_a_snapshot_that_is_too_old_gives_no_verdict():
    """A client without a new snapshot reports Unknown, instead of repeating the old state."""
    moving = observe(look(asked(), (given(),), (running(image=OLD),)))
    done = observe(look(asked(), (given(),), (running(),)))
    patience = PhaseTimeouts(contact=10 * SECOND)

    assert verdict(moving, NOW + 10 * SECOND, patience) is RolloutVerdict.PROGRESSING
    assert verdict(moving, NOW + 11 * SECOND, patience) is RolloutVerdict.UNKNOWN
    assert verdict(done, NOW + 11 * SECOND, patience) is RolloutVerdict.DONE


def test_a_city_that_is_not_asked_for_any_more_is_part_of_the_rollout():
    """The rollout is not done before what it leaves behind is gone."""
    leaving = given(city="LHR", deletion_timestamp=NOW)
    broken = running(0, BROKEN, city="LHR")
    got = observe(look(asked(), (given(), leaving), (running(), broken)))
    gone = observe(look(asked(), (given(),), (running(),)), got)

    assert [(row.city, row.phase, row.why) for row in got.rows] == [
        ("DFW", Phase.DONE, ""),
        ("LHR", Phase.UPDATING, "not asked for any more, 1 instance left"),
    ]
    assert [row.city for row in gone.rows] == ["DFW"]


def test_a_city_that_waits_for_its_replacement_says_so():
    """It is not being cleared up yet."""
    drain = drains.Drain("ReplacementPending", LATER, by=("web-home-dfw",))
    waiting = drains.stamped(given(city="LHR"), drain)
    got = observe(look(asked(), (given(), waiting), (running(), running(city="LHR"))))

    assert (
        "1 instance left; web-home-lhr keeps running until web-home-dfw serves" in got.rows[1].why
    )


def test_a_withdrawal_that_stands_still_blocks():
    """Clearing up can get stuck like anything else."""
    leaving = given(city="LHR", deletion_timestamp=NOW)
    before = observe(look(asked(), (given(), leaving), (running(),)))
    got = observe(look(asked(), (given(), leaving), (running(),), LATER), before)

    assert got.rows[1].phase is Phase.BLOCKED


def test_a_workload_that_is_being_deleted_asks_for_nothing():
    """Nothing new is waited for; what is left has to go."""
    bare = asked()
    meta = msgspec.structs.replace(bare.metadata, deletion_timestamp=NOW)
    going = msgspec.structs.replace(bare, metadata=meta)

    assert row_of(look(going, (given(),), (running(),))).phase is Phase.UPDATING
    assert verdict(observe(look(going)), NOW) is RolloutVerdict.DONE


def test_another_workloads_deployment_is_not_ours():
    """A deployment of an earlier Workload of the same name says nothing of this one."""
    bare = given()
    ref = msgspec.structs.replace(bare.spec.workload_ref, uid="uid-of-another")
    spec = msgspec.structs.replace(bare.spec, workload_ref=ref)
    stranger = msgspec.structs.replace(bare, spec=spec)

    assert row_of(look(asked(), (stranger,), (running(),))).why == (
        "there is no deployment for the city yet"
    )


def test_done_stays_done_when_an_instance_falls_ill():
    """The rollout was finished; what happens later is a matter of health."""
    done = observe(look(asked(), (given(),), (running(),)))
    ill = look(asked(), (given(counters={"ready_replicas": 0}),), (running(0, BROKEN),), LATER)
    got = observe(ill, done)

    assert (got.rows[0].phase, got.rows[0].ready) == (Phase.DONE, 0)


def test_a_new_demand_starts_the_clock_and_the_rollout_anew():
    """What was done or stuck for one generation says nothing of the next."""
    done = observe(look(asked(), (given(),), (running(),)))
    row = row_of(look(asked(generation=3), (given(image=OLD),), (running(),), LATER), done)

    assert (row.phase, row.since) == (Phase.QUEUED, LATER)


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        ([], RolloutVerdict.DONE),
        ([Phase.DONE], RolloutVerdict.DONE),
        ([Phase.DONE, Phase.QUEUED], RolloutVerdict.PROGRESSING),
        ([Phase.DONE, Phase.PENDING], RolloutVerdict.PROGRESSING),
        ([Phase.UPDATING, Phase.PAUSED], RolloutVerdict.PROGRESSING),
        ([Phase.DONE, Phase.PAUSED], RolloutVerdict.PAUSED),
        ([Phase.DONE, Phase.UNREACHABLE], RolloutVerdict.UNKNOWN),
        ([Phase.PAUSED, Phase.UNREACHABLE], RolloutVerdict.PAUSED),
        ([Phase.UPDATING, Phase.BLOCKED], RolloutVerdict.BLOCKED),
        ([Phase.BLOCKED, Phase.FAILED], RolloutVerdict.FAILED),
    ],
)
def test_the_worst_row_decides(phases, expected):
    """One city that is stuck is the answer to "is it done", whatever the others say."""
    (row,) = observe(look()).rows
    rows = tuple(replace(row, phase=phase) for phase in phases)

    assert verdict(Rollout(rows, NOW), NOW) is expected


def test_only_these_cities():
    """A rollout can be restricted to cities, with a verdict of its own."""
    everywhere = asked(placement("home", "DFW", "LHR"))
    got = observe(look(everywhere, (given(),), (running(),)))

    assert verdict(got.only({"DFW"}), NOW) is RolloutVerdict.DONE
    assert [row.city for row in got.only({"LHR"}).rows] == ["LHR"]


CITIES = ("DFW", "LHR")
REASONS = st.sampled_from(
    ["Provisioning", "ImageUnavailable", "QuotaExceeded", "CellUnreachable", "WarmingUp", "Pending"]
)
COUNTERS = st.dictionaries(
    st.sampled_from([*NOTHING_RUNS, "desired_replicas", "observed_generation"]), st.integers(0, 2)
)
RARELY = st.integers(0, 5).map(lambda n: n == 0)


@st.composite
def city_worlds(draw, code, replicas):
    """A city where all is done, or where here and there something is amiss."""
    spoilt = draw(st.booleans())

    def amiss():
        return spoilt and draw(RARELY)

    def image():
        return OLD if amiss() else NEW

    def going():
        return NOW if amiss() else None

    said = [unavailable(draw(REASONS))] if amiss() else []
    deployment = given(
        draw(st.integers(1, 2)) if amiss() else replicas,
        *said,
        image=image(),
        city=code,
        counters=draw(COUNTERS) if amiss() else {},
        deletion_timestamp=going(),
    )
    instances = [
        running(
            ordinal,
            *([not_ready(draw(REASONS))] if amiss() else []),
            image=image(),
            city=code,
            deletion_timestamp=going(),
        )
        for ordinal in range(replicas + amiss() - amiss())
    ]
    return () if amiss() else (deployment,), tuple(instances)


@st.composite
def sightings(draw, of=None):
    cities = draw(st.lists(st.sampled_from(CITIES), min_size=1, unique=True))
    workload = of or asked(
        placement("home", *cities, replicas=draw(st.integers(1, 2))),
        observed=1 if draw(RARELY) else 2,
        paused=draw(RARELY),
    )
    (wanted,) = workload.spec.placements
    there = [code for code in CITIES if code in wanted.city_codes or draw(RARELY)]
    worlds = [draw(city_worlds(code, wanted.scale_settings.min_replicas)) for code in there]
    return look(
        workload,
        tuple(deployment for world in worlds for deployment in world[0]),
        tuple(instance for world in worlds for instance in world[1]),
        NOW + draw(st.integers(0, 200)) * SECOND,
    )


@settings(max_examples=depth.examples(150), deadline=None)
@over(sightings())
def test_every_place_has_exactly_one_row_and_a_phase(seen):
    """Whatever the state, each placement and city that is requested or left over has one row."""
    rows = observe(seen).rows
    places = [(row.placement, row.city) for row in rows]

    assert len(places) == len(set(places))
    assert set(places) == expected(seen.workload).keys() | {
        placement_city(d) for d in seen.deployments
    }
    assert all(row.phase in Phase for row in rows)
    assert all(row.since is None or row.since <= seen.at for row in rows)


@settings(max_examples=depth.examples(150), deadline=None)
@over(sightings())
def test_done_means_every_row_is_done(seen):
    """The verdict is done exactly when no row says otherwise."""
    rollout = observe(seen)

    assert (verdict(rollout, seen.at) is RolloutVerdict.DONE) == all(
        row.phase is Phase.DONE for row in rollout.rows
    )


@settings(max_examples=depth.examples(150), deadline=None)
@over(sightings())
def test_done_is_never_called_too_early(seen):
    """Where a row is done, every Instance runs the new template and serves, and none is missing."""
    for row in observe(seen).rows:
        there = [i for i in seen.instances if city(i) == row.city]
        right = [i for i in there if matches(given(), i) and is_ready(i)]
        assert row.phase is not Phase.DONE or len(there) == len(right) == row.desired > 0


@settings(max_examples=depth.examples(50), deadline=None)
@over(sightings())
def test_the_order_of_lists_changes_nothing(seen):
    """A list that comes back in another order shows the same rows, so nothing flickers."""
    turned = replace(seen, deployments=seen.deployments[::-1], instances=seen.instances[::-1])

    assert observe(turned) == observe(seen)


@settings(max_examples=depth.examples(100), deadline=None)
@over(st.data())
def test_no_row_leaves_done_without_a_new_demand(data):
    """Through any course of events, a place that was done for a demand stays done for it."""
    workload = data.draw(sightings()).workload
    done: set[tuple[str, str]] = set()
    rollout = None
    for seen in data.draw(st.lists(sightings(of=workload), min_size=2, max_size=5)):
        rollout = observe(seen, rollout)
        now_done = {(r.placement, r.city) for r in rollout.rows if r.phase is Phase.DONE}
        there = {(r.placement, r.city) for r in rollout.rows}
        assert done & there <= now_done
        done = now_done
