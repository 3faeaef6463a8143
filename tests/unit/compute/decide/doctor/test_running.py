"""The checks of what runs: reports, gates, order, and what keeps Instances from running."""

from compute.decide.doctor.running import running_checks
from compute.decide.overrides import paused
from kubekit.api.meta import with_metadata, with_spec
from tests.support.compute.builders import NOW, condition, placement
from tests.support.compute.doctor_builders import FORBIDDEN, MINUTE, bad, facts, written
from tests.support.compute.explain_builders import quota
from tests.support.compute.progress_builders import (
    NOTHING_RUNS,
    OLD,
    asked,
    given,
    not_ready,
    running,
    unavailable,
)

LONG_AGO = NOW - 2 * MINUTE
EVENTS = "compute events web"


def found(*args, **changes):
    return bad(running_checks(facts(*args, **changes)))


def details(*args, **changes):
    return [(check, detail) for check, _, detail, _ in found(*args, **changes)]


def waiting(*said, **changes):
    """A deployment whose only Instance reports these conditions."""
    return (given(counters=NOTHING_RUNS),), (running(0, *said, **changes),)


def test_all_is_well():
    assert not found()


def test_a_cell_that_does_not_report():
    """Its Instances are not judged: their data is old."""
    lost = given(1, unavailable("CellUnreachable", "Cell dfw has not reported", since=LONG_AGO))
    broken = running(0, not_ready("ImageUnavailable", "no such image", since=LONG_AGO))

    assert found(None, (lost,), (broken,)) == [
        (
            "reports", "failed",
            "DFW: web-home-dfw: Cell dfw has not reported; its data is 120s old",
            "compute cities describe DFW",
        )
    ]  # fmt: skip


def test_a_cell_of_unknown_age():
    lost = given(1, unavailable("CellUnreachable", "Cell dfw has not reported", since=NOW))

    assert details(None, (lost,), ())[0][0] == "reports"


def test_an_instance_at_a_gate():
    gated = waiting(
        not_ready("PendingQuota", "", since=LONG_AGO),
        quota("PendingEvaluation", "Waiting for quota evaluation.", "Unknown"),
        gates=("Quota",),
    )
    new = waiting(not_ready("Provisioning", since=NOW), gates=("Quota",))

    assert found(None, *gated) == [
        (
            "gates", "failed",
            "web-home-dfw-0 has waited for 120s at Quota: Waiting for quota evaluation",
            "compute instances describe web-home-dfw-0",
        )
    ]  # fmt: skip
    assert not found(None, *new)


def test_an_ordered_update_behind_an_old_instance():
    stale = waiting(not_ready("Provisioning", since=LONG_AGO), image=OLD)
    new = waiting(not_ready("Provisioning", since=NOW), image=OLD)

    assert found(None, *stale)[0] == (
        "order", "failed",
        "web-home-dfw-0 has an old template and has not been ready for 120s: an ordered update "
        "waits for it",
        "compute instances delete web-home-dfw-0",
    )  # fmt: skip
    assert "order" not in dict(details(None, *new))
    assert "order" not in dict(details(paused(asked()), *stale))


def test_a_parallel_update_waits_for_no_instance():
    deployments, instances = waiting(not_ready("Provisioning", since=LONG_AGO), image=OLD)
    scale = deployments[0].spec.scale_settings
    parallel = type(scale)(min_replicas=1, instance_management_policy="Parallel")

    assert "order" not in dict(
        details(None, (with_spec(deployments[0], scale_settings=parallel),), instances)
    )


def test_what_keeps_instances_from_running():
    """Each cause once, with how many instances it is about, and a command that is possible."""
    two = asked(placement("home", "DFW", replicas=3))
    broken = (
        running(0, not_ready("ImageUnavailable", "no such image")),
        running(1, not_ready("ImageUnavailable", "no such image")),
        running(2, not_ready("InstanceCrashing", "")),
    )
    here = (given(3, counters=NOTHING_RUNS),)

    assert [f[:3] for f in found(two, here, broken)] == [
        ("images", "failed", "2 instances in DFW: no such image"),
        ("crashes", "failed", "1 instance in DFW: The program starts and exits again and again"),
    ]


def test_the_cure_is_possible():
    """An undo is named only if there is something to go back to."""
    crashing = waiting(not_ready("InstanceCrashing", "exit code 1"))
    config = waiting(not_ready("ConfigurationError", "secret db is missing"))

    assert found(None, *crashing)[0][3] == EVENTS
    assert found(None, *crashing, history=FORBIDDEN)[0][3] == EVENTS
    assert found(None, *crashing, history=None)[0][3] == EVENTS
    assert found(None, *config)[0] == (
        "configuration", "failed", "1 instance in DFW: secret db is missing", "compute deploy web",
    )  # fmt: skip


def test_a_city_that_is_blocked_for_another_cause():
    short = waiting(
        not_ready("PendingQuota", "", since=LONG_AGO), quota("QuotaExceeded", "vcpus: 1 asked for")
    )
    unknown = given(
        1, unavailable("Strange", "who knows", since=NOW), counters={"ready_replicas": 0}
    )

    ((check, status, detail, cure),) = found(None, *short)
    assert (check, status, cure) == ("serving", "failed", "compute quota")
    assert detail == "DFW is blocked: web-home-dfw-0: vcpus: 1 asked for"
    assert not details(None, (unknown,), ())


def test_a_change_that_has_not_reached_the_city():
    old = with_metadata(asked(), managed_fields=(written("kubectl", 3 * MINUTE),))
    new = with_metadata(asked(), managed_fields=(written("kubectl"),))

    assert found(old, (), ()) == [
        (
            "serving", "failed", "DFW: for 180s there is no deployment for the city yet", EVENTS,
        )
    ]  # fmt: skip
    assert not found(new, (), ())
    assert not found(asked(), (), ())


def test_an_instance_that_does_not_start_for_no_cause():
    slow = waiting(not_ready("ProgrammingInProgress", "setting up.", since=LONG_AGO))
    silent = waiting(not_ready("Provisioning", "", since=LONG_AGO))
    new = waiting(not_ready("Provisioning", "", since=NOW))

    assert found(None, *slow) == [
        (
            "serving", "failed",
            "DFW: 1 instance not ready for 120s: setting up",
            "compute instances describe web-home-dfw-0",
        )
    ]  # fmt: skip
    assert found(None, *silent)[0][2].endswith("not ready for 120s: Provisioning")
    assert not found(None, *new)


def test_a_paused_city_is_judged_by_its_instances():
    """An old Instance without a ready image is named once, by the check of images."""
    stale = (running(0, not_ready("ImageUnavailable", "no such image", since=LONG_AGO), image=OLD),)

    assert [
        check for check, _ in details(paused(asked()), (given(1, condition("Available")),), stale)
    ] == ["images"]
