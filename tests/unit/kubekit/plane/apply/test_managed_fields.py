"""What creates and updates do to the managed fields."""

import pytest

from kubekit.plane.apply.entries import Author
from kubekit.plane.apply.field_sets import FieldSet
from kubekit.plane.apply.managed_fields import created, updated
from kubekit.plane.apply.shapes import Shape
from tests.support.kubekit.apply_builders import (
    SCHEMA,
    SHAPE,
    TIME,
    VERSION,
    Story,
    author,
    copied,
    managed_by,
    thing,
)

SELF: FieldSet = {".": {}}
LATER = "2024-05-01T12:00:09Z"


def live(spec, manager="old", status=None):
    document = thing(spec, status)
    return managed_by(document, created(SHAPE, document, author(manager)))


def entry(manager, fields, **more):
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": VERSION,
        "time": TIME,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **more,
    }


def owners(entries):
    return {e["manager"]: e["fieldsV1"].get("f:spec") for e in entries}


def test_the_creator_owns_all():
    """A new object has one entry, with all that it says."""
    got = created(SHAPE, thing({"replicas": 1}), author("kubectl"))

    assert got == [entry("kubectl", {"f:spec": {**SELF, "f:replicas": {}}})]


def test_an_object_that_says_nothing_has_no_entries():
    """A name alone has no owner."""
    assert created(SHAPE, thing(), author()) == []


def test_the_status_of_a_new_object_has_no_owner():
    """Where a kind has a status subresource, nothing else writes the status."""
    got = created(SHAPE, thing({}, {"phase": "x"}), author())

    assert [e["fieldsV1"] for e in got] == [{"f:spec": {}}]


def test_without_the_subresource_the_status_is_a_field_as_any():
    """Without that subresource, a write of the object also writes its status."""
    shape = Shape.of(SCHEMA)

    got = created(shape, thing(status={"phase": "x"}), author())

    assert got[0]["fieldsV1"] == {"f:status": {**SELF, "f:phase": {}}}


# What kube-apiserver 1.34 made of an object that "old" created when "new" wrote it. None: no entry.
CHANGES = [
    pytest.param({"replicas": 1}, {"replicas": 2}, {}, {"f:replicas": {}}, id="changed"),
    pytest.param({"replicas": 1}, {}, {}, None, id="removed"),
    pytest.param({}, {"name": "a"}, {}, {"f:name": {}}, id="added"),
    pytest.param({"num": 1}, {"num": 1.0}, {"f:num": {}}, None, id="1 is 1.0"),
    pytest.param({"any": 1}, {"any": True}, {}, {"f:any": {}}, id="1 is not true"),
    pytest.param(
        {"any": {"a": [1]}},
        {"any": {"a": [True]}},
        {"f:any": {}},
        {"f:any": {"f:a": {}}},
        id="1 is not true, far inside",
    ),
    pytest.param(
        {"items": [{"name": "b", "v": "1"}, {"name": "a"}]},
        {"items": [{"name": "a", "w": "1"}]},
        {"f:items": {**SELF, 'k:{"name":"a"}': {**SELF, "f:name": {}}}},
        {"f:items": {'k:{"name":"a"}': {"f:w": {}}}},
        id="entries of a list",
    ),
    pytest.param(
        {"items": [{"name": "a"}, {"name": "b"}]},
        {"items": [{"name": "b"}, {"name": "a"}]},
        {
            "f:items": {
                **SELF,
                'k:{"name":"a"}': {**SELF, "f:name": {}},
                'k:{"name":"b"}': {**SELF, "f:name": {}},
            }
        },
        None,
        id="another order",
    ),
    pytest.param(
        {"items": [{"name": "a", "v": "1"}, {"name": "b", "v": "1"}]},
        {"items": [{"name": "a", "v": "1"}, {"name": "b", "v": "2"}]},
        {
            "f:items": {
                **SELF,
                'k:{"name":"a"}': {**SELF, "f:name": {}, "f:v": {}},
                'k:{"name":"b"}': {**SELF, "f:name": {}},
            }
        },
        {"f:items": {'k:{"name":"b"}': {"f:v": {}}}},
        id="one of many entries",
    ),
    pytest.param(
        {"set": ["a", "b"]},
        {"set": ["b", "c"]},
        {"f:set": {**SELF, 'v:"b"': {}}},
        {"f:set": {'v:"c"': {}}},
        id="a set",
    ),
    pytest.param(
        {"atom": {"a": "1"}}, {"atom": {"a": "1", "b": "1"}}, {}, {"f:atom": {}}, id="atomic"
    ),
    pytest.param({"list": ["a", "b"]}, {"list": ["b", "a"]}, {}, {"f:list": {}}, id="atomic list"),
    pytest.param(
        {"map": {}}, {"map": {"a": "1"}}, {"f:map": {}}, {"f:map": {"f:a": {}}}, id="filled"
    ),
    pytest.param({"map": {"a": "1"}}, {"map": {}}, {"f:map": {}}, None, id="emptied"),
    pytest.param(
        {"nulmap": None},
        {"nulmap": {"a": "1"}},
        {"f:nulmap": {}},
        {"f:nulmap": {"f:a": {}}},
        id="null, then more",
    ),
    pytest.param({"nulmap": None}, {"nulmap": {}}, {}, {"f:nulmap": {}}, id="null, then empty"),
    pytest.param({"set": None}, {"set": []}, {}, {"f:set": {}}, id="a list null, then empty"),
    pytest.param(
        {"set": None},
        {"set": ["a"]},
        {"f:set": {}},
        {"f:set": {'v:"a"': {}}},
        id="a list null, then more",
    ),
    pytest.param(
        {"any": 5},
        {"any": {"a": {"b": 1}}},
        {},
        {"f:any": {**SELF, "f:a": {**SELF, "f:b": {}}}},
        id="scalar to object",
    ),
    pytest.param({"any": {"a": {"b": 1}}}, {"any": 5}, {}, {"f:any": {}}, id="object to scalar"),
    pytest.param(
        {"any": {"a": {"b": 1}}},
        {"any": {"a": [1]}},
        {"f:any": {}},
        {"f:any": {"f:a": {}}},
        id="object to list",
    ),
    pytest.param({"any": None}, {"any": 5}, {}, {"f:any": {}}, id="null to scalar"),
    pytest.param({"any": {"a": 1}}, {"any": None}, {"f:any": {}}, None, id="object to null"),
]


@pytest.mark.parametrize(("before", "after", "left", "taken"), CHANGES)
def test_updates_take_what_they_change(before, after, left, taken):
    """The updater owns changed fields, removed fields have no owner, the others keep theirs."""
    old = live(before)

    got = owners(updated(SHAPE, old, copied(thing(after)), author("new")))

    assert got == {"old": {**SELF, **left} if left else {}} | ({"new": taken} if taken else {})


def test_duplicates_are_owned_as_one():
    """Entries that share a name are one value, until one of them is left."""
    two = [{"name": "a"}, {"name": "a", "v": "1"}]
    story = Story().put("m1", {"items": two})
    story.put("m2", {"items": [{"name": "a"}, {"name": "a", "v": "2"}]})
    both = dict(story.owners)
    story.put("m3", {"items": [{"name": "a", "v": "2"}]})

    assert both["m2 Update"] == {"f:items": {'k:{"name":"a"}': {}}}
    assert story.owners == {
        "m1 Update": {**SELF, "f:items": {}},
        "m3 Update": {"f:items": {'k:{"name":"a"}': {**SELF, "f:name": {}, "f:v": {}}}},
    }


def test_unchanged_duplicates_keep_their_owners():
    """Nothing changes hands when nothing changed."""
    two = [{"name": "a"}, {"name": "a", "v": "1"}]
    story = Story().put("m1", {"items": two}).put("m2", {"items": two, "name": "x"})

    assert story.owners["m2 Update"] == {"f:name": {}}


@pytest.mark.parametrize("name", ["b", "x" * 200], ids=["short", "long"])
def test_entries_are_found_wherever_they_stand(name):
    """A list whose entries moved is compared entry by entry."""
    before = {"items": [{"name": "a", "v": "1"}, {"name": name, "v": "1"}]}
    after = {"items": [{"name": name, "v": "2"}, {"name": "a", "v": "1"}]}

    got = owners(updated(SHAPE, live(before), copied(thing(after)), author("new")))

    assert got["new"] == {"f:items": {f'k:{{"name":"{name}"}}': {"f:v": {}}}}


def test_nothing_changes_for_many_entries_either():
    """Eleven appliers are not too many, for only updaters are made one."""
    entries = [entry(f"a{n:02}", {"f:spec": {f"f:x{n}": {}}}, operation="Apply") for n in range(11)]
    old = managed_by(thing({}), entries)

    got = updated(SHAPE, old, thing({"name": "n"}), author("u"))

    assert [e["manager"] for e in got] == [*(f"a{n:02}" for n in range(11)), "u"]


def test_entries_of_served_versions_stay():
    """Where the versions are known, an update that changes nothing is still the very list."""
    shape = Shape(SHAPE.whole, status=True, served=[VERSION])
    old = live({"replicas": 1})

    got = updated(shape, old, copied(thing({"replicas": 1})), author("new"))

    assert got is old["metadata"]["managedFields"]


def test_the_status_subresource_tracks_the_status_only():
    """Writes through it have entries of their own; others never touch them."""
    story = (
        Story().put("m", {"replicas": 1}).put_status("kubelet", {"phase": "a", "conditions": []})
    )
    story.put_status("kubelet", {"phase": "b", "conditions": [{"type": "Ready", "status": "True"}]})
    story.put("n", {"replicas": 2})

    assert story.owners == {
        "kubelet Update status": {
            "f:status": {
                **SELF,
                "f:conditions": {
                    **SELF,
                    'k:{"type":"Ready"}': {**SELF, "f:status": {}, "f:type": {}},
                },
                "f:phase": {},
            }
        },
        "m Update": {},
        "n Update": {"f:replicas": {}},
    }


def test_other_doors_have_entries_of_their_own():
    """A scale that was changed through its subresource says so."""
    old = live({"replicas": 1})
    by = author("hpa", subresource="scale")

    got = updated(SHAPE, old, copied(thing({"replicas": 2})), by)

    assert entry("hpa", {"f:spec": {"f:replicas": {}}}, subresource="scale") in got


def test_nothing_changed_is_the_very_list():
    """The caller can tell at once that there is nothing to write."""
    old = live({"replicas": 1, "any": {"a": [1]}})

    got = updated(
        SHAPE, old, copied(thing({"replicas": 1, "any": {"a": [1]}})), author("new", LATER)
    )

    assert got is old["metadata"]["managedFields"]


def test_time_moves_when_the_owner_sets_a_field():
    """Even one that it owns already; giving up a field does not change the time."""
    old = live({"replicas": 1, "name": "a"}, "m")
    set_again = updated(SHAPE, old, copied(thing({"replicas": 2, "name": "a"})), author("m", LATER))
    given_up = updated(SHAPE, old, copied(thing({"replicas": 1})), author("m", LATER))

    assert [e["time"] for e in set_again] == [LATER]
    assert given_up == [entry("m", {"f:spec": {**SELF, "f:replicas": {}}})]


def test_a_manager_without_fields_has_no_entry():
    """An entry goes with its last field."""
    old = managed_by(thing({}), [entry("m", {"f:spec": {"f:replicas": {}}})])
    old["spec"] = {"replicas": 1}

    assert updated(SHAPE, old, thing({}), author("m")) == []
    assert updated(SHAPE, old, thing({}), author("other")) == []


def test_versions_have_entries_of_their_own():
    """An updater that writes in two versions has two entries; they are compared as they are."""
    old = live({"replicas": 1, "name": "a"}, "m")
    by = Author("m", "apply.example.com/v2", LATER)

    got = updated(SHAPE, old, copied(thing({"replicas": 2, "name": "a"})), by)

    assert [(e["apiVersion"], e["fieldsV1"]["f:spec"]) for e in got] == [
        (VERSION, {**SELF, "f:name": {}}),
        ("apply.example.com/v2", {"f:replicas": {}}),
    ]


def test_versions_that_are_served_no_more_are_forgotten():
    """Their fields are unknown."""
    shape = Shape(SHAPE.whole, status=True, served=["apply.example.com/v2"])
    old = live({"replicas": 1})

    assert updated(shape, old, copied(thing({"replicas": 1})), author()) == []


def test_of_many_updaters_the_oldest_become_one():
    """Ten entries of updaters are kept; the oldest of a version are merged, with the later time."""
    story = Story().put("u00", {"map": {"a": "0"}})
    for number in range(1, 13):
        keys = {f"k{n}": "1" for n in range(1, number + 1)}
        story.put(f"u{number:02}", {"map": {"a": "0", **keys}})

    assert len(story.entries) == 10
    assert story.entries[0] == entry(
        "ancient-changes",
        {"f:spec": {**SELF, "f:map": {**SELF, "f:a": {}, "f:k1": {}, "f:k2": {}, "f:k3": {}}}},
    )


def test_only_updaters_of_one_version_become_one():
    """The oldest of all stays when it is the only one of its version, and no time is made up."""
    entries = [entry(f"u{n:02}", {"f:spec": {f"f:x{n}": {}}}) for n in range(10)]
    entries[0]["apiVersion"] = "apply.example.com/v0"
    for one in entries[:3]:
        del one["time"]
    entries.append(entry("a", {"f:spec": {"f:y": {}}}, operation="Apply"))
    old = managed_by(thing({}), entries)

    got = updated(SHAPE, old, thing({"name": "n"}), author("new"))

    kept = [f"u{number:02}" for number in range(3, 10)]
    assert [e["manager"] for e in got] == ["a", "ancient-changes", "u00", "new", *kept]
    assert got[1]["fieldsV1"] == {"f:spec": {"f:x1": {}, "f:x2": {}}}
    assert "time" not in got[1]


def test_entries_are_in_kubernetes_order():
    """Appliers first, then by time, then by name."""
    entries = [
        entry("z", {"f:spec": {"f:a": {}}}, time=LATER),
        entry("b", {"f:spec": {"f:b": {}}}),
        entry("c", {"f:spec": {"f:c": {}}}, operation="Apply", time=LATER),
    ]
    old = managed_by(thing({}), entries)

    got = updated(SHAPE, old, thing({"name": "n"}), author("a"))

    assert [e["manager"] for e in got] == ["c", "a", "b", "z"]


class TestWhatClientsSend:
    GOOD = entry("g", {"f:spec": {"f:name": {}}})

    def put(self, said, spec=None, shape=SHAPE):
        old = live({"name": "x", "replicas": 1})
        return updated(
            shape, old, copied(thing(spec or {"name": "x", "replicas": 1})), author("p"), said
        )

    def test_what_was_read_is_sent_back(self):
        """Clients that update what they read change nothing by it."""
        old = live({"replicas": 1})
        said = copied(old["metadata"]["managedFields"])

        got = updated(SHAPE, old, copied(thing({"replicas": 1})), author("p"), said)

        assert got is old["metadata"]["managedFields"]

    def test_one_empty_entry_resets(self):
        """All entries are removed, and the same write adds none."""
        assert self.put([{}], {"name": "y"}) == []

    def test_an_empty_list_resets_builtin_kinds_only(self):
        """A custom object that comes with an empty list keeps what it had."""
        builtin = Shape(SHAPE.whole, custom=False, status=True)

        assert owners(self.put([])) == {"old": {**SELF, "f:name": {}, "f:replicas": {}}}
        assert self.put([], shape=builtin) == []

    def test_entries_can_be_rewritten(self):
        """Entries from the client are used, and it owns the fields that the same write changes."""
        assert self.put([self.GOOD]) == [self.GOOD]
        assert owners(self.put([self.GOOD], {"name": "y", "replicas": 2})) == {
            "p": {"f:name": {}, "f:replicas": {}}
        }

    @pytest.mark.parametrize(
        "fault",
        [
            {"operation": "Foo"},
            {"apiVersion": ""},
            {"fieldsType": "F2"},
            {"fieldsV1": {"spec": {}}},
            {"fieldsV1": {}},
            {"manager": 1},
            {"time": "x"},
            {"time": 3},
        ],
        ids=str,
    )
    def test_d3_unreadable_entries_are_ignored(self, fault):
        """The entries that were there stay."""
        assert list(owners(self.put([{**self.GOOD, **fault}]))) == ["old"]

    @pytest.mark.parametrize("said", [{"a": 1}, ["a"], [{}, {}]], ids=str)
    def test_d3_what_is_no_list_of_entries_counts_as_nothing(self, said):
        """The entries that were there stay."""
        assert list(owners(self.put(said))) == ["old"]

    def test_a_subresource_takes_none(self):
        """A write to the status cannot change the owners of the spec."""
        old = live({"name": "x"})

        got = updated(
            SHAPE, old, {**old, "status": {"phase": "a"}}, author("p", subresource="status"), [{}]
        )

        assert [e["manager"] for e in got] == ["old", "p"]

    def test_a_creator_may_send_entries(self):
        """It owns what it writes all the same; a reset or invalid entries change nothing."""
        document = thing({"name": "x"})
        mine = created(SHAPE, document, author("c"))

        kept = created(SHAPE, document, author("c"), [entry("g", {"f:spec": {"f:flag": {}}})])

        assert owners(kept) == {"c": {**SELF, "f:name": {}}, "g": {"f:flag": {}}}
        assert created(SHAPE, document, author("c"), [{}]) == mine
        assert created(SHAPE, document, author("c"), ["x"]) == mine
        assert created(SHAPE, document, author("c"), [self.GOOD]) == mine

    def test_without_entries_none_are_added(self):
        """Only an apply can tell whose the fields of such an object were."""
        old = thing({"name": "x"})

        assert updated(SHAPE, old, thing({"name": "y"}), author()) == []


@pytest.mark.parametrize(
    "spec",
    [
        {"items": [{"v": "no name"}]},
        {"items": ["x"]},
        {"items": {"a": 1}},
        {"set": [{}]},
        {"set": [None]},
        {"set": "ab"},
        {"obj": "text"},
        {"set": {"a": "b"}, "name": "y"},
        {"maps": {"m": ["x"]}},
    ],
    ids=str,
)
def test_what_cannot_be_tracked_is_not(spec):
    """A value that is not what its schema says, as after a change of the schema, changes nothing."""
    old = live({"name": "x"})

    assert created(SHAPE, thing(spec), author()) == []
    assert updated(SHAPE, old, thing(spec), author("new")) is old["metadata"]["managedFields"]
    faulty = {**old, "spec": spec}
    assert updated(SHAPE, faulty, thing({}), author("new")) is old["metadata"]["managedFields"]


def test_d2_deep_documents_are_not_tracked():
    """A document that is nested too deep is stored without owners."""
    deep: FieldSet = {}
    for _ in range(5000):
        deep = {"a": deep}
    old = live({"name": "x"})

    assert created(SHAPE, thing({"free": deep}), author()) == []
    assert updated(SHAPE, old, thing({"free": deep}), author()) is old["metadata"]["managedFields"]
