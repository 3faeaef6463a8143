"""Single Instances that a user asked to replace, and the record of it on their copies."""

import pytest
from msgspec.structs import replace

from compute.api import annotations, labels
from compute.api.compute import Instance
from compute.decide import json_annotations
from compute.decide.deployment import replacements
from compute.decide.federation import hub_instance, projection
from tests.support.compute.builders import deployment, instance
from tests.support.compute.federation_builders import IDENTITY, with_meta

NOON, LATER = "2026-06-01T12:00:00Z", "2026-06-01T13:00:00Z"


def noted(stamp: str | None, **others: str) -> Instance:
    known = {} if stamp is None else {annotations.REPLACED_AT: stamp}
    return instance(annotations=known | others)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ({}, {}),
        ({"web-home-dfw-0": NOON, "web-home-dfw-12": LATER}, {0: NOON, 12: LATER}),
        ({"web-home-lhr-0": NOON, "web-home-dfw": NOON, "web-home-dfw-01": NOON}, {}),
        ({"web-home-dfw-0": "", "web-home-dfw-1": 5}, {}),
    ],
)
def test_the_stamps_of_a_deployment(requests, expected):
    """By slot; of other deployments, and unreadable ones, there are none."""
    text = json_annotations.write(requests)
    owner = deployment(annotations={annotations.REPLACED_INSTANCES: text})
    assert replacements.stamps(owner) == expected


@pytest.mark.parametrize(
    ("recorded", "stamp", "due"),
    [
        (None, None, False),
        (NOON, None, False),
        (None, NOON, True),
        (NOON, NOON, False),
        (NOON, LATER, True),
        (LATER, NOON, True),
    ],
)
def test_an_instance_is_due_while_its_record_is_not_the_stamp_of_its_slot(recorded, stamp, due):
    """Its successor records the stamp, so it is not due."""
    assert replacements.is_due(noted(recorded), stamp) is due
    successor = instance(annotations=replacements.stamped({"a": "b"}, stamp))
    assert not replacements.is_due(successor, stamp)
    assert successor.metadata.annotations["a"] == "b"


@pytest.mark.parametrize("stamp", [None, NOON])
def test_copies_have_the_record_and_no_other_annotation_of_the_cell(stamp):
    """What the cell notes for itself stays there."""
    known = dict.fromkeys(labels.WRITE_BACK, "x")
    there = with_meta(noted(stamp, node="node-1"), labels=known)
    copy = hub_instance(there, IDENTITY, "dfw")
    assert isinstance(copy, Instance)
    expected = {} if stamp is None else {annotations.REPLACED_AT: stamp}
    assert copy.metadata.annotations == expected
    assert projection(copy, deployment()).metadata.annotations == expected


def test_a_copy_follows_the_record_and_keeps_what_others_wrote():
    """A record that is gone in the cell is removed: it would be that of another Instance."""
    theirs = {"example.com/theirs": "x"}
    existing = with_meta(noted(NOON), annotations=theirs | {annotations.REPLACED_AT: NOON})
    assert replacements.copied(existing, noted(LATER)) == theirs | {annotations.REPLACED_AT: LATER}
    assert replacements.copied(existing, noted(None)) == theirs
    bare = replace(existing, metadata=replace(existing.metadata, annotations=theirs))
    assert replacements.copied(bare, noted(None)) == theirs
