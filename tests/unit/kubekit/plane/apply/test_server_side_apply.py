"""Server-side apply, as a kube-apiserver 1.34 did it with the same objects."""

import json

import pytest

from kubekit.api.errors import BadRequest, Conflict
from kubekit.api.kinds.core import ConfigMap
from kubekit.plane.apply.field_sets import FieldSet
from kubekit.plane.apply.managed_fields import created
from kubekit.plane.apply.server_side_apply import applied
from kubekit.plane.apply.shapes import Shape, shape_of
from kubekit.plane.registry import builtins
from tests.support.kubekit.apply_builders import (
    SHAPE,
    SPEC,
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


def test_a_new_object_is_what_was_applied():
    """Its fields belong to the apply entry, not to an update entry of the same manager."""
    config = thing({"replicas": 1}, {"phase": "ignored"}, labels={"a": "1"})

    got = applied(SHAPE, None, config, author("m"))

    assert got.document == thing({"replicas": 1}, labels={"a": "1"})
    assert got.managed_fields == [
        {
            "manager": "m",
            "operation": "Apply",
            "apiVersion": VERSION,
            "time": TIME,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:replicas": {}}},
        }
    ]


def test_what_is_given_up_goes_unless_others_own_it():
    """Fields, entries of lists and of maps, and values of sets, each for itself."""
    first = {
        "name": "a",
        "replicas": 1,
        "items": [{"name": "a", "v": "1"}],
        "maps": {"m": {"x": "1"}},
        "set": ["a", "b"],
    }
    second = {
        "replicas": 1,
        "items": [{"name": "a", "w": "1"}, {"name": "b"}],
        "maps": {"m": {"y": "1"}},
        "set": ["b", "c"],
    }
    story = Story().apply("m1", first).apply("m2", second)
    together = story.spec
    story.apply("m1", {})
    alone = story.spec
    story.apply("m2", {})

    assert together == {
        "name": "a",
        "replicas": 1,
        "items": [{"name": "a", "v": "1", "w": "1"}, {"name": "b"}],
        "maps": {"m": {"x": "1", "y": "1"}},
        "set": ["a", "b", "c"],
    }
    assert alone == second
    assert story.spec == {}
    assert story.owners == {"m1 Apply": {}, "m2 Apply": {}}


def test_an_entry_goes_with_its_last_owner():
    """Fields that an updater set in it are removed too, for it does not own the entry."""
    story = Story().apply("m1", {"items": [{"name": "a", "v": "1"}, {"name": "b"}]})
    story.put("u", {"items": [{"name": "a", "v": "1", "w": "2"}, {"name": "b"}]})
    story.apply("m1", {"items": [{"name": "b"}]})

    assert story.spec == {"items": [{"name": "b"}]}
    assert list(story.owners) == ["m1 Apply"]


def test_a_named_object_stays_while_a_field_of_it_has_an_owner():
    """Only the applier's own fields go from it."""
    story = Story().apply("m1", {"obj": {"a": "1"}}).put("u", {"obj": {"a": "1", "b": "2"}})
    story.apply("m1", {})

    assert story.spec == {"obj": {"b": "2"}}
    assert story.owners == {"m1 Apply": {}, "u Update": {"f:obj": {"f:b": {}}}}


def test_fields_without_owners_are_removed_with_their_object():
    """A default that the plane put in goes when the object around it has no owner any more."""
    story = Story().apply("m1", {"obj": {"a": "1"}, "name": "x"})
    story.live["spec"]["obj"]["b"] = "default"
    story.live["spec"]["flag"] = True
    story.apply("m1", {"name": "x"})

    assert story.spec == {"name": "x", "flag": True}


@pytest.mark.parametrize(
    ("empty", "filled"),
    [
        ({"map": {}}, {"map": {"a": "1"}}),
        ({"obj": {}}, {"obj": {"a": "1"}}),
        ({"set": []}, {"set": ["a"]}),
    ],
    ids=str,
)
def test_an_object_applied_empty_is_empty_again(empty, filled):
    """The owner of an object keeps it when the owner of all that is in it leaves."""
    story = Story().put("u", empty).apply("m", filled).apply("m", None)

    assert story.spec == empty


def test_an_emptied_object_without_owners_is_removed():
    """A map whose last owned entry was removed is removed too, although an updater wrote into it."""
    story = Story().apply("m", {"maps": {"a": {"x": "1"}}, "ports": [{"port": 1}], "name": "n"})
    ports = [{"port": 1, "n": "2"}]
    story.put("u", {"maps": {"a": {"x": "1", "y": "2"}}, "ports": ports, "name": "n"})
    story.apply("m", {"name": "n"})

    assert story.spec == {"name": "n"}
    assert story.owners == {"m Apply": {"f:name": {}}}


def test_entries_lose_fields_one_by_one():
    """An entry that stays loses what its owner no longer says, and nothing else."""
    story = Story().apply("m", {"items": [{"name": "a", "v": "1"}, {"name": "b"}], "name": "n"})
    story.put("u", {"items": [{"name": "a", "v": "1", "w": "1"}, {"name": "b"}], "name": "n"})
    story.apply("m", {"items": [{"name": "a"}, {"name": "b"}]})

    assert story.spec == {"items": [{"name": "a", "w": "1"}, {"name": "b"}]}


def test_unknown_values_that_changed_their_kind_are_left_alone():
    """Fields of an object that became a text are nowhere to be taken out."""
    story = Story().apply("m", {"any": {"a": {"b": 1}}, "name": "n"})
    story.put("u", {"any": "text", "name": "n"}).apply("m", {"name": "n"})

    assert story.spec == {"any": "text", "name": "n"}


@pytest.mark.parametrize(
    ("live", "said", "expected"),
    [
        pytest.param({"nul": "x"}, {"nul": None}, {"nul": None}, id="scalar"),
        pytest.param({"nulobj": {"a": "1"}}, {"nulobj": None}, {"nulobj": {"a": "1"}}, id="object"),
        pytest.param({"nulobj": {}}, {"nulobj": None}, {"nulobj": None}, id="empty object"),
        pytest.param({}, {"nulobj": None}, {"nulobj": None}, id="nothing"),
        pytest.param({"set": ["a"]}, {"set": None}, {"set": ["a"]}, id="list"),
        pytest.param({"any": {"a": 1}}, {"any": None}, {"any": {"a": 1}}, id="unknown object"),
        pytest.param({"any": 1}, {"any": None}, {"any": None}, id="unknown scalar"),
        pytest.param(
            {"any": [1]}, {"any": {"a": 1}}, {"any": {"a": 1}}, id="unknown, another type"
        ),
        pytest.param(
            {"any": {"a": 1}}, {"any": {"b": 1}}, {"any": {"a": 1, "b": 1}}, id="unknown, both"
        ),
        pytest.param({"obj": {"a": "1"}}, {"obj": {}}, {"obj": {"a": "1"}}, id="empty on top"),
    ],
)
def test_merging(live, said, expected):
    """Null and empty values remove nothing that others put there."""
    assert Story().put("u", live).apply("m", said, force=True).spec == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({"nulmap": {"a": "1"}}, {"nulmap": None}, {"nulmap": None}, id="a map"),
        pytest.param(
            {"free": {"a": {"b": 1}}}, {"free": {"a": None}}, {"free": {"a": None}}, id="inside"
        ),
        pytest.param(
            {"items": [{"name": "a", "v": "1"}, {"name": "b"}], "free": {"x": {}}},
            {"items": [{"name": "a"}]},
            {"items": [{"name": "a"}]},
            id="no null at all",
        ),
    ],
)
def test_null_comes_when_the_rest_is_given_up(before, after, expected):
    """A null for an object that only this manager owned gives null."""
    assert Story().apply("m", before).apply("m", after).spec == expected


# Live list, applied list, and what kube-apiserver made of them.
ORDERS = [
    ("abc", "cb", "acb"),
    ("abc", "xb", "axbc"),
    ("abc", "bx", "abcx"),
    ("abcd", "da", "bcda"),
    ("abcd", "xdya", "bcxdya"),
    ("ab", "ba", "ba"),
    ("abc", "cxa", "bcxa"),
    ("abcdef", "fzb", "acdefzb"),
    ("abc", "xyz", "abcxyz"),
    ("abcde", "edcba", "edcba"),
    ("acb", "dbea", "cdbea"),
    ("", "ab", "ab"),
]


@pytest.mark.parametrize(("live", "said", "expected"), ORDERS)
def test_lists_are_in_the_order_of_the_applier(live, said, expected):
    """Entries of others keep their place before the next one that both have."""
    story = Story().put("u", {"set": list(live), "items": [{"name": name} for name in live]})
    story.apply("m", {"set": list(said), "items": [{"name": name} for name in said]})

    assert "".join(story.spec["set"]) == expected
    assert "".join(entry["name"] for entry in story.spec["items"]) == expected


def test_duplicates_that_are_there_are_replaced_by_what_is_applied():
    """It is unclear which of them is meant."""
    story = Story().put("u", {"items": [{"name": "a", "v": "1"}, {"name": "b"}, {"name": "a"}]})
    story.apply("m", {"items": [{"name": "a", "w": "1"}]}, force=True)

    assert story.spec == {"items": [{"name": "a", "w": "1"}, {"name": "b"}]}


def test_atomic_values_are_owned_and_replaced_whole():
    """Two may own the same value; another value is a conflict."""
    same = {"atom": {"a": "1"}, "list": ["a"]}
    other = {"atom": {"a": "1", "b": "2"}, "list": ["b"]}
    story = Story().apply("m1", same).apply("m2", same)
    with pytest.raises(Conflict):
        story.apply("m2", other)
    story.apply("m2", other, force=True).apply("m1", {})

    assert story.spec == other
    assert story.owners == {"m1 Apply": {}, "m2 Apply": {"f:atom": {}, "f:list": {}}}


def test_updates_take_from_appliers_and_appliers_ask_back():
    """After an update the applier no longer owns the field; wanting it again is a conflict."""
    story = Story().apply("m1", {"replicas": 1, "name": "a"}).put("u", {"replicas": 2, "name": "a"})
    taken = story.owners
    with pytest.raises(Conflict) as refused:
        story.apply("m1", {"replicas": 1, "name": "a"})
    story.apply("m1", {"replicas": 2, "name": "a"})

    assert taken == {"m1 Apply": {"f:name": {}}, "u Update": {"f:replicas": {}}}
    assert refused.value.message == (
        'Apply failed with 1 conflict: conflict with "u" using apply.example.com/v1: .spec.replicas'
    )
    assert story.owners == {
        "m1 Apply": {"f:name": {}, "f:replicas": {}},
        "u Update": {"f:replicas": {}},
    }


class TestConflicts:
    def test_one(self):
        """The message names the applier and the field, the details say it once more."""
        story = Story().apply("m1", {"replicas": 1})
        with pytest.raises(Conflict) as refused:
            story.apply("m2", {"replicas": 2})

        status = refused.value.to_status()
        assert (status.code, status.reason) == (409, "Conflict")
        assert status.message == 'Apply failed with 1 conflict: conflict with "m1": .spec.replicas'
        assert status.details is not None
        assert [(c.reason, c.message, c.field) for c in status.details.causes] == [
            ("FieldManagerConflict", 'conflict with "m1"', ".spec.replicas")
        ]

    def test_several(self):
        """They are grouped by owner, fields that are nearer first."""
        story = Story().apply("m1", {"replicas": 1})
        story.put(
            "upd",
            {
                "replicas": 1,
                "name": "z",
                "num": 1.5,
                "maps": {"m.x": {"x": "1"}},
                "ports": [{"port": 80, "proto": "TCP", "n": "1"}],
            },
        )
        with pytest.raises(Conflict) as refused:
            story.apply(
                "m2",
                {
                    "replicas": 2,
                    "name": "q",
                    "num": 2.5,
                    "maps": {"m.x": {"x": "2"}},
                    "ports": [{"port": 80, "n": "2"}],
                },
            )

        assert refused.value.message == (
            'Apply failed with 5 conflicts: conflicts with "m1":\n'
            "- .spec.replicas\n"
            'conflicts with "upd" using apply.example.com/v1:\n'
            "- .spec.name\n"
            "- .spec.num\n"
            "- .spec.maps.m.x.x\n"
            '- .spec.ports[port=80,proto="TCP"].n'
        )

    def test_of_a_subresource(self):
        """The subresource of the other manager is named."""
        story = Story().put("m", {}).put_status("stat", {"phase": "a"})
        config = thing({"replicas": 9}, {"phase": "b"}, labels={"not": "mine"})
        by = author("app", subresource="status")
        with pytest.raises(Conflict) as refused:
            applied(SHAPE, story.live, config, by)

        forced = applied(SHAPE, story.live, config, by, force=True)

        assert refused.value.message == (
            'Apply failed with 1 conflict: conflict with "stat" with subresource "status" '
            "using apply.example.com/v1: .status.phase"
        )
        assert forced.document["status"] == {"phase": "b"}
        assert forced.document["spec"] == {}
        assert forced.managed_fields[0]["fieldsV1"] == {"f:status": {"f:phase": {}}}
        assert forced.managed_fields[0]["subresource"] == "status"


def test_force_takes_the_field():
    """The others lose it, and keep what was not contested."""
    story = Story().apply("m1", {"replicas": 1, "name": "a"})
    story.apply("m2", {"replicas": 2}, force=True)

    assert story.owners == {"m1 Apply": {"f:name": {}}, "m2 Apply": {"f:replicas": {}}}


def test_an_updater_of_the_same_name_is_another():
    """A manager that applies and updates has two entries, and can conflict with itself."""
    story = Story().apply("m", {"replicas": 1, "name": "a"}).put("m", {"replicas": 2, "name": "a"})
    story.apply("m", {"name": "a"})

    assert story.owners == {"m Apply": {"f:name": {}}, "m Update": {"f:replicas": {}}}
    assert story.spec == {"replicas": 2, "name": "a"}


def test_an_applier_has_one_entry_in_all_versions():
    """Fields applied in one version can be given up in another."""
    story = Story().apply("m", {"replicas": 1, "name": "a"})
    config = {**thing({"name": "a"}), "apiVersion": "apply.example.com/v2"}

    got = applied(SHAPE, story.live, config, author("m", version="apply.example.com/v2"))

    assert [(e["apiVersion"], e["fieldsV1"]) for e in got.managed_fields] == [
        ("apply.example.com/v2", {"f:spec": {"f:name": {}}})
    ]
    assert got.document["spec"] == {"name": "a"}


def test_the_time_is_that_of_the_last_change():
    """An apply without changes has no time, or keeps the one of the entry."""
    story = Story().apply("m1", {"replicas": 1, "name": "a"})

    first = applied(SHAPE, story.live, thing({"replicas": 1}), author("m2", LATER))
    again = applied(SHAPE, story.live, thing({"replicas": 1, "name": "a"}), author("m1", LATER))
    both = managed_by(first.document, first.managed_fields)
    fewer = applied(SHAPE, both, thing({"replicas": 1}), author("m1", LATER))
    less = applied(SHAPE, both, thing({}), author("m2", LATER))

    assert [e.get("time") for e in first.managed_fields] == [None, TIME]
    assert again.managed_fields is story.live["metadata"]["managedFields"]
    assert [e.get("time") for e in fewer.managed_fields] == [None, LATER]
    assert [e.get("time") for e in less.managed_fields] == [None, TIME]


def test_fewer_fields_without_a_change_keep_the_time():
    """A field that both owned stays with the other one, and the object does not change."""
    story = Story().apply("m1", {"replicas": 1}).apply("m2", {"replicas": 1, "name": "a"})

    got = applied(SHAPE, story.live, thing({"name": "a"}), author("m2", LATER))

    assert [e["time"] for e in got.managed_fields] == [TIME, TIME]


def test_writes_before_managed_fields_were_tracked():
    """An object without entries gets one for all former writes, so that an apply can be refused."""
    live = thing({"name": "r"})

    got = applied(SHAPE, live, thing({"name": "r", "replicas": 4}), author("m"))
    with pytest.raises(Conflict) as refused:
        applied(SHAPE, live, thing({"name": "s"}), author("m"))

    assert {e["manager"]: e["fieldsV1"] for e in got.managed_fields} == {
        "before-first-apply": {"f:spec": {**SELF, "f:name": {}}},
        "m": {"f:spec": {"f:name": {}, "f:replicas": {}}},
    }
    assert '"before-first-apply" using' in refused.value.message


def test_versions_that_are_no_longer_served_block_nothing():
    """Their owners are forgotten."""
    shape = Shape(SHAPE.whole, status=True, served=["apply.example.com/v2"])
    story = Story().put("u", {"replicas": 1})

    got = applied(
        shape, story.live, thing({"replicas": 2}), author("m", version="apply.example.com/v2")
    )

    assert [e["manager"] for e in got.managed_fields] == ["m"]


def test_what_became_atomic_is_owned_whole():
    """After a change of the schema the owner of a part owns the value."""
    story = Story().put(
        "u", {"obj": {"a": "1"}, "items": [{"name": "a"}], "free": {"x": 1}, "map": {"k": "1"}}
    )
    spec = {**SPEC, "obj": SPEC["atom"], "items": {**SPEC["list"], "items": SPEC["items"]["items"]}}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}

    got = applied(Shape.of(schema), story.live, thing({"name": "x"}), author("m"))

    assert got.managed_fields[1]["fieldsV1"] == {
        "f:spec": {
            **SELF,
            "f:free": {**SELF, "f:x": {}},
            "f:items": {},
            "f:map": {**SELF, "f:k": {}},
            "f:obj": {},
        }
    }


def test_neither_the_configuration_nor_the_live_object_is_changed():
    """A configuration can be applied again when another write came first."""
    story = Story().put("u", {"items": [{"name": "a"}], "map": {"a": "1"}})
    config = thing({"items": [{"name": "b", "v": "1"}], "map": {"b": "1"}, "obj": {"a": "1"}})
    before = copied(config), copied(story.live)

    made = applied(SHAPE, story.live, config, author("m"))
    made.document["spec"]["obj"]["b"] = "filled in"
    made.document["spec"]["items"][1]["w"] = "filled in"

    assert (config, story.live) == before


REFUSED = [
    pytest.param(
        {
            "items": [{"name": "a"}, {"name": "a"}],
            "ports": [{"port": 1}, {"port": 1, "proto": "TCP"}],
        },
        'errors:\n  .spec.items: duplicate entries for key [name="a"]\n'
        '  .spec.ports: duplicate entries for key [port=1,proto="TCP"]',
        id="duplicate entries",
    ),
    pytest.param(
        {"set": ["a", "a"]}, '.spec.set: duplicate entries for key [="a"]', id="duplicate values"
    ),
    pytest.param({"nums": [1, 1.0]}, ".spec.nums: duplicate entries for key [=1]", id="1 and 1.0"),
    pytest.param(
        {"obj": {"q": 1}}, ".spec.obj.q: field not declared in schema", id="unknown field"
    ),
    pytest.param({"closed": {"q": 1}}, ".spec.closed.q: field not declared in schema", id="closed"),
    pytest.param(
        {"replicas": "1"},
        ".spec.replicas: expected numeric (int or float), got string",
        id="number",
    ),
    pytest.param(
        {"replicas": True}, ".spec.replicas: expected numeric (int or float), got bool", id="bool"
    ),
    pytest.param(
        {"replicas": [1]},
        ".spec.replicas: expected numeric (int or float), got []interface {}",
        id="list",
    ),
    pytest.param(
        {"replicas": {}},
        ".spec.replicas: expected numeric (int or float), got map[string]interface {}",
        id="object",
    ),
    pytest.param(
        {"name": 1},
        ".spec.name: expected string, got &value.valueUnstructured{Value:1}",
        id="string",
    ),
    pytest.param(
        {"name": {"b": [1, "x", True, 1.5, None]}},
        ".spec.name: expected string, got &value.valueUnstructured{Value:map[string]interface {}"
        '{"b":[]interface {}{1, "x", true, 1.5, interface {}(nil)}}}',
        id="string, at length",
    ),
    pytest.param({"flag": "x"}, ".spec.flag: expected boolean, got &{x}", id="boolean"),
    pytest.param(
        {"items": {"a": 1}}, ".spec.items: expected list, got &{map[a:1]}", id="keyed list"
    ),
    pytest.param({"list": 1}, ".spec.list: expected list, got &{1}", id="atomic list"),
    pytest.param({"atom": 1}, ".spec.atom: expected map, got &{1}", id="atomic object"),
    pytest.param(
        {"obj": ["a", 1, {"b": None}]},
        ".spec.obj: expected map, got &{[a 1 map[b:<nil>]]}",
        id="map",
    ),
    pytest.param(
        {"atom": {"a": 1}},
        ".spec.atom.a: expected string, got &value.valueUnstructured{Value:1}",
        id="inside of an atomic object",
    ),
    pytest.param(
        {"list": [1]},
        ".spec.list[0]: expected string, got &value.valueUnstructured{Value:1}",
        id="inside of an atomic list",
    ),
    pytest.param(
        {"set": [1]},
        ".spec.set[=1]: expected string, got &value.valueUnstructured{Value:1}",
        id="inside of a set",
    ),
    pytest.param(
        {"items": [{"v": "a"}]},
        '.spec.items: element 0: associative list with keys has an element that omits all key fields ["name"]'
        " (and doesn't have default values for any key fields)",
        id="no key",
    ),
    pytest.param(
        {"items": [None]},
        ".spec.items: element 0: associative list with keys may not have a null element",
        id="null entry",
    ),
    pytest.param(
        {"items": ["x"]},
        ".spec.items: element 0: associative list with keys may not have non-map elements",
        id="no object",
    ),
    pytest.param(
        {"set": [{"a": 1}]},
        ".spec.set: element 0: associative list without keys has an element that's a map type",
        id="object in a set",
    ),
    pytest.param(
        {"set": [[1]]},
        ".spec.set: element 0: not supported: associative list with lists as elements",
        id="list in a set",
    ),
    pytest.param(
        {"set": [None]},
        ".spec.set: element 0: associative list without keys has an element that's an explicit null",
        id="null in a set",
    ),
]


@pytest.mark.parametrize(("spec", "why"), REFUSED)
def test_configurations_that_cannot_be_owned(spec, why):
    """They are refused in Kubernetes' words, and as the client's mistake."""
    with pytest.raises(BadRequest) as refused:
        applied(SHAPE, None, thing(spec, namespace="n"), author())

    subject = "n/x; apply.example.com/v1, Kind=Thing"
    assert refused.value.message == f"failed to create typed patch object ({subject}): {why}"


def test_d3_nulls_and_untyped_values_cause_no_error():
    """What the schema does not judge here is judged when the object is checked."""
    spec = {
        "ios": {"b": 1},
        "any": {"x": [{}]},
        "when": 5,
        "items": None,
        "bag": [1, {}],
        "nul": None,
    }

    assert Story().apply("m", spec).spec == spec


def test_messages_have_an_end():
    """A thousand faults, or one long value, make no endless message."""
    with pytest.raises(BadRequest) as many:
        applied(SHAPE, None, thing({"obj": {f"f{n}": 1 for n in range(1000)}}), author())
    with pytest.raises(BadRequest) as long:
        applied(SHAPE, None, thing({"flag": "x" * 100_000}), author())

    assert many.value.message.count("\n") == 100
    assert len(long.value.message) < 2000


@pytest.mark.parametrize("said", [[], [{"manager": "x"}]], ids=["empty", "one"])
def test_managed_fields_cannot_be_applied(said):
    """They are what an apply makes."""
    with pytest.raises(BadRequest, match=r"metadata\.managedFields must be nil"):
        applied(SHAPE, None, thing({}, managedFields=said), author())


@pytest.mark.parametrize("metadata", [None, "x"], ids=["null", "text"])
def test_a_configuration_with_odd_metadata(metadata):
    """What is not there is not owned; what is not metadata is refused."""
    config = {**thing({"name": "x"}), "metadata": metadata}
    if metadata is None:
        assert applied(SHAPE, None, config, author()).document["spec"] == {"name": "x"}
    else:
        with pytest.raises(BadRequest, match="expected map"):
            applied(SHAPE, None, config, author())


def test_d2_deep_configurations_are_refused():
    """One that is nested deeper than anybody can follow is the client's mistake."""
    deep: FieldSet = {}
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(BadRequest, match="too deep"):
        applied(SHAPE, None, thing({"free": deep}), author())


def test_an_object_that_does_not_fit_its_schema_cannot_be_applied_to():
    """The owners of its fields would be unclear."""
    live = thing({"items": [{"v": "no name"}]})
    live["metadata"]["managedFields"] = created(SHAPE, thing({"name": "x"}), author("u"))
    with pytest.raises(BadRequest, match="do not match its schema"):
        applied(SHAPE, live, thing({"items": [{"name": "a"}]}), author())


class TestKubectl:
    """The way from kubectl's own apply to the server's."""

    ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
    KIND = next(kind for kind in builtins.core() if kind.resource is ConfigMap.RESOURCE)
    SHAPE = shape_of(KIND.resource, KIND.schema, custom=False)

    def config(self, data, **metadata):
        metadata = {"name": "la", **metadata}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}

    def live(self, annotation):
        document = self.config({"a": "1", "b": "2"}, annotations={self.ANNOTATION: annotation})
        by = author("kubectl-client-side-apply", version="v1")
        return managed_by(document, created(self.SHAPE, document, by))

    def apply(self, data, manager="kubectl", annotation=None, **metadata):
        last = annotation or json.dumps(self.config({"a": "1", "b": "1"}))
        by = author(manager, version="v1")
        return applied(self.SHAPE, self.live(last), self.config(data, **metadata), by)

    def test_what_kubectl_applied_itself_is_no_conflict(self):
        """If it has not changed since; the annotation is updated."""
        got = self.apply({"a": "9"}, annotations={"q": "1"})

        assert got.document["data"] == {"a": "9", "b": "2"}
        assert got.document["metadata"]["annotations"] == {
            "q": "1",
            self.ANNOTATION: '{"apiVersion":"v1","data":{"a":"9"},"kind":"ConfigMap",'
            '"metadata":{"annotations":{"q":"1"},"name":"la"}}\n',
        }
        assert got.managed_fields[0]["fieldsV1"] == {
            "f:data": {"f:a": {}},
            "f:metadata": {"f:annotations": {"f:q": {}}},
        }

    @pytest.mark.parametrize(
        "case",
        [
            {"data": {"a": "9", "b": "9"}},
            {"data": {"b": "9"}, "annotation": "not JSON"},
            {"data": {"b": "9"}, "annotation": "[]"},
            {"data": {"b": "9"}, "annotation": '{"apiVersion":"v2"}'},
            {"data": {"b": "9"}, "annotation": '{"apiVersion":"v1","data":7}'},
            {"data": {"b": "9"}, "manager": "another"},
        ],
        ids=str,
    )
    def test_a_changed_field_is_one(self, case):
        """As is everything if the annotation cannot be used, or if another one applies."""
        with pytest.raises(Conflict) as refused:
            self.apply(**case)

        assert refused.value.message == (
            'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.b'
        )

    def test_without_an_annotation_none_is_made(self):
        """Objects that were never applied the old way have no use for it."""
        config = self.config({"a": "1"})

        got = applied(self.SHAPE, None, config, author("kubectl", version="v1"))

        assert got.document == config


@pytest.mark.timeout(60)
def test_d4_long_lists_are_merged_in_proportion():
    """Twice the entries take twice the time, and not four times."""
    entries = [f"{n:x}" for n in range(90_000)]

    got = applied(SHAPE, thing({"set": entries}), thing({"set": entries[::-1]}), author("m"))

    assert got.document["spec"]["set"] == entries[::-1]


@pytest.mark.timeout(60)
def test_d4_a_long_name_is_not_spelled_for_each_field_below_it():
    """Only an error is reported, with its path."""
    maps = {"k" * 1_000_000: {str(n): "1" for n in range(90_000)}}

    applied(SHAPE, None, thing({"maps": maps}), author("m"))


@pytest.mark.parametrize("live", [None, thing({"set": ["a"] * 100_001})], ids=["new", "present"])
def test_d1_only_so_many_values_are_applied(live):
    """A larger apply would block other requests."""
    config = thing({"name": "a"} if live else {"set": ["a"] * 100_001})

    with pytest.raises(BadRequest, match="at most 100000 values"):
        applied(SHAPE, live, config, author("m"))
