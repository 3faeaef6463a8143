"""From a project to the hub."""

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api import annotations, finalizers, labels, names
from compute.decide.federation import (
    DeleteHub,
    ProjectNamespace,
    Refused,
    ReleaseFinalizer,
    WaitFor,
    deployment_due,
    finalization,
    hub_deployment,
    hub_namespace,
    identity,
    is_copy,
    namespace_due,
    prepared,
)
from compute.decide.writes import Create, Update
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import NOW, template
from tests.support.compute.federation_builders import (
    HUB_NAMESPACE,
    PROJECT,
    labelled,
    namespace,
    on_hub,
    original,
    with_meta,
)


def test_a_hub_namespace_says_what_it_stands_for():
    """It is named by the project namespace's uid, and can be read back."""
    got = hub_namespace(PROJECT, namespace())

    assert got.metadata == ObjectMeta(
        name="ns-1",
        labels={
            labels.UPSTREAM_CLUSTER: "cluster-shop",
            labels.UPSTREAM_NAMESPACE: "default",
        },
    )
    assert identity(got) == ProjectNamespace(PROJECT, "default")


@pytest.mark.parametrize(
    "known",
    [
        pytest.param({}, id="no labels"),
        pytest.param({"UPSTREAM_CLUSTER": "cluster-shop"}, id="no namespace"),
        pytest.param({"UPSTREAM_NAMESPACE": "default"}, id="no project"),
        pytest.param(
            {"UPSTREAM_CLUSTER": "shop", "UPSTREAM_NAMESPACE": "default"}, id="no encoded name"
        ),
        pytest.param(
            {"UPSTREAM_CLUSTER": "cluster-", "UPSTREAM_NAMESPACE": "default"}, id="an empty name"
        ),
    ],
)
def test_an_identity_is_never_guessed(known):
    """A namespace whose labels do not say what it stands for stands for nothing."""
    assert identity(labelled(namespace("ns-1"), **known)) is None


def test_a_hub_namespace_is_created_and_repaired():
    """A missing namespace is made, lost labels are put back, labels of others stay."""
    desired = hub_namespace(PROJECT, namespace())
    bare = with_meta(desired, labels={"other": "label"})

    assert namespace_due(None, desired) == Create(desired)
    assert namespace_due(bare, desired) == Update(
        bare, with_meta(desired, labels={"other": "label"} | desired.metadata.labels)
    )
    assert namespace_due(desired, desired) is None
    assert namespace_due(with_meta(bare, deletion_timestamp=NOW), desired) is None


def test_the_way_back_is_recorded_before_anything_is_sent():
    """Finalizer and hub namespace are on the deployment before the hub holds anything of it."""
    fresh = original(finalizers=("other",), annotations={"other": "note"})
    got = prepared(fresh, "ns-1")

    assert got is not None
    assert got.existing == fresh
    assert got.desired.metadata.finalizers == ("other", finalizers.FEDERATOR)
    assert got.desired.metadata.annotations == {
        "other": "note",
        annotations.FEDERATION_NAMESPACE: "ns-1",
    }
    assert prepared(got.desired, "ns-1") is None


def test_the_hub_gets_the_deployment_with_its_city():
    """Same name and spec; labels say which city, and where it comes from."""
    of = original(
        city="Dfw", labels={"theirs": "x"}, annotations={annotations.SUSPENDED: "true", "own": "x"}
    )
    got = hub_deployment(of, PROJECT, HUB_NAMESPACE)

    assert not isinstance(got, Refused)
    assert got.metadata == ObjectMeta(
        name="web-home-dfw",
        namespace="ns-1",
        labels={
            labels.TOPOLOGY_CITY_CODE: "Dfw",
            labels.UPSTREAM_CLUSTER: "cluster-shop",
            labels.UPSTREAM_NAMESPACE: "default",
            labels.WORKLOAD_UID: "uid-web",
        },
        annotations={annotations.SUSPENDED: "true"},
    )
    assert got.spec == of.spec


@pytest.mark.parametrize("city", ["", "new york", "x" * 64])
def test_a_city_that_cannot_choose_a_cell_is_refused(city):
    """An empty label would match the wrong cells, an invalid one would always be refused."""
    got = hub_deployment(original(city=city), PROJECT, HUB_NAMESPACE)

    assert isinstance(got, Refused)
    assert f"spec.cityCode {city!r}" in got.why


def test_w19_an_error_in_referenced_data_travels_to_the_cell():
    """What the project knows of missing data is among the annotations that are mirrored."""
    error = {annotations.REFERENCED_DATA_ERROR: '{"reason":"SourceNotFound"}'}

    assert on_hub(original(annotations=error)).metadata.annotations == error


def test_a_mirrored_annotation_goes_when_it_is_gone():
    """Absence is mirrored too, and the engine's own marks are left alone."""
    engine = {"propagationpolicy.karmada.io/name": "city-dfw"}
    stored = on_hub(annotations=engine | {annotations.SUSPENDED: "true"}, labels={"engine": "x"})
    got = deployment_due(stored, on_hub())

    assert isinstance(got, Update)
    assert got.existing == stored
    assert got.desired.metadata.annotations == engine
    assert got.desired.metadata.labels == {"engine": "x"} | on_hub().metadata.labels


def test_a_changed_spec_reaches_the_hub():
    """The hub's deployment is made, follows the project's, and is left alone when equal."""
    desired = on_hub()
    spec = msgspec.structs.replace(desired.spec, template=template("registry.test/web:2"))
    newer = msgspec.structs.replace(desired, spec=spec)

    assert deployment_due(None, desired) == Create(desired)
    assert deployment_due(desired, newer) == Update(desired, newer)
    assert deployment_due(with_meta(desired, deletion_timestamp=NOW), newer) is None


TEXTS = st.dictionaries(
    st.sampled_from([*annotations.MIRRORED, "other/one", "other/two"]), st.text(max_size=3)
)


@given(TEXTS, TEXTS, TEXTS)
def test_sending_twice_is_sending_once(ours, theirs, known):
    """After the write nothing differs, and what others wrote is still there."""
    desired = on_hub(original(annotations=ours))
    stored = on_hub(annotations=theirs, labels=known)
    due = deployment_due(stored, desired)
    after = due.desired if due else stored

    assert deployment_due(after, desired) is None
    assert {k: v for k, v in theirs.items() if k not in annotations.MIRRORED}.items() <= (
        after.metadata.annotations.items()
    )
    assert {k: v for k, v in after.metadata.annotations.items() if k in annotations.MIRRORED} == {
        k: v for k, v in ours.items() if k in annotations.MIRRORED
    }


@pytest.mark.parametrize(
    ("hub", "expected"),
    [
        pytest.param(on_hub(), DeleteHub("hub-web-home-dfw"), id="still there"),
        pytest.param(
            on_hub(deletion_timestamp=NOW),
            WaitFor("the hub is still removing ns-1/web-home-dfw"),
            id="on its way out",
        ),
        pytest.param(None, ReleaseFinalizer(), id="gone"),
        pytest.param(
            labelled(on_hub(), UPSTREAM_CLUSTER="cluster-other"), ReleaseFinalizer(), id="foreign"
        ),
    ],
)
def test_w24_the_finalizer_goes_when_the_hub_holds_nothing_any_more(hub, expected):
    """Asking for the deletion is not enough: the hub's object must be gone."""
    assert finalization(original(deletion_timestamp=NOW), hub, PROJECT) == expected


@pytest.mark.parametrize(
    ("hub", "expected"),
    [
        pytest.param(on_hub(), True, id="ours"),
        pytest.param(labelled(on_hub(), UPSTREAM_CLUSTER=None), True, id="made by the original"),
        pytest.param(labelled(on_hub(), UPSTREAM_NAMESPACE="other"), False, id="of elsewhere"),
        pytest.param(labelled(on_hub(), UPSTREAM_NAMESPACE=None), False, id="of nowhere"),
        pytest.param(on_hub(original("other")), False, id="of another deployment"),
    ],
)
def test_a_copy_is_known_by_where_it_comes_from(hub, expected):
    """Another project's deployment of the same name is not touched, whatever an annotation says."""
    assert is_copy(hub, original(), PROJECT) is expected


def test_the_longest_project_name_still_fits():
    """Names are joined across planes by labels, so a name that fits one must fit all."""
    longest = names.cluster("p" * 55)

    assert identity(hub_namespace(longest, namespace())) == ProjectNamespace(longest, "default")
