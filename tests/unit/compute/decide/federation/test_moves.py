"""What happens to the former cell's objects when a deployment moves."""

from datetime import timedelta

import pytest

from compute.api import labels, names
from compute.api.karmada_work import (
    ResourceBinding,
    ResourceBindingSpec,
    TargetCluster,
    TemplateRef,
)
from compute.decide import quota
from compute.decide.federation import HANDOVER, MoveStep, chosen_cell, is_of_other, move_step
from compute.decide.writes import Delete, Update
from kubekit.api.meta import ObjectMeta, with_metadata
from tests.support.compute.builders import NOW
from tests.support.compute.federation_builders import cell_instance

NOTHING = MoveStep()
AT_ONCE = timedelta()


def written_by(cell, ordinal=0, **meta):
    """An Instance that bears the name of a cell, or of none."""
    made = cell_instance(ordinal, **meta)
    return with_metadata(made, labels={labels.SOURCE_CLUSTER: cell} if cell else {})


def claimed_by(cell, ordinal=0):
    """The claim of an Instance."""
    return quota.claim(
        cell_instance(ordinal), project="shop", claim_namespace="default", source_cluster=cell
    )


def update(copy, cell):
    """The assignment of a copy, with nothing else changed."""
    own = copy.metadata.labels | {labels.SOURCE_CLUSTER: cell}
    return Update(copy, with_metadata(copy, labels=own))


def binding(*cells):
    reference = TemplateRef(api_version="v1", kind="ConfigMap", name="a", namespace="b")
    targets = tuple(TargetCluster(name=cell) for cell in cells)
    spec = ResourceBindingSpec(resource=reference, clusters=targets)
    return ResourceBinding(metadata=ObjectMeta(name="a"), spec=spec)


@pytest.mark.parametrize(
    ("present", "cell"),
    [(None, None), (binding(), None), (binding("one"), "one"), (binding("one", "two"), None)],
)
def test_a_deployment_is_where_its_binding_says_if_that_is_one_cell(present, cell):
    """With several cells, or none, nothing is known to have moved."""
    assert chosen_cell(present) == cell


def test_a_copy_is_assigned_at_once_if_its_claim_is_released():
    """Other labels stay, and what the new cell wrote itself needs no write."""
    theirs, own = written_by("two"), written_by("one", 1)
    theirs = with_metadata(theirs, labels=theirs.metadata.labels | {"a": "b"})

    step = move_step([theirs, own], [claimed_by("one", 1)], "one", AT_ONCE)

    assert step == MoveStep(copies=(update(theirs, "one"),))


def test_a_copy_with_a_claim_waits_for_the_machine_of_the_former_cell():
    """The others do not wait for it. Its claim is not touched before the time is over."""
    held, free = written_by("two"), written_by("two", 1)

    step = move_step([held, free], [claimed_by("two")], "one", timedelta(minutes=2))

    assert step == MoveStep(copies=(update(free, "one"),), wait=HANDOVER - timedelta(minutes=2))


def test_a_cell_that_does_not_release_its_claims_loses_them():
    """They are deleted as they were read: the cell may do so at the same moment."""
    held, claim = written_by("two"), claimed_by("two")

    step = move_step([held], [claim], "one", HANDOVER)

    assert step == MoveStep((update(held, "one"),), (Delete(claim, unchanged=True),))


def test_what_a_cell_without_a_name_wrote_stays_its_own():
    """Its binding names the Cluster, so the two always differ; taken from the cell, it would never change."""
    unnamed = written_by(names.unnamed_cell("705ab4f5-6393-11e8-b7cc-42010a800002"))

    assert move_step([unnamed], [], "one", HANDOVER) == NOTHING


def test_what_is_of_no_cell_or_being_deleted_is_left_alone():
    """The first was written by another product or by hand; the second is about to be gone."""
    foreign, going = written_by(None), written_by("two", 1, deletion_timestamp=NOW)
    other = with_metadata(claimed_by("two", 2), labels={})

    assert move_step([foreign, going], [other], "one", HANDOVER) == NOTHING
    assert not is_of_other(foreign, "one")
    assert names.claim_instance(other.metadata.name) == "web-home-dfw-2"
