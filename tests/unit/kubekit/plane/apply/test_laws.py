"""The laws of ownership, for schemas and documents of any shape."""

from functools import reduce

import pytest
from hypothesis import given, settings, strategies as st

from kubekit.api.errors import Conflict
from kubekit.plane.apply.entries import fields_of, identity
from kubekit.plane.apply.field_sets import FieldSet, contains, intersection, read, union
from kubekit.plane.apply.managed_fields import updated
from kubekit.plane.apply.server_side_apply import applied
from kubekit.plane.apply.shapes import Shape
from tests.support.generated import depth
from tests.support.kubekit.apply_builders import Story, author, copied, thing

law = settings(deadline=None, max_examples=depth.examples(40))

LATER = "2024-05-01T12:00:09Z"
NAMES = st.sampled_from("abc")
MANAGERS = st.sampled_from(["m1", "m2", "m3"])

TEXT = ({"type": "string"}, st.sampled_from("xy"))
WHOLE = ({"type": "integer"}, st.sampled_from([1, 2]))
TRUTH = ({"type": "boolean"}, st.booleans())
FREE = (
    {"x-kubernetes-preserve-unknown-fields": True},
    st.recursive(
        st.sampled_from([1, True, "x", [1]]),
        lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=2),
        max_leaves=3,
    ),
)
SET = (
    {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    st.lists(NAMES, unique=True, min_size=1),
)
LIST = ({"type": "array", "items": {"type": "string"}}, st.lists(NAMES, min_size=1, max_size=2))


def maps(inner):
    schema, values = inner
    return (
        {"type": "object", "additionalProperties": schema},
        st.dictionaries(NAMES, values, min_size=1, max_size=2),
    )


def objects(fields, kind):
    schema = {
        "type": "object",
        "properties": {name: schema for name, (schema, _) in fields.items()},
    }
    values = {name: values for name, (_, values) in fields.items()}
    return {**schema, "x-kubernetes-map-type": kind}, _some(values)


def lists(fields):
    schema, values = objects(fields, "granular")
    keyed = {**schema, "properties": {"key": {"type": "string"}, **schema["properties"]}}
    entries = st.dictionaries(NAMES, values, min_size=1, max_size=3).map(
        lambda named: [{"key": name, **value} for name, value in named.items()]
    )
    kind = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"]}
    return {"type": "array", "items": keyed, **kind}, entries


def _some(values):
    whole = st.fixed_dictionaries({}, optional=values)
    return whole.filter(bool)


LEAVES = st.sampled_from([TEXT, WHOLE, TRUTH, FREE, SET, LIST])


def _members(inner):
    return st.dictionaries(NAMES, inner, min_size=1, max_size=2)


NODES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(maps),
        st.builds(objects, _members(inner), st.sampled_from(["granular", "atomic"])),
        _members(inner).map(lists),
    ),
    max_leaves=5,
)


@st.composite
def kinds(draw):
    """A kind of any shape, and the specs that its objects may have; nothing in them is empty."""
    schema, specs = objects(draw(st.dictionaries(NAMES, NODES, min_size=1)), "granular")
    return Shape.of({"type": "object", "properties": {"spec": schema}}), specs


@st.composite
def stories(draw):
    """An object that had some adventures, and the specs it may have next.

    It always has a label, for an object without owners is not tracked when it is updated.
    """
    shape, specs = draw(kinds())
    story = Story(shape).put("maker", None, labels={"kept": "1"})
    for _ in range(draw(st.integers(0, 4))):
        manager, spec = draw(MANAGERS), draw(st.none() | specs)
        if draw(st.booleans()):
            story.put(manager, spec, labels={"kept": "1"})
        else:
            story.apply(manager, spec, force=True)
    return story, specs


def sets(story):
    return {identity(entry): fields_of(entry) for entry in story.entries}


def joined(several):
    nothing: FieldSet = {}
    return reduce(union, several, nothing)


def all_of(story):
    return joined(sets(story).values())


@given(stories())
@law
def test_every_field_has_an_owner_and_every_owner_a_field(made):
    """Whatever happened: all that is there is owned, and nothing is owned that is not there."""
    story, _ = made
    part = story.shape.part("")

    assert contains(all_of(story), part.owned(story.live))
    assert contains(part.fields_in(story.live), all_of(story))


@given(stories())
@law
def test_sets_survive_the_wire(made):
    """What is written can be read, and is the same, in the same order."""
    story, _ = made

    for entry in story.entries:
        assert repr(read(copied(entry["fieldsV1"]))) == repr(entry["fieldsV1"])


@given(stories(), st.data())
@law
def test_applying_twice_is_applying_once(made, data):
    """The second time nothing changes, neither object nor entries."""
    story, specs = made
    config = thing(data.draw(specs))
    first = story.apply("m", config["spec"], force=True).live

    again = applied(story.shape, first, config, author("m", LATER))

    assert again.managed_fields is first["metadata"]["managedFields"]
    assert {**again.document, "metadata": first["metadata"]} == first


@given(kinds(), st.data())
@law
def test_an_empty_apply_takes_all_back(made, data):
    """Applied fields without another owner leave no trace."""
    shape, specs = made
    story = Story(shape).apply("m", data.draw(specs)).apply("m", None)

    assert story.live == thing()


@given(stories(), st.data())
@law
def test_an_empty_apply_removes_only_its_own_fields(made, data):
    """Other owners keep their fields, unless they are in an entry that the applier alone owned."""
    story, specs = made
    before = story.apply("m", data.draw(specs), force=True)
    mine = fields_of(next(entry for entry in before.entries if entry["manager"] == "m"))
    others = joined(fields for key, fields in sets(before).items() if key[0] != "m")
    shared = intersection(mine, others)

    story.apply("m", None)

    assert "m" not in {entry["manager"] for entry in story.entries}
    assert contains(story.shape.part("").fields_in(story.live), shared)


@given(kinds(), st.lists(MANAGERS, max_size=6), st.data())
@law
def test_without_force_no_manager_loses_fields(made, turns, data):
    """Among appliers a field changes only with all its owners' consent."""
    shape, specs = made
    story = Story(shape)
    for manager in turns:
        before = sets(story) if story.live else {}
        try:
            story.apply(manager, data.draw(st.none() | specs))
        except Conflict:
            assert sets(story) == before
            continue
        others = {i: fields for i, fields in before.items() if i[0] != manager}
        assert {i: f for i, f in sets(story).items() if i[0] != manager} == others


@given(stories(), st.data())
@law
def test_force_decides_every_conflict(made, data):
    """With it an apply succeeds, and from then on it succeeds without."""
    story, specs = made
    spec = data.draw(specs)
    forced = story.apply("m", spec, force=True).spec

    assert story.apply("m", spec).spec == forced


@given(kinds(), st.data())
@law
def test_the_order_of_appliers_does_not_matter(made, data):
    """Two managers without common fields can apply in any order."""
    shape, specs = made
    spec = data.draw(specs)
    first = data.draw(st.sets(st.sampled_from(sorted(spec))))
    one = {name: value for name, value in spec.items() if name in first}
    other = {name: value for name, value in spec.items() if name not in first}

    forth = Story(shape).apply("m1", one).apply("m2", other)
    back = Story(shape).apply("m2", other).apply("m1", one)

    assert forth.spec == back.spec
    assert sets(forth) == sets(back)


@given(stories(), st.data())
@law
def test_the_same_update_again_changes_no_entry(made, data):
    """The very list comes back."""
    story, specs = made
    spec = data.draw(specs)
    live = story.put("u", spec, labels={"kept": "1"}).live

    got = updated(story.shape, live, copied(thing(spec, labels={"kept": "1"})), author("u", LATER))

    assert got is live["metadata"]["managedFields"]


@given(stories(), st.data())
@law
def test_an_update_owns_what_it_changed(made, data):
    """And no other manager owns it any more."""
    story, specs = made
    before, spec = story.live, data.draw(specs)
    gained, _ = story.shape.part("").compared(before, thing(spec, labels={"kept": "1"}))
    story.put("u", spec, labels={"kept": "1"})

    for key, fields in sets(story).items():
        if key[0] == "u":
            assert contains(fields, gained or {})
        else:
            assert intersection(fields, gained or {}) == {}


@pytest.mark.parametrize("spec", [{"a": {"b": 1}}, {"a": [True]}], ids=str)
def test_the_laws_hold_where_nothing_is_known(spec):
    """A kind without a schema has the same laws."""
    shape = Shape.of({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    story = Story(shape).apply("m", spec).apply("m", None)

    assert story.live == thing()


def test_a_value_of_another_shape_is_a_conflict():
    """Where the schema leaves the shape open, a number does not silently replace an object."""
    free = {"type": "object", "properties": {"spec": FREE[0]}}
    story = Story(Shape.of(free))
    story.apply("m1", {"a": {"b": 1}})
    with pytest.raises(Conflict, match=r"\.spec\.a\.b"):
        story.apply("m2", {"a": 1})
