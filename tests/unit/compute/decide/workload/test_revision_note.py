"""The note of a user on a change."""

import pytest

from compute.api import annotations
from compute.decide.workload import history, revision_note
from compute.decide.workload.revision_note import note_of, noted
from kubekit.api.meta import with_metadata, with_spec
from tests.support.compute.builders import NOW, placement, template, workload


def test_a_note_is_of_the_generation_that_the_change_makes():
    """The server counts the generation up once for the change that is noted."""
    existing = workload()
    changed = noted(existing, with_spec(existing, template=template("web:2")), "faster checkout")
    stored = with_metadata(changed, generation=2)

    assert note_of(changed) == ""
    assert note_of(stored) == "faster checkout"
    assert note_of(noted(None, workload(), "first")) == "first"


def test_a_note_never_labels_a_later_change():
    """Another change makes another generation; the history gets its note or none."""
    changed = noted(workload(), workload("web", placement(replicas=2)), "two of them")
    later = with_metadata(changed, generation=3)
    recorded = history.record(None, with_metadata(changed, generation=2), "jo", NOW)
    other = history.record(None, later, "jo", NOW)

    assert recorded is not None
    assert other is not None
    assert [r.note for r in history.revisions(recorded)] == ["two of them"]
    assert [r.note for r in history.revisions(other)] == [""]
    assert '"note"' not in other.data["1"]


def test_a_change_of_nothing_has_no_note():
    """Without a new generation the note would be of an earlier change."""
    assert noted(workload(), workload(), "again") == workload()


@pytest.mark.parametrize("text", ["", "x", "[]", '{"generation":"1","note":1}', "[" * 5000])
def test_a_note_that_cannot_be_read_is_none(text):
    """Anybody may write the annotation."""
    known = {annotations.REVISION_NOTE: text}

    assert note_of(with_metadata(workload(), annotations=known)) == ""


def test_a_long_note_is_cut():
    """The history has a limited size."""
    known = noted(None, workload(), "x" * 1000)

    assert len(note_of(known)) == revision_note.LONGEST
