"""The entries of managed fields, as clients send them and the store keeps them."""

import pytest

from kubekit.plane.apply.entries import (
    BadEntries,
    errors,
    manager_errors,
    manager_of,
    sent,
    stripped,
)
from kubekit.plane.apply.managed_fields import created, updated
from tests.support.kubekit.apply_builders import SHAPE, author, copied, thing

GOOD = {
    "manager": "g",
    "operation": "Update",
    "apiVersion": "v1",
    "time": "2020-01-01T00:00:00Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:spec": {"f:name": {}}},
}


def without(name):
    return {key: value for key, value in GOOD.items() if key != name}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param([GOOD], [GOOD], id="as it is"),
        pytest.param([without("time")], [without("time")], id="no time"),
        pytest.param([{**GOOD, "time": None}], [without("time")], id="time null"),
        pytest.param([without("manager")], [without("manager")], id="no manager"),
        pytest.param([{**GOOD, "foo": 1}], [GOOD], id="unknown fields go"),
        pytest.param(
            [{**GOOD, "time": "2020-01-01T02:00:00.5+02:00"}], [GOOD], id="time in another spelling"
        ),
        pytest.param(
            [{**GOOD, "fieldsV1": {"f:a": {}}}, GOOD], [GOOD], id="of one writer the last"
        ),
        pytest.param([without("fieldsV1")], [], id="no fields"),
        pytest.param([{**GOOD, "fieldsV1": {"z:a": {}}}], [], id="no fields that are known"),
        pytest.param(
            [GOOD, {**GOOD, "operation": "Apply"}],
            [{**GOOD, "operation": "Apply"}, GOOD],
            id="order",
        ),
        pytest.param(
            [{**GOOD, "subresource": "status"}],
            [{**GOOD, "subresource": "status"}],
            id="subresource",
        ),
    ],
)
def test_sent_entries_are_read_as_kube_apiserver_reads_them(raw, expected):
    """In the canonical form and order, without unknown fields."""
    assert sent(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        "x",
        ["x"],
        [{}],
        [without("operation")],
        [without("fieldsType")],
        [{**GOOD, "fieldsV1": [1]}],
    ],
    ids=str,
)
def test_d3_sent_entries_that_are_unreadable(raw):
    """A faulty entry makes the whole list faulty."""
    with pytest.raises(BadEntries):
        sent(raw)


def test_names_in_entries_have_limits():
    """The messages are those of kube-apiserver."""
    long = [{**GOOD, "manager": "m" * 129}, {**GOOD, "manager": "\x01", "subresource": "x" * 257}]

    assert [str(error) for error in errors([GOOD, *long])] == [
        "metadata.managedFields[1].manager: Too long: may not be more than 128 bytes",
        'metadata.managedFields[2].manager: Invalid value: "\\u0001": '
        "invalid character U+0001 (at position 0)",
        "metadata.managedFields[2].subresource: Too long: may not be more than 256 bytes",
    ]


def test_a_field_manager_has_the_same_limits():
    """The option that names a manager is judged as the entries are."""
    assert manager_errors("fieldManager", "kubectl") == []
    assert [error.path for error in manager_errors("fieldManager", "\n" * 129)] == [
        "fieldManager"
    ] * 2


@pytest.mark.parametrize(
    ("field_manager", "user_agent", "expected"),
    [
        ("mine", "kubectl/v1.34", "mine"),
        ("", "kubectl/v1.34 (linux/amd64)", "kubectl"),
        ("", "a\x01b c/1", "ab c"),
        ("", "é" * 100, "é" * 64),
        ("", "", "unknown"),
        ("", "/1", "unknown"),
    ],
)
def test_managers_are_named_after_their_program(field_manager, user_agent, expected):
    """Without a field manager, the name is the first part of the user agent."""
    assert manager_of(field_manager, user_agent) == expected


def test_typed_objects_need_no_managed_fields():
    """They are taken out without a change to the document, which is itself if it has none."""
    plain, managed = thing({}), thing({}, managedFields=[GOOD])

    assert stripped(managed) == plain
    assert "managedFields" in managed["metadata"]
    assert stripped(plain) is plain
    assert stripped({}) == {}


def test_unchanged_entries_are_the_identical_objects():
    """Only the entry of a manager that loses a field is rebuilt, and a list sent back is kept."""
    old = thing({"map": {"k": "1"}, "name": "a"})
    live = old["metadata"]["managedFields"] = created(SHAPE, old, author("maker"))
    status_author = author("st", subresource="status")

    reported = updated(SHAPE, old, {**old, "status": {"phase": "y"}}, status_author)
    changed = updated(SHAPE, old, thing({**old["spec"], "name": "b"}), author("other"))
    sent_back = updated(SHAPE, old, copied(thing(old["spec"])), author("x"), copied(live))

    assert reported[0] is live[0]
    assert "f:name" not in changed[0]["fieldsV1"]["f:spec"]
    assert sent_back is live
