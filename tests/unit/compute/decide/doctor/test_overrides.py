"""The checks of annotations for cities and Instances, and of restarts."""

import pytest

from compute.api import annotations
from compute.decide.deployment.template import restamped
from compute.decide.doctor import Fix
from compute.decide.doctor.override_checks import override_checks, restarts_check
from compute.decide.overrides import paused, restarted
from kubekit.api.meta import with_metadata, with_spec, with_status
from tests.support.compute.builders import NOW
from tests.support.compute.doctor_builders import FORBIDDEN, bad, facts, recorded, said
from tests.support.compute.progress_builders import asked, given

STAMP = "2026-06-01T11:00:00Z"


def noted(**known):
    keys = {name: getattr(annotations, name) for name in known}
    return with_metadata(asked(), annotations={keys[name]: known[name] for name in known})


@pytest.mark.parametrize(
    ("known", "detail"),
    [
        ({}, "none are set"),
        ({"PAUSED_CITIES": "DFW"}, "all of them hold: paused-cities"),
        (
            {"REPLACED_INSTANCES": f'{{ "web-home-dfw-0": "{STAMP}" }}'},
            "all of them hold: replaced-instances",
        ),
    ],
)
def test_overrides_that_hold(known, detail):
    (found,) = override_checks(noted(**known))

    assert said(found) == ("passed", detail, "")


def test_entries_without_an_effect():
    (found,) = override_checks(
        noted(PAUSED_CITIES="DFW, FRA", RESTARTED_CITIES=f'{{"FRA":"{STAMP}"}}')
    )

    assert said(found) == (
        "warning",
        "entries without an effect in the annotations paused-cities, restarted-cities",
        "compute doctor web --fix",
    )
    assert found.fix is Fix.PRUNE_OVERRIDES


def test_values_that_cannot_be_read():
    ((_, status, detail, cure),) = bad(override_checks(noted(RESTARTED_CITIES="now")))

    assert (status, cure) == ("failed", "compute explain workload/web")
    assert "restarted-cities" in detail
    assert detail.endswith(": it has no effect")


def stamped(of, stamp=STAMP):
    return with_spec(of, template=restamped(of.spec.template, stamp))


def test_a_restart_that_is_lost_in_a_city():
    restarting = stamped(asked())

    assert said(restarts_check(facts(restarting))) == (
        "failed",
        "the restart stamp is lost in DFW: another client changed the deployment there",
        "compute rollout restart web",
    )


def test_restarts_that_are_not_lost():
    """One has arrived, one is not observed yet, one waits for a pause, one is no longer wanted."""
    arrived = facts(stamped(asked()), (stamped(given()),))
    fresh = with_status(restarted(asked(), (), NOW), observed_generation=1)
    held = paused(stamped(asked()))
    elsewhere = facts(stamped(asked()), (stamped(given()), given(city="LHR")))

    for known in (arrived, facts(fresh), facts(held), elsewhere):
        assert restarts_check(known).status.value == "passed"


def test_a_restart_that_a_deploy_dropped():
    now = asked()
    known = recorded(now, stamped(now))
    found = restarts_check(facts(now, history=known))
    nameless = restarts_check(facts(now, history=recorded(now, stamped(now), actor="")))

    assert said(found) == (
        "warning",
        "revision 2 dropped the restart stamp of revision 1, by ana, which replaces every instance",
        "compute rollout history web",
    )
    assert ", by" not in nameless.detail


def test_no_restart_was_dropped():
    now = asked()
    unread = restarts_check(facts(now, history=FORBIDDEN))
    never = restarts_check(facts(now, history=recorded(now, with_spec(now, placements=()))))

    assert unread.status.value == never.status.value == "passed"
