"""Two clients that change one Workload."""

from datetime import timedelta

from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide.workload_edits import DeployFlags, desired
from compute.decide.workload_edits.concurrent_changes import (
    ChangePair,
    is_same_change,
    other_writer,
)
from compute.decide.workload_edits.deploy_flags import Assignment
from kubekit.api.meta import (
    ManagedFieldsEntry,
    ObjectMeta,
    OwnedFields,
    OwnedPart,
    with_metadata,
)
from tests.support.compute.builders import NOW, placement, template, workload


def both(before: Workload, newest: Workload, **flags: object) -> bool:
    """Whether the change of these flags on both versions is the same."""
    given = replace_flags(**flags)
    shown = ChangePair(before, desired(before, given, ObjectMeta()))
    return is_same_change(shown, ChangePair(newest, desired(newest, given, ObjectMeta())))


def replace_flags(**flags: object) -> DeployFlags:
    return DeployFlags(**flags)  # type: ignore[arg-type]  # the tests name the fields


def test_changes_of_different_fields_can_both_stand():
    """A scale and a new image do not touch each other."""
    before = workload()
    scaled = workload("web", placement(replicas=3))
    paused = with_metadata(before, annotations={annotations.PAUSED: "true"})

    assert both(before, scaled, image="web:2")
    assert both(before, paused, image="web:2", labels=(Assignment("tier", "front"),))


def test_changes_of_one_field_cannot():
    """Neither overwrites the other, even where both values are hidden."""
    before = workload()
    other = workload(template=template("web:9"))
    env = (Assignment("A", "1"),)
    with_env = desired(before, DeployFlags(env=(Assignment("A", "2"),)), ObjectMeta())
    labelled = with_metadata(before, labels={"tier": "back"})

    assert not both(before, other, image="web:2")
    assert not both(before, with_env, env=env)
    assert not both(before, labelled, labels=(Assignment("tier", "front"),))
    assert not both(
        before,
        with_metadata(before, annotations={annotations.MAX_UNAVAILABLE: "9"}),
        max_unavailable="2",
    )


def test_a_note_is_no_difference():
    """It names the version that it is written for."""
    noted = with_metadata(workload(), annotations={annotations.REVISION_NOTE: "1"})
    again = with_metadata(workload(), annotations={annotations.REVISION_NOTE: "2"})

    assert is_same_change(ChangePair(workload(), noted), ChangePair(workload(), again))


def test_the_other_writer_is_the_last_that_is_new():
    """Controllers that write the status are not meant."""
    old = ManagedFieldsEntry(manager="compute-cli", time=NOW)
    status = ManagedFieldsEntry(manager="c", time=NOW + timedelta(9), subresource="status")
    first = ManagedFieldsEntry(manager="kubectl-edit", time=NOW + timedelta(1))
    last = replace(first, manager="console", time=NOW + timedelta(2))
    before = with_metadata(workload(), managed_fields=(old,))
    newest = with_metadata(workload(), managed_fields=(old, last, first, status))

    spec = replace(first, manager="jo", fields_v1=OwnedFields(spec=OwnedPart()))
    with_spec = with_metadata(workload(), managed_fields=(old, last, spec))

    assert other_writer(before, newest) == last
    assert other_writer(before, with_spec) == spec
    assert other_writer(with_spec, with_spec) == spec
    assert other_writer(before, before) is None
    assert other_writer(None, before) == old
    assert other_writer(None, with_metadata(before, managed_fields=(replace(old, time=None),)))
