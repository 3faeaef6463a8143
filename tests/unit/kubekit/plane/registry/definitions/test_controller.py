"""Definitions as objects of a plane: kinds come, change and go with them."""

import asyncio
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from kubekit.api.errors import ApiError, BadRequest, Forbidden, Invalid, NotFound
from kubekit.client.options import EVERYTHING, PLAIN_DELETE, PLAIN_WRITE, PatchType, WriteOptions
from kubekit.plane.registry import builtins
from kubekit.plane.registry.definitions.controller import DefinitionController
from kubekit.plane.registry.definitions.definition_kind import STORAGE
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import ChangeType, Draft
from kubekit.plane.store.store import Store
from tests.support.generated import depth
from tests.support.kubekit import virtual_time
from tests.support.kubekit.definition_builders import (
    FINALIZER,
    HELD,
    SCHEMA,
    decoded,
    definition,
    opened,
    scenario,
    version,
)
from tests.support.kubekit.plane_worlds import environment

ACCEPTED = ("True", "NoConflicts", "no conflicts found")
ESTABLISHED = ("True", "InitialNamesAccepted", "the initial names have been accepted")
NOT_ESTABLISHED = ("False", "NotAccepted", "not all names are accepted")


@scenario
async def test_a_kind_is_served_when_its_definition_is_answered(world):
    """A client can define a kind and create an object of it without waiting in between."""
    assert world.served() is None
    await world.define(definition())
    made = await world.make("one", size=3)

    assert (made["apiVersion"], made["kind"], made["spec"]) == (
        "example.com/v1",
        "Widget",
        {"size": 3},
    )
    assert world.get("one") == made


@scenario
async def test_what_follows_from_a_definition_is_filled_in(world):
    """Names, the way of conversion, and a status that says that the kind is served."""
    made = await world.define(definition())

    assert made["spec"]["names"] == {
        "plural": "widgets",
        "kind": "Widget",
        "singular": "widget",
        "listKind": "WidgetList",
    }
    assert made["spec"]["conversion"] == {"strategy": "None"}
    assert made["metadata"]["generation"] == 1
    assert made["metadata"]["finalizers"] == [FINALIZER]
    assert made["status"]["storedVersions"] == ["v1"]
    assert made["status"]["acceptedNames"] == made["spec"]["names"]
    assert world.conditions() == {"NamesAccepted": ACCEPTED, "Established": ESTABLISHED}


@scenario
async def test_one_write_is_enough(world):
    """A status that was right at once is not written again."""
    await world.define(definition())
    written = world.plane.store.revision
    await world.plane.rest()

    assert world.plane.store.revision == written


@scenario
async def test_a_schema_is_judged_as_soon_as_it_changes(world):
    """New writes meet the new schema, and the objects that are there stay."""
    await world.define(definition())
    await world.make("one", size=3)
    stricter = msgspec.json.decode(msgspec.json.encode(SCHEMA))
    stricter["properties"]["spec"]["properties"]["size"]["maximum"] = 2
    changed = await world.change(versions=[version(schema={"openAPIV3Schema": stricter})])

    assert changed["metadata"]["generation"] == 2
    with pytest.raises(Invalid, match=r"spec\.size"):
        await world.make("two", size=3)
    assert world.get("one")["spec"] == {"size": 3}


@scenario
async def test_a_status_leaves_the_kinds_as_they_are(world):
    """A prepared schema is not rebuilt for a changed label or condition."""
    await world.define(definition())
    before = world.plane.kinds
    document = world.definition()
    document["metadata"]["labels"] = {"a": "b"}
    await world.replace(document)

    assert world.plane.kinds is before
    assert world.definition()["metadata"]["generation"] == 1


@scenario
async def test_a_version_that_is_not_served_is_hidden(world):
    """It is not found any more, and its watches end after their events; others continue."""
    old, new = version("v1", stored=False), version("v2")
    await world.define(definition("widgets", old, new))
    one, two = await world.watch(world.need()), await world.watch(world.need("widgets", "v2"))
    await world.make("last")
    await world.change(versions=[old | {"served": False}, new])

    assert (world.served(), world.served("widgets", "v2") is None) == (None, False)
    assert [notice.type for notice in one.take()] == ["ADDED"]
    assert (one.ended, [notice.type for notice in two.take()], two.ended) == (
        True,
        ["ADDED"],
        False,
    )
    two.close()


@scenario
async def test_a_watch_that_starts_too_late_ends_at_once(world):
    """The kind may go while a watch of it is on its way."""
    await world.define(definition())
    kind = world.need()
    await world.drop()
    await world.plane.rest()
    watch = await world.watch(kind)

    assert (watch.take(), watch.ended) == ([], True)


@scenario
async def test_objects_are_read_in_every_version(world):
    """Only the apiVersion differs, wherever an object was written and whatever is stored."""
    await world.define(definition("widgets", version("v1"), version("v2", stored=False)))
    made = await world.make("one", world.need("widgets", "v2"), size=1)
    shown = world.get("one")

    assert made["apiVersion"] == "example.com/v2"
    assert shown == made | {"apiVersion": "example.com/v1"}


@scenario
async def test_another_version_is_stored(world):
    """Objects are stored so at their next write, and read in all versions before and after."""
    await world.define(definition("widgets", version("v1"), version("v2", stored=False)))
    await world.make("one", size=1)
    before = world.plane.store.find("example.com/widgets", "default/one")
    watch = await world.watch(world.need("widgets", "v2"))
    changed = await world.change(versions=[version("v1", stored=False), version("v2")])
    new = world.need("widgets", "v2")

    assert changed["status"]["storedVersions"] == ["v1", "v2"]
    assert world.get("one", new)["apiVersion"] == "example.com/v2"
    await world.merge("one", {"spec": {"size": 2}})
    after = world.plane.store.find("example.com/widgets", "default/one")
    assert b"example.com/v1" in before.data
    assert after.data.startswith(new.head)
    assert [decoded(n)["apiVersion"] for n in watch.take()] == ["example.com/v2"]
    watch.close()
    assert world.get("one")["apiVersion"] == "example.com/v1"


@scenario
async def test_lists_show_each_object_in_the_version_that_was_asked_for(world):
    """Some are stored in the one version and some in the other."""
    await world.define(definition("widgets", version("v1"), version("v2", stored=False)))
    await world.make("old")
    await world.change(versions=[version("v1", stored=False), version("v2")])
    await world.make("young")
    for name in ("v1", "v2"):
        page = await world.plane.registry.list(world.need("widgets", name), "", EVERYTHING)
        assert {decoded(r)["apiVersion"] for r in page.records} == {f"example.com/{name}"}


@scenario
async def test_a_version_that_objects_may_be_stored_in_stays(world):
    """It may go once the status says that nothing is stored in it."""
    await world.define(definition())
    await world.change(versions=[version("v1", stored=False), version("v2")])
    with pytest.raises(Invalid, match=r"status.storedVersions\[0\]: .* missing from spec.versions"):
        await world.change(versions=[version("v2")])
    present = world.definition()
    present["status"]["storedVersions"] = ["v2"]
    await world.replace(present, "status")
    await world.change(versions=[version("v2")])

    assert world.served() is None
    assert world.definition()["status"]["storedVersions"] == ["v2"]


@scenario
async def test_an_object_of_a_version_that_is_long_gone_is_read(world):
    """It was not migrated, although the status says so; it is served in the current version."""
    await world.define(definition())
    await world.make("one", size=1)
    await world.change(versions=[version("v1", stored=False), version("v2")])
    present = world.definition()
    present["status"]["storedVersions"] = ["v2"]
    await world.replace(present, "status")
    await world.change(versions=[version("v2")])

    assert world.get("one", world.need("widgets", "v2"))["apiVersion"] == "example.com/v2"


CONFLICTS = [
    ({"singular": "widget"}, "SingularConflict", "widget"),
    ({"shortNames": ["gd", "widgets"]}, "ShortNamesConflict", "widgets"),
    ({"kind": "Widget", "listKind": "Gadgets"}, "KindConflict", "Widget"),
    ({"kind": "WidgetList"}, "KindConflict", "WidgetList"),
    ({"listKind": "WidgetList"}, "ListKindConflict", "WidgetList"),
    ({"shortNames": ["widget"], "listKind": "Widget"}, "ListKindConflict", "Widget"),
]


@pytest.mark.parametrize(("names", "reason", "name"), CONFLICTS)
def test_names_that_others_have(tmp_path, names, reason, name):
    """The kind is not served, and the status says which name is in the way."""

    async def story():
        world = await opened(tmp_path)
        await world.define(definition())
        await world.define(definition("gadgets", names=names))
        found = world.conditions("gadgets"), world.served("gadgets")
        await world.plane.close()
        return found

    assert virtual_time.run(story()) == (
        {
            "NamesAccepted": ("False", reason, f'"{name}" is already in use'),
            "Established": NOT_ESTABLISHED,
        },
        None,
    )


@scenario
async def test_names_of_another_group_do_not_matter(world):
    """Each group has names of its own."""
    await world.define(definition())
    await world.define(definition(group="other.example.com"))

    assert world.plane.kinds.find("other.example.com", "v1", "widgets") is not None


@scenario
async def test_names_that_become_free_are_given_to_a_waiting_definition(world):
    """A kind is served as soon as its names are free."""
    await world.define(definition())
    await world.define(definition("gadgets", names={"kind": "Widget"}))
    await world.drop()
    await world.plane.rest()

    assert world.need("gadgets").resource.kind == "Widget"
    assert world.conditions("gadgets") == {"NamesAccepted": ACCEPTED, "Established": ESTABLISHED}


@scenario
async def test_names_are_given_in_the_order_of_the_commits(world):
    """Of two concurrent definitions one is later reported as a conflict."""
    both = (definition(), definition("gadgets", names={"kind": "Widget", "listKind": "Gadgets"}))
    await asyncio.gather(*map(world.define, both))
    await world.plane.rest()

    assert world.conditions()["NamesAccepted"] == ACCEPTED
    assert world.conditions("gadgets")["NamesAccepted"][1] == "KindConflict"
    assert world.conditions("gadgets")["Established"] == NOT_ESTABLISHED
    assert (world.served() is None, world.served("gadgets")) == (False, None)


@scenario
async def test_other_names_are_served_once_they_are_accepted(world):
    """Until then those that it has stay, and it is served by them."""
    await world.define(definition("gadgets", names={"shortNames": ["gd"]}))
    await world.define(definition(names={"shortNames": ["wd"]}))
    await world.change(names={"plural": "widgets", "kind": "Widget", "shortNames": ["gd"]})

    assert world.need().resource.short_names == ("wd",)
    assert world.conditions()["NamesAccepted"][1] == "ShortNamesConflict"
    assert world.conditions()["Established"] == ESTABLISHED
    await world.change("gadgets", names={"plural": "gadgets", "kind": "Gadget"})
    await world.plane.rest()
    assert world.need().resource.short_names == ("gd",)
    assert world.conditions()["NamesAccepted"] == ACCEPTED


@scenario
async def test_a_built_in_kind_keeps_its_names(world):
    """A definition of the same name is never served, and its end does not touch their objects."""
    lease = definition("leases", group="coordination.k8s.io")
    lease["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    kind = world.plane.kinds.require("coordination.k8s.io/v1", "Lease")
    await world.make("mine", kind)
    await world.define(lease)
    await world.plane.registry.delete(world.kind, "", "leases.coordination.k8s.io", PLAIN_DELETE)
    await world.plane.rest()

    assert world.get("mine", kind)["metadata"]["name"] == "mine"
    with pytest.raises(NotFound):
        world.plane.registry.get(world.kind, "", "leases.coordination.k8s.io")


@scenario
async def test_a_definition_takes_its_objects_along(world):
    """With the last of them goes the definition, and with it the kind."""
    await world.define(definition())
    for name in ("one", "two"):
        await world.make(name)
    watch = await world.watch()
    await world.drop()
    await world.plane.rest()

    assert world.served() is None
    assert len(world.plane.store.collection("example.com/widgets")) == 0
    assert [notice.type for notice in watch.take()] == ["DELETED", "DELETED"]
    assert watch.ended
    with pytest.raises(NotFound):
        world.definition()


@scenario
async def test_what_holds_an_object_holds_its_definition(world):
    """Meanwhile the status says so, nothing new is taken, and what is there can be changed."""
    await world.define(definition())
    await world.make("held", metadata=HELD)
    await world.drop()
    await world.plane.rest()

    assert world.conditions()["Terminating"] == (
        "True",
        "InstanceDeletionInProgress",
        "CustomResource deletion is in progress",
    )
    with pytest.raises(Forbidden, match="create not allowed while custom resource definition is"):
        await world.make("late")
    await world.merge("held", {"metadata": {"finalizers": None}})
    await world.plane.rest()
    assert world.served() is None


@scenario
async def test_objects_of_a_version_that_is_not_served_go_too(world):
    """They are not served any more, and would never be deleted."""
    await world.define(definition())
    await world.make("one")
    await world.change(versions=[version(served=False)])
    await world.drop()
    await world.plane.rest()

    assert len(world.plane.store.collection("example.com/widgets")) == 0


@scenario
async def test_a_definition_can_be_made_again(world):
    """It is another one, and has none of the objects of the first."""
    first = await world.define(definition())
    await world.make("one", size=1)
    await world.drop()
    await world.plane.rest()
    second = await world.define(definition(names={"kind": "Other"}))
    page = await world.plane.registry.list(world.need(), "", EVERYTHING)

    assert first["metadata"]["uid"] != second["metadata"]["uid"]
    assert page.records == []
    assert world.need().resource.kind == "Other"


@scenario
async def test_the_finalizer_cannot_be_taken_off_a_definition_that_lives(world):
    """Without it the objects would outlive their kind."""
    await world.define(definition())
    present = world.definition()
    present["metadata"]["finalizers"] = []
    changed = await world.replace(present)

    assert changed["metadata"]["finalizers"] == [FINALIZER]


def test_everything_is_served_after_a_restart(tmp_path):
    """Before the plane answers: definitions, conflicts, and an end that was under way."""

    async def first():
        world = await opened(tmp_path)
        await world.define(definition())
        await world.define(definition("gadgets", names={"kind": "Widget"}))
        await world.define(definition("doomed"))
        await world.make("one", size=1)
        await world.make("held", world.need("doomed"), metadata=HELD)
        await world.drop("doomed")
        before = world.plane.store.revision
        await world.plane.close()
        return before

    async def second():
        world = await opened(tmp_path)
        found = (
            world.get("one")["spec"],
            world.served("gadgets"),
            world.need("doomed").terminating,
        )
        await world.plane.rest()
        conditions = world.conditions("doomed")["Terminating"][1]
        await world.plane.close()
        return *found, conditions

    virtual_time.run(first())
    assert virtual_time.run(second()) == ({"size": 1}, None, True, "InstanceDeletionInProgress")


def test_a_restart_writes_nothing(tmp_path):
    """What is right already is not written again."""

    async def story():
        world = await opened(tmp_path)
        if world.served() is None:
            await world.define(definition())
            await world.define(definition("gadgets", names={"kind": "Widget"}))
        await world.plane.rest()
        revision = world.plane.store.revision
        await world.plane.close()
        return revision

    assert virtual_time.run(story()) == virtual_time.run(story())


@scenario
async def test_an_unreadable_definition_does_not_stop_the_others(world):
    """It was written without validation."""
    head = b'{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{'
    tail = b'"name":"odd.example.com"},"spec":{"versions":3}}'
    draft = Draft(STORAGE, "odd.example.com", 0, ChangeType.ADDED, head, tail)
    await world.plane.store.write(draft)
    await world.define(definition())
    await world.plane.rest()

    assert world.served() is not None


@scenario
async def test_a_field_that_no_schema_knows_is_dropped(world):
    """The error names it by its path."""
    schema = SCHEMA | {"colour": 1, "properties": {"spec": {"type": "object", "size": 2}}}
    wrong = definition("widgets", version(schema={"openAPIV3Schema": schema}), shade="red")
    with pytest.raises(BadRequest) as refusal:
        await world.define(wrong, WriteOptions(field_validation="Strict"))
    made = await world.define(wrong)

    for path in (
        "spec.shade",
        "spec.versions[0].schema.openAPIV3Schema.colour",
        "spec.versions[0].schema.openAPIV3Schema.properties.spec.size",
    ):
        assert f'unknown field "{path}"' in refusal.value.message
    assert made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == {
        "type": "object",
        "properties": {"spec": {"type": "object"}},
    }


def test_d7_crd_count(tmp_path):
    """There are only so many definitions; the next is refused until one goes."""

    async def story():
        surroundings = environment()
        store = await Store.open(tmp_path / "store.db", surroundings, threaded=False)
        registry = Registry(store, Kinds(builtins.core()), surroundings)
        definitions = DefinitionController(registry, surroundings, most=2)
        definitions.start()
        kind = registry.kinds.require("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        for plural in ("ones", "twos"):
            await registry.create(kind, "", definition(plural), PLAIN_WRITE)
        with pytest.raises(Forbidden, match="the limit of this plane is 2"):
            await registry.create(kind, "", definition("threes"), PLAIN_WRITE)
        await registry.delete(kind, "", "ones.example.com", PLAIN_DELETE)
        await definitions.worker.rest()
        await registry.create(kind, "", definition("threes"), PLAIN_WRITE)
        await definitions.worker.close()
        await store.close()
        return [kind.resource.plural for kind in registry.kinds if kind.custom]

    assert virtual_time.run(story()) == ["threes", "twos"]


def test_d7_crd_room(tmp_path):
    """All definitions together have only so many bytes; those that are there may still shrink."""

    async def story():
        surroundings = environment()
        store = await Store.open(tmp_path / "store.db", surroundings, threaded=False)
        registry = Registry(store, Kinds(builtins.core()), surroundings)
        definitions = DefinitionController(registry, surroundings, most=9, max_bytes=5000)
        definitions.start()
        kind = registry.kinds.require("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        long = definition("ones", names={"shortNames": [f"{'n' * 50}{n}" for n in range(50)]})
        await registry.create(kind, "", long, PLAIN_WRITE)
        with pytest.raises(Forbidden, match="the limit of this plane is 5000 bytes"):
            await registry.create(kind, "", definition("twos"), PLAIN_WRITE)
        short = {"spec": {"names": {"shortNames": None}}}
        await registry.patch(kind, "", "ones.example.com", PatchType.MERGE, short, PLAIN_WRITE)
        await registry.create(kind, "", definition("twos"), PLAIN_WRITE)
        await definitions.worker.close()
        await store.close()

    virtual_time.run(story())


def test_d7_crd_size(tmp_path):
    """A definition that other servers could not store is refused before it is validated."""

    async def story():
        world = await opened(tmp_path)
        properties = {f"field-{n:05}": {"type": "string", "title": "x" * 90} for n in range(16_000)}
        large = {"type": "object", "properties": properties}
        try:
            with pytest.raises(Invalid, match="spec: Too long: may not be more than 1572864 bytes"):
                await world.define(
                    definition("widgets", version(schema={"openAPIV3Schema": large}))
                )
        finally:
            await world.plane.close()

    virtual_time.run(story())


@scenario
async def test_a_kind_that_came_later_is_collected(world):
    """Objects go with their owners, whichever of the kinds is new."""
    await world.define(definition())
    await world.define(definition("gadgets"))
    owner = await world.make("owner")
    reference = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "name": "owner",
        "uid": owner["metadata"]["uid"],
    }
    await world.make("owned", world.need("gadgets"), {"ownerReferences": [reference]})
    await world.plane.registry.delete(world.need(), "default", "owner", PLAIN_DELETE)
    await world.plane.rest()

    assert len(world.plane.store.collection("example.com/gadgets")) == 0


@scenario
async def test_what_a_kind_owned_goes_with_it(world):
    """Also when the kind itself is gone by the time its dependents are collected."""
    await world.define(definition())
    owner = await world.make("owner")
    maps = world.plane.kinds.require("v1", "ConfigMap")
    reference = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "name": "owner",
        "uid": owner["metadata"]["uid"],
    }
    document = {"metadata": {"name": "owned", "ownerReferences": [reference]}}
    await world.plane.registry.create(maps, "default", document, WriteOptions())
    await world.drop()
    await world.plane.rest()

    with pytest.raises(NotFound):
        world.get("owned", maps)


@scenario
async def test_an_owner_is_missed_once_its_kind_is_known(world):
    """While the owner's kind is not served, it is unknown whether the owner exists."""
    maps = world.plane.kinds.require("v1", "ConfigMap")
    reference = {"apiVersion": "example.com/v1", "kind": "Widget", "name": "x", "uid": "1-2-3"}
    document = {"metadata": {"name": "owned", "ownerReferences": [reference]}}
    await world.plane.registry.create(maps, "default", document, WriteOptions())
    await world.plane.rest()
    assert world.get("owned", maps)["metadata"]["name"] == "owned"
    await world.define(definition())
    await world.plane.rest()

    with pytest.raises(NotFound):
        world.get("owned", maps)


@scenario
async def test_a_namespace_takes_objects_of_new_kinds_along(world):
    """Whatever was defined since the plane was opened."""
    namespaces = world.plane.kinds.require("v1", "Namespace")
    registry = world.plane.registry
    await registry.create(namespaces, "", {"metadata": {"name": "room"}}, WriteOptions())
    await world.define(definition())
    document = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}}
    await registry.create(world.need(), "room", document, WriteOptions())
    await registry.delete(namespaces, "", "room", PLAIN_DELETE)
    await world.plane.rest()

    assert len(world.plane.store.collection("example.com/widgets")) == 0


@scenario
async def test_a_change_under_way_finds_its_kind_gone(world):
    """It is refused as the next one will be, and writes nothing."""
    await world.define(definition())
    kind = world.need()
    await world.drop()
    await world.plane.rest()
    with pytest.raises(NotFound):
        await world.make("late", kind)
    with pytest.raises(NotFound):
        await world.plane.registry.patch(
            kind, "default", "none", PatchType.MERGE, {}, WriteOptions()
        )


def test_a_plane_without_definitions(tmp_path):
    """One that does not serve them has nothing to follow."""

    async def story():
        kinds = Kinds(builtins.core()).without("apiextensions.k8s.io", "customresourcedefinitions")
        world = await opened(tmp_path, kinds=kinds)
        served = len(world.plane.kinds)
        await world.plane.close()
        return served

    assert virtual_time.run(story()) == len(builtins.core()) - 1


@scenario
async def test_an_approval_shows_in_the_status(world):
    """A definition in a group of Kubernetes names its approval, or that there is none."""
    approved = definition(group="foo.k8s.io")
    note = "https://github.com/kubernetes/kubernetes/pull/78458"
    approved["metadata"]["annotations"] = {"api-approved.kubernetes.io": note}
    made = await world.define(approved)
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    changed = await world.replace(made)

    assert [
        [(c["status"], c["reason"], c["message"]) for c in d["status"]["conditions"]][-1]
        for d in (made, changed)
    ] == [
        ("True", "ApprovedAnnotation", f"approved in {note}"),
        ("False", "UnapprovedAnnotation", 'not approved: "unapproved, a test"'),
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scope": 3}, "spec.scope"),
        ({"versions": 3}, "spec.versions"),
        ({"versions": [{"name": "v1", "served": True, "storage": True}]}, "V3Schema: Required"),
        ({"versions": [{"name": "v1", "served": "yes", "storage": True}]}, r"versions\[0\].served"),
    ],
)
def test_what_is_no_definition_at_all(tmp_path, change, field):
    """Values of the wrong type are refused before any rule runs."""

    async def story():
        world = await opened(tmp_path)
        try:
            with pytest.raises((BadRequest, Invalid), match=field):
                await world.define(definition(**change))
        finally:
            await world.plane.close()

    virtual_time.run(story())


@scenario
async def test_objects_that_may_not_be_deleted_hold_their_definition(world):
    """It is retried until no webhook refuses; meanwhile the status reports the progress."""
    await world.define(definition())
    await world.make("one")
    objections = [Forbidden("not yet")] * 3

    def admit(attempt):
        if attempt.verb == "delete" and attempt.name == "one" and objections:
            raise objections.pop()

    world.plane.registry.admission.validating.append(admit)
    await world.drop()
    await asyncio.sleep(0.01)
    held = world.conditions()["Terminating"][1]
    await world.plane.rest()

    assert held == "InstanceDeletionInProgress"
    assert world.served() is None


def names_of(kind):
    return kind.resource.api_version, kind.resource.plural, kind.resource.kind, kind.terminating


PLURALS = st.sampled_from(["ants", "bees", "cats"])
KINDS = st.sampled_from(["Ant", "Bee", "Cat"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("define"), PLURALS, KINDS),
        st.tuples(st.just("drop"), PLURALS, st.none()),
        st.tuples(st.just("rename"), PLURALS, KINDS),
        st.tuples(st.just("make"), PLURALS, st.booleans()),
        st.tuples(st.just("release"), PLURALS, st.none()),
    ),
    max_size=14,
)


async def take_step(world, step):
    """One operation of a client; an operation that is not possible now is ignored."""
    verb, plural, more = step
    match verb:
        case "define":
            await world.define(definition(plural, names={"kind": more}))
        case "drop":
            await world.drop(plural)
        case "rename":
            names = {"plural": plural, "kind": more, "shortNames": [more.lower()]}
            await world.change(plural, names=names)
        case "make":
            await world.make("one", world.need(plural), HELD if more else None)
        case _:
            await world.merge("one", {"metadata": {"finalizers": None}}, world.need(plural))


@given(STEPS)
@settings(max_examples=depth.examples(40), deadline=None)
def test_a_restart_finds_what_was_served(steps):
    """Whatever happened: the same kinds, no name twice, and no objects without a kind."""

    async def story(directory):
        world = await opened(directory)
        for step in steps:
            with suppress(ApiError, AssertionError):
                await take_step(world, step)
        await world.plane.rest()
        before = [names_of(kind) for kind in world.plane.kinds]
        left = [
            plural
            for plural in ("ants", "bees", "cats")
            if len(world.plane.store.collection(f"example.com/{plural}"))
            and world.served(plural) is None
        ]
        await world.plane.close()
        again = await opened(directory)
        after = [names_of(kind) for kind in again.plane.kinds]
        await again.plane.close()
        return before, after, left

    with TemporaryDirectory() as directory:
        before, after, left = virtual_time.run(story(Path(directory)))
    assert before == after
    assert left == []
