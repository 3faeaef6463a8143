"""From the hub to the project."""

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api import labels
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.decide.federation import Projected, Waiting, hub_instance, project, projection
from compute.decide.writes import Create, Delete, Update
from kubekit.api.meta import ObjectMeta, OwnerReference
from tests.support.compute.builders import NOW, condition, instance, instance_spec
from tests.support.compute.federation_builders import (
    CELL,
    IDENTITY,
    applied,
    cell_instance,
    labelled,
    original,
    with_meta,
)

OWNER = original()
READY = condition(ConditionType.READY)


def copy(ordinal: int = 0, name: str = "web-home-dfw", **changes) -> Instance:
    """A copy on the hub."""
    of = cell_instance(ordinal, name, **changes)
    made = hub_instance(of, IDENTITY, CELL)
    assert isinstance(made, Instance)
    return with_meta(made, uid=f"copy-{ordinal}")


def shown(of: Instance | None = None, **meta) -> Instance:
    """A projection as the project keeps it."""
    return with_meta(projection(of or copy(), OWNER), **({"uid": "shown"} | meta))


def test_a_projection_belongs_to_the_projects_deployment():
    """Labels are the copy's, except for the uid, which is the one the project knows."""
    of = labelled(copy(conditions=(READY,)))
    got = projection(with_meta(of, labels=of.metadata.labels | {"karmada.io/x": "y"}), OWNER)

    assert got.metadata == ObjectMeta(
        name="web-home-dfw-0",
        namespace="default",
        labels=of.metadata.labels | {labels.DEPLOYMENT_UID: "uid-web-home-dfw"},
        owner_references=(
            OwnerReference(
                api_version="compute.datumapis.com/v1alpha",
                kind="WorkloadDeployment",
                name="web-home-dfw",
                uid="uid-web-home-dfw",
            ),
        ),
    )
    assert (got.spec, got.status) == (of.spec, of.status)


def test_a_copy_is_shown():
    """What the hub holds and the project does not is made."""
    assert project([copy()], [], [OWNER]) == Projected((Create(projection(copy(), OWNER)),))


def test_w33_a_projection_goes_with_its_copy():
    """After a scale-down the removed ordinals vanish from the project."""
    gone = shown(copy(1))
    got = project([copy(0)], [shown(), gone], [OWNER])

    assert got == Projected((Delete(gone),))
    assert project([with_meta(copy(), deletion_timestamp=NOW)], [shown()], [OWNER]) == Projected(
        (Delete(shown()),)
    )


def test_w34_nothing_is_written_when_nothing_changed():
    """Equal statuses are not written, in whatever order, nor is a deletion repeated."""
    one, other = READY, condition(ConditionType.AVAILABLE)
    stored = shown(copy(conditions=(one, other)))

    assert project([copy(conditions=(other, one))], [stored], [OWNER]) == Projected()
    assert project([], [shown(deletion_timestamp=NOW)], [OWNER]) == Projected()


@pytest.mark.parametrize(
    "edited",
    [
        pytest.param(labelled(shown(), INSTANCE_INDEX="7"), id="a label"),
        pytest.param(labelled(shown(), UPSTREAM_CLUSTER=None), id="a label taken off"),
        pytest.param(shown(owner_references=()), id="the owner"),
        pytest.param(
            shown(
                owner_references=(
                    *shown().metadata.owner_references,
                    OwnerReference(api_version="v1", kind="ConfigMap", name="x", uid="x"),
                )
            ),
            id="a second owner",
        ),
        pytest.param(msgspec.structs.replace(shown(), spec=instance_spec("mine")), id="the spec"),
        pytest.param(
            msgspec.structs.replace(shown(), status=copy(conditions=(READY,)).status),
            id="the status",
        ),
    ],
)
def test_w35_what_a_user_changes_is_put_back(edited):
    """A projection is a view: it says what the hub says."""
    assert project([copy()], [edited], [OWNER]) == Projected((Update(edited, shown()),))


def test_w35_a_projection_a_user_deleted_is_made_again():
    """Once it is gone; until then it is waited for."""
    going = shown(deletion_timestamp=NOW)

    assert project([copy()], [going], [OWNER]) == Projected()


def test_w36_labels_go_too():
    """A label of ours that the copy no longer has is taken off; a user's own stays."""
    stored = with_meta(
        shown(),
        labels=shown().metadata.labels | {"compute.datumapis.com/old": "x", "team": "a"},
    )
    (got,) = project([copy()], [stored], [OWNER]).writes

    assert isinstance(got, Update)
    assert got.desired.metadata.labels == shown().metadata.labels | {"team": "a"}


def test_w37_a_copy_waits_for_its_deployment():
    """Without an owner nothing is shown, and the wait is for the deployment, not for a time."""
    assert project([copy()], [], []) == Projected(
        waiting=(
            Waiting("web-home-dfw-0", "deployment default/web-home-dfw is not in the project"),
        )
    )


def test_w37_a_copy_without_identity_waits_for_its_labels():
    """A copy that does not say where it belongs is shown nowhere."""
    lost = labelled(copy(), UPSTREAM_NAMESPACE=None)
    stray = with_meta(labelled(copy(), DEPLOYMENT_NAME=None), name="stray")

    assert [w.why for w in project([lost, stray], [], [OWNER]).waiting] == [
        "its labels do not name its deployment"
    ] * 2


def test_an_old_copy_is_known_by_its_name():
    """The original's copies may lack the deployment's name; their own name tells it."""
    old = labelled(copy(), DEPLOYMENT_NAME=None)

    assert project([old], [], [OWNER]) == Projected((Create(projection(old, OWNER)),))


def test_a_projection_whose_deployment_is_gone_goes():
    """No projection is ever without its owner, even while the hub still holds the copy."""
    got = project([copy()], [shown()], [])

    assert got.writes == (Delete(shown()),)


def test_a_deployment_that_was_made_again_owns_the_projections():
    """The owner is the deployment that exists now, found by its name."""
    again = original(uid="again")
    (got,) = project([copy()], [shown()], [again]).writes

    assert isinstance(got, Update)
    assert [o.uid for o in got.desired.metadata.owner_references] == ["again"]
    assert got.desired.metadata.labels[labels.DEPLOYMENT_UID] == "again"


def test_a_deployment_that_is_going_shows_its_last_instances():
    """They are kept up to date to the end, but no new ones appear."""
    going = original(deletion_timestamp=NOW)
    ready = copy(conditions=(READY,))

    assert project([ready], [], [going]) == Projected()
    assert project([ready], [shown()], [going]) == Projected((Update(shown(), shown(ready)),))


def test_instances_of_others_are_left_alone():
    """An Instance without a copy and without a plain owner was not created by us."""
    (plain,) = shown().metadata.owner_references
    handmade = instance(5, namespace="default")
    controlled = instance(
        6,
        namespace="default",
        owner_references=(msgspec.structs.replace(plain, controller=True),),
    )
    foreign = instance(
        7,
        namespace="default",
        owner_references=(msgspec.structs.replace(plain, kind="ConfigMap"),),
    )

    assert project([], [handmade, controlled, foreign], [OWNER]) == Projected()


def test_one_sign_is_enough_to_know_a_projection():
    """A user who takes off either the label or the owner does not keep a ghost."""
    unlabelled = labelled(shown(), UPSTREAM_CLUSTER=None)
    ownerless = shown(owner_references=())

    assert project([], [unlabelled], [OWNER]) == Projected((Delete(unlabelled),))
    assert project([], [ownerless], [OWNER]) == Projected((Delete(ownerless),))


ORDINALS = st.sets(st.integers(0, 3))
NAMES = ["web-home-dfw", "api-home-lhr"]


@given(ORDINALS, ORDINALS, st.sets(st.sampled_from(NAMES)), st.booleans())
def test_projecting_settles(copied, projected, deployed, touched):
    """After the writes the project shows exactly the copies that have an owner, each owned by it."""
    copies = [copy(o, name, conditions=(READY,)) for name in NAMES for o in copied]
    owners = [original(name) for name in deployed]
    before = [
        with_meta(projection(copy(o, name), original(name)), uid=f"{name}-{o}")
        for name in NAMES
        for o in projected
    ]
    stored = [labelled(p, INSTANCE_INDEX="9") if touched else p for p in before]
    first = project(copies, stored, owners)
    held = applied(stored, first.writes)

    assert project(copies, held, owners) == Projected(waiting=first.waiting)
    uids = {o.metadata.uid for o in owners}
    assert all({r.uid for r in p.metadata.owner_references} <= uids for p in held)
    assert {p.metadata.name for p in held} == {
        c.metadata.name for c in copies if c.metadata.labels[labels.DEPLOYMENT_NAME] in deployed
    }
