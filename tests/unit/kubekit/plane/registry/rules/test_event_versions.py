"""One event in two shapes."""

from hypothesis import given, strategies as st

from kubekit.plane.registry.rules.event_versions import VIEW

OLD = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "e"},
    "involvedObject": {"kind": "Pod"},
    "message": "m",
    "reason": "r",
    "reportingComponent": "c",
    "source": {"component": "c"},
    "firstTimestamp": "2024-01-01T00:00:00Z",
    "lastTimestamp": "2024-01-01T00:00:01Z",
    "count": 3,
}
NEW = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "e"},
    "regarding": {"kind": "Pod"},
    "note": "m",
    "reason": "r",
    "reportingController": "c",
    "deprecatedSource": {"component": "c"},
    "deprecatedFirstTimestamp": "2024-01-01T00:00:00Z",
    "deprecatedLastTimestamp": "2024-01-01T00:00:01Z",
    "deprecatedCount": 3,
}


def test_the_two_shapes_of_one_event():
    """Each field of the old shape has one name in the new one, as Kubernetes shows it."""
    assert VIEW.from_storage(OLD) == NEW
    assert VIEW.to_storage(NEW) == OLD


@given(st.sets(st.sampled_from(sorted(OLD.keys() - {"apiVersion", "involvedObject"}))))
def test_there_and_back_is_the_same(kept):
    """No field is lost or made up, whichever are there."""
    event = {name: OLD[name] for name in ("apiVersion", "involvedObject", *kept)}

    assert VIEW.to_storage(VIEW.from_storage(event)) == event


def test_an_event_about_nothing():
    """The old shape always says what it is about, if only that it is not known."""
    assert VIEW.to_storage({"apiVersion": "events.k8s.io/v1"}) == {
        "apiVersion": "v1",
        "involvedObject": {},
    }
