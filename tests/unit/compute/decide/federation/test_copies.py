"""From a cell to the hub."""

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api import labels
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.decide.federation import Hub, Unlinked, WriteBack, hub_instance, write_back
from compute.decide.writes import Create, Delete, Update
from kubekit.api.meta import ObjectMeta, OwnerReference
from tests.support.compute.builders import NOW, condition, instance_spec
from tests.support.compute.federation_builders import (
    CELL,
    IDENTITY,
    applied,
    cell_instance,
    labelled,
    on_hub,
    original,
    with_meta,
)

OWNER = on_hub()
READY = condition(ConditionType.READY)
AVAILABLE = condition(ConditionType.AVAILABLE)
STOPPING = condition(ConditionType.READY, "False", "Stopping")


def copy_of(of: Instance | None = None, cell: str = CELL, **meta) -> Instance:
    """A copy as the hub keeps it."""
    made = hub_instance(of or cell_instance(), IDENTITY, cell)
    assert isinstance(made, Instance)
    return with_meta(made, **({"uid": f"copy-{made.metadata.name}"} | meta))


def back(instances, *copies: Instance, deployments=(OWNER,)) -> WriteBack:
    return write_back(instances, Hub(deployments, copies), IDENTITY, CELL)


def test_a_copy_has_what_may_leave_the_cell():
    """The listed labels, the cell's name, spec and status; never the template's own labels."""
    of = cell_instance(conditions=(READY,))
    got = hub_instance(of, IDENTITY, CELL)

    assert isinstance(got, Instance)
    assert got.metadata == ObjectMeta(
        name="web-home-dfw-0",
        namespace="ns-1",
        labels={
            labels.UPSTREAM_CLUSTER: "cluster-shop",
            labels.UPSTREAM_NAMESPACE: "default",
            labels.WORKLOAD_UID: "uid-web",
            labels.WORKLOAD_NAME: "web",
            labels.DEPLOYMENT_UID: "cell-uid",
            labels.DEPLOYMENT_NAME: "web-home-dfw",
            labels.PLACEMENT_NAME: "home",
            labels.CITY_CODE: "DFW",
            labels.INSTANCE_INDEX: "0",
            labels.SOURCE_CLUSTER: CELL,
        },
    )
    assert (got.spec, got.status) == (of.spec, of.status)


def test_w63_a_copy_has_no_owner():
    """It outlives the hub's deployment, and blocks no deletion, for which cells have no rights."""
    assert copy_of().metadata.owner_references == ()


def test_a_copy_is_written_to_the_end_without_its_deployment():
    """The user sees the machine stop; but no copy is created that the hub has no deployment of."""
    stopping = cell_instance(conditions=(STOPPING,))
    without = Hub((), (copy_of(),))

    (got,) = write_back((stopping,), without, IDENTITY, CELL).writes
    assert isinstance(got, Update)
    assert got.desired.status.conditions == (STOPPING,)
    assert write_back((stopping,), Hub(), IDENTITY, CELL) == WriteBack()


@pytest.mark.parametrize("missing", ["WORKLOAD_UID", "DEPLOYMENT_NAME", "CITY_CODE"])
def test_a_missing_label_is_an_error_and_not_an_empty_string(missing):
    """An Instance that cannot be linked is named, and the others are copied all the same."""
    bare = labelled(cell_instance(), **{missing: None})
    got = back([bare, cell_instance(1)])

    assert got.unlinked == (Unlinked("web-home-dfw-0", (getattr(labels, missing),)),)
    assert [w.desired.metadata.name for w in got.writes if isinstance(w, Create)] == [
        "web-home-dfw-1"
    ]


def test_an_instance_of_no_deployment_is_not_copied():
    """Without a label and without an ordinal, nothing says whose it is."""
    stray = labelled(cell_instance(), DEPLOYMENT_NAME=None)

    assert back([with_meta(stray, name="stray")]) == WriteBack()


@pytest.mark.parametrize(
    "deployments",
    [(), (on_hub(deletion_timestamp=NOW),), (on_hub(original("other")),)],
    ids=["gone", "going", "another"],
)
def test_nothing_is_copied_without_a_deployment(deployments):
    """What the hub gave up does not come back. What is there is written until it is deleted."""
    ready = cell_instance(conditions=(READY,))

    assert back([ready], deployments=deployments) == WriteBack()
    (written,) = back([ready], copy_of(), deployments=deployments).writes
    assert isinstance(written, Update)


def test_a_copy_is_made_and_follows_its_instance():
    """A missing copy is made; a new spec or status is written; labels of others stay."""
    of = cell_instance()
    stored = with_meta(copy_of(), labels=copy_of().metadata.labels | {"engine": "x"})
    ready = cell_instance(conditions=(READY,))
    spec = msgspec.structs.replace(of.spec, runtime=instance_spec("registry.test/web:2").runtime)
    newer = msgspec.structs.replace(of, spec=spec)

    (made,) = back([of]).writes
    assert isinstance(made, Create)
    assert made.desired == with_meta(copy_of(), uid="")
    assert back([ready], stored).writes == (
        Update(stored, msgspec.structs.replace(stored, status=ready.status)),
    )
    assert back([newer], stored).writes == (
        Update(stored, msgspec.structs.replace(stored, spec=spec)),
    )


def test_the_order_of_conditions_is_no_difference():
    """A status that says the same in another order is not written."""
    stored = copy_of(cell_instance(conditions=(READY, AVAILABLE)))

    assert back([cell_instance(conditions=(AVAILABLE, READY))], stored) == WriteBack()


def test_w16_a_copy_goes_after_its_instance():
    """No finalizer is needed: the copy of an Instance that is gone is found and deleted."""
    stored = copy_of()

    assert back([], stored).writes == (Delete(stored),)
    assert back([], with_meta(stored, deletion_timestamp=NOW)) == WriteBack()


def test_w17_a_terminating_instance_is_still_shown():
    """A user sees the Instance for as long as it exists in the cell."""
    assert back([cell_instance(deletion_timestamp=NOW)], copy_of()) == WriteBack()


def test_w16_copies_of_other_cells_are_left_alone():
    """A cell takes away only what it wrote itself."""
    theirs = copy_of(cell="cell-two")
    originals = labelled(copy_of(), SOURCE_CLUSTER=None)

    assert back([], theirs) == WriteBack()
    assert back([], originals) == WriteBack()


def test_w62_two_cells_do_not_fight_over_a_copy():
    """A copy that another cell wrote is left to it until management assigns it to this one."""
    ready = cell_instance(conditions=(READY,))
    theirs = copy_of(cell="cell-two")

    assert back([ready], theirs) == WriteBack()
    assert back([], theirs) == WriteBack()
    (got,) = back([ready], labelled(theirs, SOURCE_CLUSTER=CELL)).writes
    assert isinstance(got, Update)


def test_a_copy_of_the_original_is_adopted():
    """A copy without a cell gets one. The owner that an earlier release gave it is removed, no other."""
    other = OwnerReference(api_version="v1", kind="ConfigMap", name="x", uid="other")
    owners = (OWNER.reference(controller=True), other)
    old = with_meta(labelled(copy_of(), SOURCE_CLUSTER=None), owner_references=owners)
    (got,) = back([cell_instance()], old).writes

    assert isinstance(got, Update)
    assert got.desired.metadata.labels == copy_of().metadata.labels
    assert got.desired.metadata.owner_references == (other,)
    assert back([cell_instance()], got.desired) == WriteBack()


def test_a_copy_on_its_way_out_is_waited_for():
    """It is created again once it is gone."""
    going = copy_of(deletion_timestamp=NOW)

    assert back([cell_instance(conditions=(READY,))], going) == WriteBack()


ORDINALS = st.sets(st.integers(0, 4))


@given(ORDINALS, ORDINALS, st.sampled_from([CELL, None]))
def test_writing_back_settles(present, copied, writer):
    """After the writes the hub holds exactly the cell's Instances, and nothing more is written."""
    instances = [cell_instance(o, conditions=(READY,)) for o in present]
    copies = [labelled(copy_of(cell_instance(o)), SOURCE_CLUSTER=writer) for o in copied]
    held = applied(copies, back(instances, *copies).writes)

    assert back(instances, *held) == WriteBack()
    kept = {} if writer else {c.metadata.name: c.status for c in copies}
    assert {c.metadata.name: c.status for c in held} == kept | {
        i.metadata.name: i.status for i in instances
    }
