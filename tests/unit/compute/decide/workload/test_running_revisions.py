"""Which revision an Instance runs."""

from msgspec.structs import replace

from compute.api.instance_spec import InstanceController
from compute.decide import overrides
from compute.decide.deployment.template import template_hash
from compute.decide.workload import history
from compute.decide.workload.running_revisions import RunningRevision, RunningRevisions
from tests.support.compute.builders import NOW, placement, template, workload
from tests.support.compute.progress_builders import NEW, OLD, running

LHR = "LHR"


def version(image, replicas=1):
    return workload(
        "web", placement("home", "DFW", LHR, replicas=replicas), template=template(image)
    )


def recorded(*versions):
    kept = None
    for each in versions:
        kept = history.record(kept, each, "jo", NOW) or kept
    return kept


HISTORY = recorded(version(OLD), version(NEW), version(NEW, 2))
NEWEST = version(NEW, 2)


def test_the_template_that_is_asked_for_is_the_active_revision():
    """A scaling is a revision too, and changes no Instance."""
    assert RunningRevisions(NEWEST, HISTORY).of(running()) == RunningRevision(3)


def test_an_earlier_template_is_marked():
    """It is the newest revision of that template."""
    found = RunningRevisions(NEWEST, HISTORY).of(running(image=OLD))

    assert found == RunningRevision(1, outdated=True)


def test_a_template_that_no_revision_has():
    """The history keeps twenty revisions only."""
    found = RunningRevisions(NEWEST, HISTORY).of(running(image="registry.test/web:0"))

    assert found == RunningRevision(None, outdated=True)


def test_a_restart_of_a_city_is_no_other_revision():
    """The Instance of before the restart is outdated, that of after it is not."""
    restarted = overrides.restarted(NEWEST, [LHR], NOW)
    fresh = running(city=LHR)
    hash_now = template_hash(overrides.template_for(restarted, LHR))
    controller = InstanceController(template_hash=hash_now)
    after = replace(fresh, spec=replace(fresh.spec, controller=controller))
    revisions = RunningRevisions(restarted, HISTORY)

    assert revisions.of(after) == RunningRevision(3)
    assert revisions.of(fresh) == RunningRevision(3, outdated=True)


def test_a_pinned_city_runs_the_revision_of_its_pin():
    """It is not outdated: the user asked for it there."""
    pinned = overrides.pinned(NEWEST, {LHR: (1, template(OLD))})
    revisions = RunningRevisions(pinned, HISTORY)

    assert revisions.of(running(image=OLD, city=LHR)) == RunningRevision(1)
    assert revisions.of(running(image=OLD)) == RunningRevision(1, outdated=True)


def test_a_pin_without_a_number_has_that_of_its_template():
    """A pin of another client may not name its revision."""
    pinned = overrides.pinned(NEWEST, {LHR: (0, template(OLD))})

    assert RunningRevisions(pinned, HISTORY).of(running(image=OLD, city=LHR)) == RunningRevision(1)


def test_without_a_history_no_number_is_known():
    """The template still shows whether it is the one that is asked for."""
    revisions = RunningRevisions(NEWEST, None)

    assert revisions.of(running()) == RunningRevision(None)
    assert revisions.of(running(image=OLD)) == RunningRevision(None, outdated=True)
