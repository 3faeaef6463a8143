"""The rules of events, in both versions, as in kube-apiserver 1.34."""

import pytest

from tests.support.compute import served_kinds

TIME = "2024-05-01T12:00:00.000000Z"
REPORTED = {"eventTime": TIME, "reportingInstance": "i", "action": "a", "reason": "r"}
CORE = REPORTED | {"reportingComponent": "a.b/c"}
NEW = REPORTED | {"reportingController": "a.b/c", "type": "Normal"}
SUBJECT = {"v1": "involvedObject", "events.k8s.io/v1": "regarding"}


def prepared(api_version, old=None, namespace="default", about=None, **parts):
    """The event after its kind's rules, and what they found wrong."""
    kind = served_kinds.everything().require(api_version, "Event")
    document = {
        "apiVersion": api_version,
        "kind": "Event",
        "metadata": {"name": "x", "namespace": namespace},
        SUBJECT[api_version]: about or {},
        **parts,
    }
    conformed = kind.conform({name: part for name, part in document.items() if part != ...})
    assert conformed.errors == conformed.unknown == []
    assert kind.prepare is not None
    return conformed.document, [str(error) for error in kind.prepare(conformed.document, old)]


def errors_of(api_version, **parts):
    return prepared(api_version, **parts)[1]


PLACES = [
    ("default", "", True, True),
    ("default", "ns", False, True),
    ("ns", "ns", True, True),
    ("ns", "", False, False),
    ("ns", "other", False, True),
    ("kube-system", "", False, True),
]


@pytest.mark.parametrize(("lies_in", "about", "old_kind", "new_kind"), PLACES)
def test_an_event_lies_where_its_object_does(lies_in, about, old_kind, new_kind):
    """One with an eventTime may lie elsewhere; one about nothing in particular may not."""
    subject = {"namespace": about} if about else {}
    words = f'.namespace: Invalid value: "{about}": does not match event.namespace'

    def place(api_version, **parts):
        return errors_of(api_version, namespace=lies_in, about=subject, **parts)

    assert place("v1") == ([] if old_kind else [f"involvedObject{words}"])
    assert place("v1", **CORE) == ([] if new_kind else [f"involvedObject{words}"])
    assert place("events.k8s.io/v1", **NEW) == ([] if new_kind else [f"regarding{words}"])


FAULTS = [
    ({"reporter": ...}, ["{reporter}: Required value"]),
    ({"reporter": "a b"}, ["{reporter}: Invalid value: \"a b\": it must be 1 to 63 letters, digits, '-', '_' or '.', starting and ending with a letter or digit"]),
    ({"reportingInstance": ...}, ["reportingInstance: Required value"]),
    ({"action": ...}, ["action: Required value"]),
    ({"reason": "é" * 65}, [f'reason: Invalid value: "{"é" * 65}": can have at most 128 characters']),
    ({"message": "x" * 1024}, []),
]  # fmt: skip


@pytest.mark.parametrize(("change", "errors"), FAULTS)
@pytest.mark.parametrize(
    ("api_version", "whole", "names"),
    [
        ("v1", CORE, {"reporter": "reportingComponent"}),
        ("events.k8s.io/v1", NEW, {"reporter": "reportingController", "message": "note"}),
    ],
    ids=["old shape", "new shape"],
)
def test_an_event_with_a_time_names_reporter_and_action(api_version, whole, names, change, errors):
    """The errors use the field names of the version."""
    changed = {names.get(name, name): value for name, value in change.items()}

    assert errors_of(api_version, **whole | changed) == [error.format(**names) for error in errors]


@pytest.mark.parametrize(("api_version", "name"), [("v1", "message"), ("events.k8s.io/v1", "note")])
def test_a_message_is_not_a_book(api_version, name):
    """An event is a line."""
    whole = CORE if api_version == "v1" else NEW
    (error,) = errors_of(api_version, **whole, **{name: "x" * 1025})

    assert error.startswith(f"{name}: Invalid value: ")
    assert error.endswith("can have at most 1024 characters")


def test_little_is_asked_of_an_event_without_a_time():
    """The old kind has been around for long."""
    assert errors_of("v1", count=-1, type="odd", series={}) == []


def test_the_new_shape_is_for_the_new_kind():
    """It requires the time and the type, and refuses fields of the old kind."""
    old_fields = {"deprecatedCount": 1, "deprecatedSource": {"component": "c"}}

    assert errors_of("events.k8s.io/v1") == [
        "eventTime: Required value",
        'type: Invalid value: "": must be Normal or Warning',
    ]
    assert errors_of("events.k8s.io/v1", **NEW, deprecatedSource={}) == []
    assert errors_of("events.k8s.io/v1", **NEW, **old_fields) == [
        "deprecatedCount: Invalid value: 1: needs to be unset",
        'deprecatedSource: Invalid value: {"component":"c"}: needs to be unset',
    ]


@pytest.mark.parametrize(
    ("series", "errors"),
    [
        ({"count": 2, "lastObservedTime": TIME}, []),
        ({"count": 1, "lastObservedTime": TIME}, ["series.count: Invalid value: 1: should be at least 2"]),
        ({"count": 2}, ["series.lastObservedTime: Required value"]),
        ({}, ["series.count: Invalid value: 0: should be at least 2", "series.lastObservedTime: Required value"]),
    ],
)  # fmt: skip
def test_a_series_is_a_repetition(series, errors):
    """In the new shape it says how often, and when last."""
    assert errors_of("events.k8s.io/v1", **NEW, series=series) == errors


def test_only_the_series_of_an_event_goes_on():
    """In the new version the other fields are immutable; in the old one any field may change."""
    old, _ = prepared("events.k8s.io/v1", **NEW)
    old_core, _ = prepared("v1", **CORE)
    series = {"count": 2, "lastObservedTime": TIME}

    assert errors_of("events.k8s.io/v1", old=old, **NEW, series=series) == []
    assert errors_of("events.k8s.io/v1", old=old, **NEW, related={}) == []
    assert errors_of(
        "events.k8s.io/v1", old=old, **NEW | {"reason": "q", "type": "odd"}, note="n"
    ) == [
        'note: Invalid value: "n": field is immutable',
        'reason: Invalid value: "q": field is immutable',
        'type: Invalid value: "odd": field is immutable',
    ]
    assert errors_of("v1", old=old_core, **CORE | {"reason": "q"}) == []


@pytest.mark.parametrize(
    ("api_version", "name", "given", "kept"),
    [
        ("v1", "firstTimestamp", "2024-05-01T12:00:00.5Z", "2024-05-01T12:00:00Z"),
        ("v1", "lastTimestamp", "2024-05-01T12:00:00+02:00", "2024-05-01T10:00:00Z"),
        ("v1", "lastTimestamp", "2024-05-01t12:00:00z", None),
        ("v1", "series.lastObservedTime", "2024-05-01T12:00:00.000000+02:00", "2024-05-01T10:00:00.000000Z"),
        ("v1", "series.lastObservedTime", "2024-05-01T12:00:00Z", None),
        ("v1", "eventTime", "2024-05-01T12:00:00Z", None),
        ("events.k8s.io/v1", "eventTime", "2024-05-01T12:00:00.000000+02:00", "2024-05-01T10:00:00.000000Z"),
    ],
)  # fmt: skip
def test_times_are_kept_in_one_spelling(api_version, name, given, kept):
    """In UTC, to the second or to the microsecond; what readers would not take is refused."""
    whole = CORE if api_version == "v1" else NEW
    head, _, tail = name.partition(".")
    document, errors = prepared(api_version, **whole | {head: {tail: given} if tail else given})

    if kept is None:
        assert [error.partition(":")[0] for error in errors] == [name]
    else:
        assert (document[head][tail] if tail else document[head], errors) == (kept, [])
