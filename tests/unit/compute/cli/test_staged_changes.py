"""Changes in stages: the same change on a newer version, and the sentences about what waits."""

import pytest

from compute.api.compute import Workload
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.deploy.staged_changes import (
    StagedChange,
    first_cities,
    newly_paused,
    staged_change,
    stages_note,
    waiting_line,
    ways_on,
)
from compute.cli.exits import Failure
from compute.decide.overrides import paused, paused_cities
from compute.decide.workload_edits.staging import StagingFlags
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object, ObjectMeta, with_spec
from tests.support.compute.builders import placement, template, workload

HOME = placement("home", "DFW", "LHR", "SIN")
BEFORE = workload("web", HOME, template=template("web:1"))


def newer(existing: Object | None) -> Object:
    assert isinstance(existing, Workload)
    return with_spec(existing, template=template("web:2"))


def change(existing: Workload = BEFORE, after: int = 1) -> PlannedChange:
    planned = PlannedChange(existing, newer(existing), newer)
    return staged_change(planned, StagingFlags(after))


def test_a_newer_version_is_staged_alike():
    """Another client has scaled meanwhile: the cities wait as they were shown to wait."""
    scaled = with_spec(BEFORE, placements=(placement("home", "DFW", "LHR", "SIN", replicas=3),))
    made = change().make(scaled)

    assert isinstance(made, Workload)
    assert paused_cities(made) == ("LHR", "SIN")
    assert made.spec.placements == scaled.spec.placements


def test_a_newer_version_that_cannot_be_staged_is_a_failure():
    """Another client has paused the first city: nothing is written."""
    with pytest.raises(Failure, match="web is paused in DFW, so the change would not get there"):
        change().make(paused(BEFORE, ("DFW",)))


def test_other_changes_are_not_staged():
    """Those of other kinds, and all of them where no stages are asked for."""
    settings = ConfigMap(metadata=ObjectMeta(name="settings"))
    other = PlannedChange(None, settings, lambda _: settings)
    plain = PlannedChange(BEFORE, newer(BEFORE), newer)

    assert staged_change(other, StagingFlags(1)) is other
    assert staged_change(plain, None) is plain
    assert (first_cities(plain), newly_paused(plain), stages_note(plain)) == ((), (), "")
    assert (waiting_line(plain), list(ways_on(plain))) == ("", [])


def test_what_waits_and_how_to_continue():
    """With one city left there is one command to continue."""
    assert waiting_line(change()) == "Paused in LHR, SIN, which keep the version that runs there."
    assert list(ways_on(change(after=2))) == [
        "Continue there with: compute rollout resume web --wait",
        "Go back with: compute rollout undo web",
    ]
    assert (
        waiting_line(change(after=2)) == "Paused in SIN, which keeps the version that runs there."
    )
    assert first_cities(change(after=2)) == ("DFW", "LHR")


def test_pauses_of_the_user_are_not_those_of_the_deploy():
    """An undo of the deploy resumes only what the deploy has paused."""
    assert newly_paused(change(paused(BEFORE, ("SIN",)))) == ("LHR",)


def test_where_nothing_waits_the_whole_rollout_is_followed():
    """And the reason is given."""
    everywhere = change(after=3)

    assert isinstance(everywhere, StagedChange)
    assert first_cities(everywhere) == ()
    assert stages_note(everywhere) == (
        "--pause-after pauses nothing: the change reaches all cities of web: DFW, LHR, SIN."
    )
