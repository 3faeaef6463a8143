"""How far Instances are that a user asked to replace."""

from datetime import timedelta

import pytest

from compute.api import annotations
from compute.api.compute import Instance
from compute.decide.instance_replacement import replacement_verdict, replacements
from compute.decide.progress import RolloutSnapshot, RolloutVerdict
from tests.support.compute.builders import NOW
from tests.support.compute.progress_builders import (
    BROKEN,
    given as deployed,
    look,
    not_ready,
    running,
    unavailable,
)

STAMP = "2026-06-01T11:59:00Z"
NEW = {annotations.REPLACED_AT: STAMP}
NAME = "web-home-dfw-0"
LATER = NOW + timedelta(seconds=10)


def seen(*instances: Instance, lost: bool = False) -> RolloutSnapshot:
    reports = (unavailable("CellUnreachable", "no heartbeat"),) if lost else ()
    return look(deployments=(deployed(1, *reports),), instances=instances)


@pytest.mark.parametrize(
    ("snapshot", "text", "verdict"),
    [
        (seen(), "waiting for the new instance", RolloutVerdict.PROGRESSING),
        (seen(running(0)), "waiting for the new instance", RolloutVerdict.PROGRESSING),
        (seen(running(0, BROKEN)), "waiting for the new instance", RolloutVerdict.PROGRESSING),
        (seen(running(0, annotations=NEW)), "Available", RolloutVerdict.DONE),
        (seen(running(0, not_ready(), annotations=NEW)), "Pending (provisioning)", RolloutVerdict.PROGRESSING),
        (seen(running(0, not_ready("QuotaExceeded"), annotations=NEW)), "Pending (quota exceeded)", RolloutVerdict.BLOCKED),
        (seen(running(0, BROKEN, annotations=NEW)), "Failed (image unavailable)", RolloutVerdict.FAILED),
        (seen(running(0), lost=True), "Unreachable (was available)", RolloutVerdict.UNKNOWN),
        (look(instances=(running(0, annotations=NEW),)), "Available", RolloutVerdict.DONE),
    ],
)  # fmt: skip
def test_the_new_instance_counts(snapshot, text, verdict):
    """The old one is on its way out. A cell that does not report can do nothing about it."""
    found = replacements(snapshot, {NAME: STAMP})

    assert [each.text for each in found] == [text]
    assert found[0].is_done is (verdict is RolloutVerdict.DONE)
    assert replacement_verdict(found, snapshot, LATER) is verdict


def test_a_failure_has_a_moment_to_pass():
    """A registry may not answer once."""
    snapshot = seen(running(0, BROKEN, annotations=NEW))
    found = replacements(snapshot, {NAME: STAMP})

    assert replacement_verdict(found, snapshot, NOW) is RolloutVerdict.BLOCKED


def test_the_worst_of_several_decides():
    """One that is still missing keeps all of them waiting."""
    snapshot = seen(running(0, annotations=NEW))
    found = replacements(snapshot, {NAME: STAMP, "web-home-dfw-1": STAMP})

    assert [each.is_done for each in found] == [True, False]
    assert replacement_verdict(found, snapshot, LATER) is RolloutVerdict.PROGRESSING


def test_an_old_snapshot_shows_nothing():
    """What was done or has failed stays so."""
    minutes = NOW + timedelta(minutes=5)
    going, done = seen(running(0)), seen(running(0, annotations=NEW))

    for snapshot, verdict in ((going, RolloutVerdict.UNKNOWN), (done, RolloutVerdict.DONE)):
        found = replacements(snapshot, {NAME: STAMP})
        assert replacement_verdict(found, snapshot, minutes) is verdict
