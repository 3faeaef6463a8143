"""Splitting a Workload into deployments."""

from collections.abc import Iterable
from datetime import datetime

import msgspec
from hypothesis import given, strategies as st

from compute.api import annotations, labels
from compute.api.compute import Workload, WorkloadDeployment
from compute.decide.deployment import drains
from compute.decide.workload import placement as subject
from compute.decide.workload.placement import Split, Unmatched
from tests.support.compute.builders import NOW, placement, template, workload

DFW, LHR, NRT = "DFW", "LHR", "NRT"


def split(
    origin: Workload, there: Iterable[WorkloadDeployment], offered: set[str], now: datetime = NOW
) -> Split:
    return subject.split(origin, there, offered, now)


def stored(*deployments: WorkloadDeployment) -> list[WorkloadDeployment]:
    """The deployments as the server gives them back, with fields of its own."""
    return [_with_meta(d, uid=f"uid-{d.metadata.name}", finalizers=("x",)) for d in deployments]


def annotated(origin: Workload, **pairs: str) -> Workload:
    meta = msgspec.structs.replace(origin.metadata, annotations=pairs)
    return msgspec.structs.replace(origin, metadata=meta)


def _with_meta(deployment: WorkloadDeployment, **changes: object) -> WorkloadDeployment:
    meta = msgspec.structs.replace(deployment.metadata, **changes)
    return msgspec.structs.replace(deployment, metadata=meta)


def _named(deployments: tuple[WorkloadDeployment, ...]) -> list[str]:
    return [d.metadata.name for d in deployments]


def test_makes_one_deployment_per_placement_and_city():
    """Every offered city of every placement gets its own deployment, owned by the Workload."""
    origin = workload("web", placement("a", DFW, LHR), placement("b", DFW, replicas=2))
    got = split(origin, [], {DFW, LHR})

    assert _named(got.create) == ["web-a-dfw", "web-a-lhr", "web-b-dfw"]
    last = got.create[2]
    assert last.spec.city_code == DFW
    assert last.spec.placement_name == "b"
    assert last.spec.scale_settings.min_replicas == 2
    assert last.spec.template == origin.spec.template
    assert last.metadata.namespace == "default"
    assert last.metadata.labels == {labels.WORKLOAD_UID: "uid-web"}
    assert [(o.name, o.controller) for o in last.metadata.owner_references] == [("web", True)]


def test_w6_an_unmatched_city_is_reported():
    """A city the project is not offered gets no deployment, and is named."""
    got = split(workload("web", placement("a", DFW, "XXX")), [], {DFW, LHR})

    assert _named(got.create) == ["web-a-dfw"]
    assert got.unmatched == (Unmatched("a", "XXX"),)


def test_w6_no_city_at_all_is_reported_and_stops_nothing():
    """With nothing offered, nothing is made, and what runs is left to run."""
    origin = workload("web", placement("a", DFW, LHR))
    running = stored(*split(origin, [], {DFW}).create)
    got = split(origin, running, set())

    assert got == Split(keep=tuple(running), unmatched=(Unmatched("a", DFW), Unmatched("a", LHR)))


def test_is_at_rest_when_everything_is_as_it_should_be():
    """Fields, labels and annotations of others cause no write."""
    origin = workload("web", placement("a", DFW))
    (made,) = stored(*split(origin, [], {DFW}).create)
    seen = _with_meta(
        made, labels=made.metadata.labels | {"x": "y"}, annotations={"other/key": "theirs"}
    )

    assert split(origin, [seen], {DFW}) == Split(keep=(seen,))


def test_updates_what_differs():
    """A new template reaches the deployment; so does a label that was taken away."""
    origin = workload("web", placement("a", DFW, LHR))
    dfw, lhr = stored(*split(origin, [], {DFW, LHR}).create)
    changed = workload("web", placement("a", DFW, LHR), template=template("registry.test/web:2"))

    got = split(changed, [dfw, lhr], {DFW, LHR})
    assert [u.existing for u in got.update] == [dfw, lhr]
    assert [u.desired.spec.template for u in got.update] == [changed.spec.template] * 2
    bare = _with_meta(dfw, labels={})
    assert [u.existing for u in split(origin, [bare, lhr], {DFW, LHR}).update] == [bare]


def test_an_update_leaves_what_others_wrote():
    """Only spec, own labels and what is handed down change; finalizers and notes of others stay."""
    origin = workload("web", placement("a", DFW))
    (made,) = stored(*split(origin, [], {DFW}).create)
    noted = {annotations.FEDERATION_NAMESPACE: "ns-1", annotations.PAUSED: "true"}
    seen = _with_meta(made, labels={"x": "y"}, annotations=noted)
    changed = workload("web", placement("a", DFW), template=template("registry.test/web:2"))

    (update,) = split(changed, [seen], {DFW}).update
    expected = _with_meta(
        seen,
        labels={"x": "y", labels.WORKLOAD_UID: "uid-web"},
        annotations={annotations.FEDERATION_NAMESPACE: "ns-1"},
    )
    spec = msgspec.structs.replace(seen.spec, template=changed.spec.template)
    assert update.desired == msgspec.structs.replace(expected, spec=spec)


def test_a_workload_that_is_being_deleted_wants_nothing():
    """Its deployments go, none is made, and no city is missed any more."""
    origin = workload("web", placement("a", DFW, LHR, "XXX"))
    (running,) = stored(*split(origin, [], {DFW}).create)
    meta = msgspec.structs.replace(origin.metadata, deletion_timestamp=NOW)
    going = msgspec.structs.replace(origin, metadata=meta)

    assert split(going, [running], {DFW, LHR}) == Split(delete=(running,))
    assert split(going, [running], set()) == Split(delete=(running,))


def test_deletes_what_is_no_longer_wanted():
    """A city that left the spec loses its deployment at once."""
    origin = workload("web", placement("a", DFW, LHR))
    running = stored(*split(origin, [], {DFW, LHR}).create)

    assert _named(split(workload("web", placement("a", DFW)), running, {DFW, LHR}).delete) == [
        "web-a-lhr"
    ]


def test_waits_for_a_deployment_that_is_terminating():
    """A wanted deployment on its way out is neither updated nor made a second time."""
    origin = workload("web", placement("a", DFW))
    (made,) = stored(*split(origin, [], {DFW}).create)
    going = _with_meta(made, deletion_timestamp=NOW)

    assert split(origin, [going], {DFW}) == Split(terminating=(going,))


def test_leaves_another_workloads_deployment_alone():
    """A name that another Workload holds is reported and never taken over."""
    other = msgspec.structs.replace(
        workload("web", placement("a", DFW)),
        metadata=msgspec.structs.replace(workload("web").metadata, uid="uid-other"),
    )
    theirs = stored(*split(other, [], {DFW}).create)
    got = split(workload("web", placement("a", DFW)), theirs, {DFW})

    assert got == Split(taken=tuple(theirs))


def test_a_pause_holds_the_template_back_but_not_the_numbers():
    """A paused Workload keeps each city's template, yet scales, and tells its deployments."""
    origin = workload("web", placement("a", DFW))
    running = stored(*split(origin, [], {DFW}).create)
    changed = annotated(
        workload("web", placement("a", DFW, LHR, replicas=3), template=template("web:2")),
        **{annotations.PAUSED: "true"},
    )
    got = split(changed, running, {DFW, LHR})

    (update,) = got.update
    assert update.desired.spec.template == origin.spec.template
    assert update.desired.spec.scale_settings.min_replicas == 3
    assert update.desired.metadata.annotations == {annotations.PAUSED: "true"}
    assert [d.spec.template for d in got.create] == [changed.spec.template]


def test_the_end_of_a_pause_reaches_the_deployments():
    """When the annotation goes from the Workload, its absence is a difference too."""
    paused = annotated(workload("web", placement("a", DFW)), **{annotations.PAUSED: "true"})
    running = stored(*split(paused, [], {DFW}).create)

    (update,) = split(workload("web", placement("a", DFW)), running, {DFW}).update
    assert annotations.PAUSED not in update.desired.metadata.annotations


CITIES = st.lists(st.sampled_from([DFW, LHR, NRT, "SIN"]), unique=True, min_size=1)


@given(CITIES, CITIES, st.sets(st.sampled_from([DFW, LHR, NRT, "SIN"])))
def test_acting_on_a_split_settles_it(before, after, offered):
    """Whatever existed, doing what the split says leaves nothing to do but keep."""
    old = stored(*split(workload("web", placement("a", *before)), [], set(before)).create)
    origin = workload("web", placement("a", *after))
    got = split(origin, old, offered)
    then = [*got.keep, *(u.desired for u in got.update), *stored(*got.create)]
    again = split(origin, then, offered)

    assert again == Split(
        keep=tuple(sorted(then, key=lambda d: d.metadata.name)), unmatched=got.unmatched
    )
    drained = {d.spec.city_code for d in then if drains.of(d)}
    assert {u.city for u in again.unmatched} == set(after) - offered - drained
    assert drained == (set(after) & set(before) - offered if offered else set())
