"""Revisions: recorded, listed, marked healthy, and gone back to."""

import json

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api import annotations
from compute.api.compute import Workload, WorkloadSpec
from compute.decide.deployment.template import restamped, template_hash
from compute.decide.workload import history
from compute.decide.workload.history import Refusal, RevisionStatus, Undo
from kubekit.api.kinds.core import ConfigMap
from tests.support.compute.builders import NOW, placement, template, workload


def version(number: int, replicas: int = 1) -> Workload:
    return workload("web", placement(replicas=replicas), template=template(f"web:{number}"))


def recorded(*versions: Workload, healthy: tuple[int, ...] = ()) -> ConfigMap:
    """The history after these specs, one after the other; those at ``healthy`` served."""
    kept: ConfigMap | None = None
    for position, each in enumerate(versions, 1):
        kept = history.record(kept, each, "jo@example.test", NOW) or kept
        assert kept is not None
        if position in healthy:
            kept = history.mark_healthy(kept, NOW) or kept
    assert kept is not None
    return kept


def test_the_first_revision_is_written_in_the_originals_format():
    """One key per revision; the value is a JSON document with the whole spec as text in it."""
    kept = recorded(version(1))
    document = json.loads(kept.data["1"])

    assert kept.metadata.name == "compute.datumapis.com-revision-history.web"
    assert kept.metadata.namespace == "default"
    assert kept.metadata.annotations == {annotations.CURRENT_REVISION: "1"}
    assert [o.name for o in kept.metadata.owner_references] == ["web"]
    assert msgspec.json.decode(document.pop("spec"), type=WorkloadSpec) == version(1).spec
    assert document == {
        "rev": 1,
        "timestamp": "2026-06-01T12:00:00Z",
        "image": "web:1",
        "changes": "initial deploy",
        "actor": "jo@example.test",
        "templateHash": template_hash(version(1).spec.template),
    }


def test_every_change_of_the_spec_is_recorded_once():
    """A new image and a new scale are revisions; the same spec again is not."""
    kept = recorded(version(1), version(2), version(2, replicas=3), version(2, replicas=3))

    assert [r.changes for r in history.revisions(kept)] == [
        "initial deploy",
        "image: web:1 → web:2",
        "min replicas: 1 → 3",
    ]
    assert history.record(kept, version(2, replicas=3), "", NOW) is None


def test_going_back_is_recorded_as_such():
    """A template that was there before is a rollback, whatever its author."""
    kept = recorded(version(1), version(2), version(1), healthy=(1,))

    assert [(e.revision.rev, e.status, e.revision.changes) for e in history.entries(kept)] == [
        (3, RevisionStatus.ACTIVE, "rollback to rev #1"),
        (2, RevisionStatus.ROLLED_BACK, "image: web:1 → web:2"),
        (1, RevisionStatus.SUPERSEDED, "initial deploy"),
    ]


def test_a_revision_that_never_served_has_failed():
    """A superseded revision that was never healthy is listed as failed."""
    kept = recorded(version(1), version(2), version(3), healthy=(1, 3))

    assert [e.status for e in history.entries(kept)] == [
        RevisionStatus.ACTIVE,
        RevisionStatus.FAILED,
        RevisionStatus.SUPERSEDED,
    ]


def test_a_revision_is_marked_healthy_once():
    """The first moment of health is kept, and marking again writes nothing."""
    kept = recorded(version(1), healthy=(1,))

    assert history.revisions(kept)[0].healthy_at == "2026-06-01T12:00:00Z"
    assert history.mark_healthy(kept, NOW) is None
    assert history.mark_healthy(ConfigMap(), NOW) is None


def test_twenty_revisions_are_kept():
    """The lowest number goes first, and numbers are never used again."""
    kept = recorded(*(version(n) for n in range(1, 24)))

    assert [r.rev for r in history.revisions(kept)] == list(range(4, 24))
    assert list(kept.data) == [str(n) for n in range(4, 24)]


def test_a_history_never_outgrows_its_object():
    """Large specs leave room for fewer revisions; the newest always fits in."""
    large = [
        workload("web", template=template(f"web:{n}", annotations={"note": "x" * 250_000}))
        for n in range(6)
    ]
    kept = recorded(*large)

    assert sum(map(len, kept.data.values())) <= history.BYTES_KEPT
    assert [r.rev for r in history.revisions(kept)] == [4, 5, 6]


def test_what_cannot_be_read_is_kept_and_passed_over():
    """Damaged values and foreign keys stay in the ConfigMap and spoil nothing."""
    kept = recorded(version(1))
    strange = kept.data | {"2": "{not json", "note": "mine", "7": kept.data["1"]}
    kept = msgspec.structs.replace(kept, data=strange)
    after = history.record(kept, version(2), "", NOW)

    assert [r.rev for r in history.revisions(kept)] == [1]
    assert after is not None
    assert {"note": "mine", "7": kept.data["1"]}.items() <= after.data.items()


def test_a_damaged_spec_does_not_stop_the_history():
    """When the last spec cannot be read, the next change is recorded all the same."""
    kept = recorded(version(1))
    broken = msgspec.structs.replace(history.revisions(kept)[0], spec="{")
    kept = msgspec.structs.replace(kept, data={"1": msgspec.json.encode(broken).decode()})
    after = history.record(kept, version(2), "", NOW)

    assert history.revisions(after)[-1].changes == "earlier spec unreadable"
    assert history.undo(after, version(2).spec, to=1) == Refusal(
        "revision 1 cannot be read: its spec is damaged"
    )


def test_the_annotation_names_the_active_revision():
    """A reader that moved the mark is believed; without a mark the newest is active."""
    kept = recorded(version(1), version(2))
    moved = msgspec.structs.replace(
        kept,
        metadata=msgspec.structs.replace(
            kept.metadata, annotations={annotations.CURRENT_REVISION: "1"}
        ),
    )
    bare = msgspec.structs.replace(
        kept, metadata=msgspec.structs.replace(kept.metadata, annotations={})
    )

    assert [getattr(history.current(h), "rev", None) for h in (moved, bare, None)] == [1, 2, None]


def test_undo_goes_to_the_newest_healthy_revision():
    """Failed revisions are skipped, and only the template goes back."""
    kept = recorded(version(1), version(2), version(3), version(4, replicas=5), healthy=(1, 2))
    got = history.undo(kept, version(4, replicas=5).spec)

    assert isinstance(got, Undo)
    assert got.revision.rev == 2
    assert got.spec == version(2, replicas=5).spec
    assert got.changes == ("image: web:4 → web:2",)


def test_undo_of_the_whole_spec_takes_scale_and_placements_along():
    """Asked for the whole spec, it restores the numbers too."""
    kept = recorded(version(1), version(2, replicas=5), healthy=(1,))
    got = history.undo(kept, version(2, replicas=5).spec, whole=True)

    assert isinstance(got, Undo)
    assert got.spec == version(1).spec
    assert got.changes == ("min replicas: 5 → 1", "image: web:2 → web:1")


def test_undo_passes_over_revisions_of_the_same_template():
    """After a mere scaling, the revision before it has nothing to go back to."""
    kept = recorded(version(1), version(2), version(2, replicas=3), healthy=(1, 2, 3))
    got = history.undo(kept, version(2, replicas=3).spec)

    assert isinstance(got, Undo)
    assert got.revision.rev == 1


def test_undo_passes_over_restarts():
    """A restart changes nothing that could be undone: the revision before it is no other one."""
    restarted = version(2)
    stamped = restamped(restarted.spec.template, "2026-06-01T12:00:00Z")
    restarted = workload("web", placement(), template=stamped)
    kept = recorded(version(1), version(2), restarted, healthy=(1, 2, 3))
    got = history.undo(kept, restarted.spec)

    assert isinstance(got, Undo)
    assert got.revision.rev == 1
    assert isinstance(history.undo(kept, restarted.spec, to=2), Undo)


def test_undo_of_a_change_that_is_not_recorded_yet():
    """The user may be quicker than the controller: the active revision is the one to go back to."""
    kept = recorded(version(1), healthy=(1,))
    got = history.undo(kept, version(2).spec)

    assert isinstance(got, Undo)
    assert got.revision.rev == 1


def test_undo_below_a_revision():
    """A city that runs an earlier revision goes further back, never forward."""
    kept = recorded(version(1), version(2), version(3), healthy=(1, 2, 3))
    got = history.undo(kept, version(2).spec, before=2)

    assert isinstance(got, Undo)
    assert got.revision.rev == 1
    assert history.undo(kept, version(1).spec, before=1) == Refusal(
        "no earlier revision ever became healthy; name one with --to-revision"
    )


def test_undo_of_a_mere_scaling():
    """No earlier template differs, so there is nothing to go back to, healthy or not."""
    kept = recorded(version(1), version(1, replicas=3), healthy=(1, 2))

    assert history.undo(kept, version(1, replicas=3).spec) == Refusal(
        "every earlier healthy revision has the template that it has now"
    )


def test_undo_refuses_with_a_reason():
    """Nothing recorded, nothing earlier, nothing healthy, unknown or same revision: each is said."""
    first, second = recorded(version(1)), recorded(version(1), version(2))
    spec = version(2).spec

    assert history.undo(None, spec) == Refusal("the workload has no history yet")
    assert history.undo(first, spec) == Refusal(
        "revision 1 is the first: there is nothing before it"
    )
    assert history.undo(second, spec) == Refusal(
        "no earlier revision ever became healthy; name one with --to-revision"
    )
    assert history.undo(second, spec, to=9) == Refusal("there is no revision 9; known: 1, 2")
    assert history.undo(second, spec, to=2) == Refusal("the workload is at revision 2 already")
    assert isinstance(history.undo(second, spec, to=1), Undo)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=30))
def test_the_newest_revision_is_always_the_spec(steps):
    """Whatever was deployed in whatever order, the active revision is what was deployed last."""
    kept = recorded(*(version(n, replicas) for n, replicas in steps))
    active = history.current(kept)

    assert active is not None
    assert history.spec_of(active) == version(*steps[-1]).spec
    assert len(history.revisions(kept)) <= history.KEPT


def test_going_back_and_scaling_at_once_says_both():
    """A template that returns is a rollback; what changed besides is listed as well."""
    kept = recorded(version(1), version(2), version(1, replicas=3))

    assert history.revisions(kept)[-1].changes == "rollback to rev #1; min replicas: 1 → 3"
    assert [e.status for e in history.entries(kept)][1] is RevisionStatus.ROLLED_BACK


@pytest.mark.parametrize("named", ["", "7", "two", "٢", "9" * 5000], ids=lambda text: text[:4])
def test_an_annotation_that_names_no_revision_is_passed_over(named):
    """Users can edit the annotation; whatever it says, the newest revision is then the active one."""
    kept = recorded(version(1), version(2))
    meta = msgspec.structs.replace(kept.metadata, annotations={annotations.CURRENT_REVISION: named})
    active = history.current(msgspec.structs.replace(kept, metadata=meta))

    assert active is not None
    assert active.rev == 2
