"""From the hub back to the project."""

from datetime import timedelta

import pytest

from compute.api.conditions import ConditionType
from compute.api.reasons import Reason
from compute.decide.conditions import find
from compute.decide.deployment import drains
from compute.decide.deployment.drains import Drain
from compute.decide.federation import (
    CellUnreachable,
    DispatchingSuspended,
    RefusedByCell,
    Unplaced,
    project_status,
    unreachable_cell,
)
from tests.support.compute.builders import NOW, condition
from tests.support.compute.federation_builders import on_hub, original, with_status

AVAILABLE = condition(
    ConditionType.AVAILABLE, "True", Reason.STABLE_INSTANCE_FOUND, since=NOW, generation=1
)
BLOCKED = condition(
    ConditionType.AVAILABLE, "False", Reason.INSTANCES_PROVISIONING, since=NOW, generation=1
)
REPLICAS = condition(ConditionType.REPLICAS_READY, "True", Reason.REPLICAS_AVAILABLE, generation=1)
DATA = condition(ConditionType.REFERENCED_DATA_READY, "False", Reason.SOURCE_NOT_FOUND)
LATER = NOW + timedelta(hours=2)
SILENT = CellUnreachable("cell-dfw", NOW)


def test_the_project_sees_what_the_hub_says():
    """Counters and conditions are the hub's."""
    hub = with_status(on_hub(), AVAILABLE, REPLICAS, replicas=2, ready_replicas=1)

    assert project_status(original(), hub, None, LATER) == hub.status


def test_nothing_is_written_when_nothing_changed():
    """Equal statuses need no write, whatever order their conditions are in; nor does a missing hub."""
    seen = with_status(original(), REPLICAS, AVAILABLE, replicas=2)
    hub = with_status(on_hub(), AVAILABLE, REPLICAS, replicas=2)

    assert project_status(seen, hub, None, LATER) is None
    assert project_status(seen, None, None, LATER) is None


def test_the_projects_own_condition_of_referenced_data_stays():
    """Referenced data is resolved in the project; what the hub says of it does not count."""
    own = with_status(original(), DATA)
    other = condition(ConditionType.REFERENCED_DATA_READY, "True", "Ready")
    hub = with_status(on_hub(), other, AVAILABLE)

    got = project_status(own, hub, None, LATER)
    assert got is not None
    assert got.conditions == (AVAILABLE, DATA)
    bare = project_status(original(), hub, None, LATER)
    assert bare is not None
    assert bare.conditions == (AVAILABLE,)


def test_a_drain_is_reported_beside_the_conditions_of_the_cell():
    """Since when it is known in the project; it goes with the stamp, and is written once."""
    drained = drains.stamped(original(), Drain(Reason.CITY_WITHDRAWN, LATER))
    hub = with_status(on_hub(), AVAILABLE)

    got = project_status(drained, hub, None, NOW)
    assert got is not None
    assert got.conditions == (AVAILABLE, drains.condition(drained, NOW))
    seen = with_status(drained, *got.conditions)
    assert project_status(seen, hub, None, LATER) is None
    assert project_status(seen, seen, None, LATER) is None
    back = project_status(with_status(original(), *got.conditions), hub, None, LATER)
    assert back is not None
    assert back.conditions == (AVAILABLE,)


def test_a_silent_cell_makes_availability_unknown():
    """It is Unknown since the last report; the counters stay, and the message has the time."""
    hub = with_status(on_hub(), AVAILABLE, REPLICAS, replicas=2, ready_replicas=2)
    got = project_status(with_status(original(), AVAILABLE), hub, SILENT, LATER)

    assert got is not None
    assert got.ready_replicas == 2
    assert got.conditions == (
        REPLICAS,
        condition(
            ConditionType.AVAILABLE,
            "Unknown",
            Reason.CELL_UNREACHABLE,
            "Cell cell-dfw has not reported since 2026-06-01T12:00:00Z; "
            "what runs there keeps running unobserved",
            since=NOW,
            generation=1,
        ),
    )


@pytest.mark.parametrize(
    ("replicas", "observed", "goes_on"),
    [
        (2, 1, "what runs there keeps running unobserved"),
        (2, 0, "what runs there keeps running unobserved, and without the latest change"),
        (0, 1, "nothing was running there, and what is new starts when the cell answers again"),
        (0, 0, "nothing was running there, and what is new starts when the cell answers again"),
    ],
)
def test_what_runs_in_a_silent_cell_is_what_it_reported(replicas, observed, goes_on):
    """Nothing is said to run that never did, nor to have a change that the cell has not seen."""
    hub = with_status(on_hub(), AVAILABLE, replicas=replicas, observed_generation=observed)
    got = project_status(original(), hub, SILENT, LATER)

    assert got is not None
    reported = find(got.conditions, ConditionType.AVAILABLE)
    assert reported is not None
    assert reported.message.partition("; ")[2] == goes_on


def test_a_deployment_whose_city_is_silent_waits_for_its_cells():
    """There are cells, and none answers: the message does not claim that there is none."""
    silent = (SILENT, CellUnreachable("cell-dfw-2", LATER, reported=False))
    got = project_status(original(), on_hub(), Unplaced("1 not ready", silent), LATER)

    assert got is not None
    (available,) = got.conditions
    assert (available.status, available.reason) == ("False", Reason.CELL_UNREACHABLE)
    assert available.message == (
        "Cell cell-dfw has not reported since 2026-06-01T12:00:00Z; "
        "Cell cell-dfw-2 is unreachable; the hub noticed it at 2026-06-01T14:00:00Z; "
        "nothing runs there yet, it starts when the cell answers again"
    )


@pytest.mark.parametrize(
    "trouble",
    [
        CellUnreachable("cell-dfw", NOW + timedelta(seconds=0.7)),
        Unplaced("none", (SILENT, CellUnreachable("cell-dfw-2", NOW + timedelta(seconds=0.7)))),
    ],
    ids=["unreachable", "unplaced"],
)
def test_a_silent_cell_is_dated_in_whole_seconds(trouble):
    """A condition has no fractions of them, and the report of a lease does."""
    got = project_status(original(), on_hub(), trouble, LATER)
    assert got is not None
    assert [each.last_transition_time for each in got.conditions] == [NOW]
    written = with_status(original(), *got.conditions)
    assert project_status(written, on_hub(), trouble, LATER + timedelta(hours=1)) is None


@pytest.mark.parametrize(("observed", "counts"), [(2, (3, 2)), (1, (0, 0))])
def test_nothing_is_up_to_date_with_a_generation_that_the_cell_has_not_seen(observed, counts):
    """What runs is counted as it was; of the newest template nothing is known to run."""
    hub = with_status(
        on_hub(generation=2),
        replicas=3,
        ready_replicas=3,
        updated_replicas=3,
        current_replicas=2,
        observed_generation=observed,
    )
    got = project_status(original(generation=2), hub, None, LATER)

    assert got is not None
    assert (got.replicas, got.ready_replicas) == (3, 3)
    assert (got.updated_replicas, got.current_replicas) == counts


@pytest.mark.parametrize(("lease", "expected"), [(7200, None), (7199, SILENT)])
def test_a_cell_is_silent_once_its_lease_has_run_out(lease, expected):
    """Until the last second of the lease the cell counts as reachable."""
    assert unreachable_cell("cell-dfw", NOW, timedelta(seconds=lease), LATER) == expected


def test_silence_is_written_once():
    """However long a cell is silent, the status does not change again."""
    hub = with_status(on_hub(), AVAILABLE)
    first = project_status(original(), hub, SILENT, LATER)
    assert first is not None
    reported = with_status(original(), *first.conditions)

    assert project_status(reported, hub, SILENT, LATER + timedelta(days=1)) is None


def test_a_cell_that_reports_again_is_believed():
    """The overlay goes as soon as the cell's lease is renewed."""
    hub = with_status(on_hub(), AVAILABLE)
    first = project_status(original(), hub, SILENT, LATER)
    assert first is not None

    assert (
        project_status(with_status(original(), *first.conditions), hub, None, LATER) == hub.status
    )


@pytest.mark.parametrize("reported", [(), (BLOCKED,)])
def test_a_deployment_that_no_cell_takes_says_so(reported):
    """The cell cannot report that there is none: the hub's condition replaces its own."""
    hub = with_status(on_hub(), *reported)
    got = project_status(original(), hub, Unplaced("no cluster has its label"), LATER)

    assert got is not None
    (available,) = got.conditions
    assert (available.status, available.reason) == ("False", Reason.NO_CELL_FOR_CITY)
    assert available.message == "No cell serves DFW: no cluster has its label"


def test_what_serves_is_not_called_unplaced():
    """While an instance is ready somewhere, trouble with placing the rest does not hide it."""
    hub = with_status(on_hub(), AVAILABLE)

    assert project_status(original(), hub, Unplaced("x"), LATER) == hub.status


def test_trap_9_a_report_is_of_the_projects_generation_only_if_it_is_of_its_spec():
    """A client that waits for its change sees it as observed only once the cell has observed it."""
    here = original(generation=5)
    seen = with_status(on_hub(generation=2), AVAILABLE)
    behind = with_status(on_hub(generation=2), AVAILABLE, observed_generation=1)
    other = with_status(on_hub(original(city="LHR"), generation=2), AVAILABLE)
    got = [project_status(here, hub, None, LATER) for hub in (seen, behind, other)]
    assert [status.observed_generation for status in got if status] == [5, 0, 0]


def test_what_an_operator_holds_back_is_a_condition_of_its_own():
    """What serves is not unavailable because of it; the condition goes with the suspension."""
    hub = with_status(on_hub(), AVAILABLE)
    got = project_status(original(), hub, DispatchingSuspended("cell-dfw"), LATER)

    assert got is not None
    available, paused = got.conditions
    assert available == AVAILABLE
    assert (paused.type, paused.status, paused.reason) == ("Paused", "True", "PropagationSuspended")
    assert paused.message.startswith("Changes for DFW are held back by an operator of the hub")
    reported = with_status(original(), *got.conditions)
    assert (
        project_status(reported, hub, DispatchingSuspended("cell-dfw"), LATER + timedelta(days=1))
        is None
    )
    assert project_status(reported, hub, None, LATER) == hub.status


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (DispatchingSuspended("cell-dfw"), Reason.PROPAGATION_SUSPENDED),
        (RefusedByCell("cell-dfw", "it is taken"), Reason.REFUSED_BY_CELL),
    ],
)
def test_what_never_reached_its_cell_says_why(trouble, reason):
    """Without a report nothing else explains it; with one, the cell's own condition stays."""
    got = project_status(original(), on_hub(), trouble, LATER)

    assert got is not None
    assert (got.conditions[0].status, got.conditions[0].reason) == ("False", reason)
    blocked = project_status(original(), with_status(on_hub(), BLOCKED), trouble, LATER)
    assert blocked is not None
    assert blocked.conditions[0] == BLOCKED


def test_a_refusal_of_the_cell_is_passed_on_with_its_message():
    """They name what is in the way."""
    got = project_status(original(), on_hub(), RefusedByCell("cell-dfw", "it is taken"), LATER)

    assert got is not None
    assert got.conditions[0].message == "Cell cell-dfw does not take it: it is taken"
