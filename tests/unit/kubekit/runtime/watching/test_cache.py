"""What is known of one kind: read by name, by namespace, by index; kept small."""

import logging
import tracemalloc

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from compute.api.compute import Instance
from kubekit.api import scheme
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ManagedFieldsEntry, ObjectMeta
from kubekit.runtime.interning import interned
from kubekit.runtime.watching.cache import Cache
from tests.support.compute.status_builders import running
from tests.support.generated import depth


def config(name: str, namespace: str = "default", **data: str) -> ConfigMap:
    metadata = ObjectMeta(name=name, namespace=namespace, uid=f"uid-{name}", resource_version="7")
    return ConfigMap(metadata=metadata, data=data)


def names(objects: list[ConfigMap]) -> list[str]:
    return [f"{o.metadata.namespace}/{o.metadata.name}" for o in objects]


@pytest.mark.parametrize("warm", [0, 1, 1024])
def test_what_is_put_is_read(warm):
    """As an equal object, be it kept as such or made of its bytes."""
    cache: Cache[Instance] = Cache(Instance, warm)
    objects = [running(ordinal) for ordinal in (3, 4, 5)]
    for obj in objects:
        cache.put(obj)
    assert [cache.get("ns-1", obj.metadata.name) for obj in objects] == objects
    assert cache.list() == objects
    assert [cache.uid_of("ns-1", obj.metadata.name) for obj in objects] == [
        "uid-3",
        "uid-4",
        "uid-5",
    ]


def test_what_is_read_again_is_the_same_object():
    """Making it of its bytes each time is most of what a pass costs."""
    cache = Cache(ConfigMap)
    cache.put(config("one", a="1"))
    assert cache.get("default", "one") is cache.get("default", "one")
    assert cache.list()[0] is cache.get("default", "one")


def read_others() -> None:
    """As much as all caches together keep for a moment."""
    cache = Cache(ConfigMap)
    for number in range(1000):
        cache.put(config(f"other-{number}"))
        cache.get("default", f"other-{number}")


def test_what_is_read_together_stays_as_objects():
    """Its readers come again, and for all of it; a change is in the place of what was there."""
    cache = Cache(ConfigMap)
    for name in "ab":
        cache.put(config(name, value="1"))
    before = cache.list()
    read_others()
    assert all(one is other for one, other in zip(before, cache.list(), strict=True))
    changed = cache.put(config("a", value="2"))
    read_others()
    assert cache.list()[0] is cache.get("default", "a") is changed
    assert cache.known("default", "b") is before[1]


def test_what_is_read_alone_is_bytes_again_soon():
    """However many there are, they take no more memory than what is kept for all caches."""
    cache = Cache(ConfigMap)
    cache.put(config("a", value="1"))
    before = cache.get("default", "a")
    read_others()
    assert isinstance(cache.known("default", "a"), bytes)
    again = cache.get("default", "a")
    assert again == before
    assert again is not before


def test_caches_share_the_objects_of_the_same_bytes():
    """Several informers of one plane: the bytes are its, and the object is made of them once."""
    source = msgspec.json.encode(config("one", a="shared"))
    first, second = Cache(ConfigMap), Cache(ConfigMap)
    one = first.put(scheme.decode_as(ConfigMap, source), source)
    two = second.put(scheme.decode_as(ConfigMap, source), source)
    assert one is two is second.get("default", "one")


def test_large_objects_are_kept_as_bytes_alone():
    """A thousand of them would take all memory there is."""
    cache = Cache(ConfigMap)
    cache.put(config("one", a="1" * 20_000))
    large = cache.get("default", "one")
    assert large == config("one", a="1" * 20_000)
    assert large is not cache.get("default", "one")
    cache.put(config("one", a="1"))
    assert cache.list() == [config("one", a="1")]
    cache.put(config("one", a="2" * 20_000))
    assert cache.get("default", "one") == config("one", a="2" * 20_000)


def test_bytes_that_a_plane_keeps_are_shared():
    """They may hold more than our class reads, and managedFields: what is read of them is the same."""
    obj = config("one", a="1")
    more = msgspec.to_builtins(obj) | {"news": {}}
    more["metadata"]["managedFields"] = [{"manager": "kubectl", "fieldsV1": {"f:data": {}}}]
    source = msgspec.json.encode(more)
    cache = Cache(ConfigMap, recent=0)
    cache.put(scheme.decode_as(ConfigMap, source), source)
    assert cache.data("default", "one") is source
    assert cache.get("default", "one") == obj
    assert cache.uid_of("default", "one") == "uid-one"


def test_what_is_not_there_is_none():
    """Neither the name nor the namespace need be known."""
    cache = Cache(ConfigMap)
    cache.put(config("one"))
    assert cache.get("default", "two") is None
    assert cache.get("elsewhere", "one") is None
    assert cache.uid_of("default", "two") is None
    assert ("default", "two") not in cache
    assert ("default", "one") in cache
    cache.drop("default", "two")
    cache.drop("elsewhere", "one")
    assert len(cache) == 1


def test_trap_161_managed_fields_are_not_kept():
    """They are as large as the object, and no cache reader needs them."""
    entry = ManagedFieldsEntry(manager="kubectl")
    obj = config("one", a="1")
    metadata = msgspec.structs.replace(obj.metadata, managed_fields=(entry,))
    cache = Cache(ConfigMap)
    kept = cache.put(msgspec.structs.replace(obj, metadata=metadata))
    assert kept == obj
    assert cache.get("default", "one") == obj
    assert b"kubectl" not in (cache.data("default", "one") or b"kubectl")


def test_objects_are_listed_in_order():
    """Of namespace, then name; of one namespace or of all."""
    cache = Cache(ConfigMap)
    for name, namespace in (("b", "x"), ("a", "y"), ("a", "x")):
        cache.put(config(name, namespace))
    assert names(cache.list()) == ["x/a", "x/b", "y/a"]
    assert names(cache.list("x")) == ["x/a", "x/b"]
    assert cache.list("z") == []
    assert cache.keys() == [("x", "a"), ("x", "b"), ("y", "a")]
    assert cache.keys("y") == [("y", "a")]


def test_an_index_finds_what_was_there_before_and_after():
    """It is filled when it is added, and kept up to date."""
    cache = Cache(ConfigMap)
    cache.put(config("old", app="web"))
    cache.add_index("app", lambda obj: (obj.data["app"],))
    cache.put(config("new", app="web"))
    cache.put(config("other", app="db"))
    assert names(cache.by("app", "web")) == ["default/new", "default/old"]
    assert cache.keys_by("app", "web") == [("default", "new"), ("default", "old")]
    cache.put(config("new", app="db"))
    cache.drop("default", "old")
    assert names(cache.by("app", "web")) == []
    assert names(cache.by("app", "db")) == ["default/new", "default/other"]


def test_an_index_counts_without_reading():
    """None, one or many; what is dropped counts no more."""
    cache = Cache(ConfigMap)
    cache.add_index("color", lambda obj: obj.data.values())
    assert cache.count("color", "red") == 0
    cache.put(config("one", a="red"))
    assert cache.count("color", "red") == 1
    cache.put(config("two", a="red"))
    assert cache.count("color", "red") == 2
    cache.drop("default", "one")
    cache.drop("default", "two")
    assert cache.count("color", "red") == 0


def test_an_index_that_is_there_stays():
    """Two who need the same index may both ask for it."""
    cache = Cache(ConfigMap)
    cache.add_index("app", lambda obj: (obj.data["first"],))
    cache.add_index("app", lambda obj: (obj.data["second"],))
    cache.put(config("one", first="1", second="2"))
    assert names(cache.by("app", "1")) == ["default/one"]
    assert cache.by("app", "2") == []


def test_an_index_that_is_not_there_is_a_mistake():
    """It is not the same as finding nothing."""
    with pytest.raises(KeyError):
        Cache(ConfigMap).by("nonsense", "x")


def test_an_index_that_fails_on_an_object_leaves_it_out(caplog):
    """The others are found, and the log names the one."""
    cache = Cache(ConfigMap)
    cache.add_index("app", lambda obj: (obj.data["app"],))
    with caplog.at_level(logging.ERROR):
        cache.put(config("bad"))
    cache.put(config("good", app="web"))
    assert names(cache.by("app", "web")) == ["default/good"]
    assert names(cache.list()) == ["default/bad", "default/good"]
    assert [record.__dict__["object"] for record in caplog.records] == ["default/bad"]


def test_the_revision_goes_where_it_is_said():
    """A list from a server that is behind sets it back, and own writes are unseen again."""
    cache = Cache(ConfigMap)
    assert not cache.seen("1")
    cache.reach("20")
    assert (cache.revision, cache.seen("20"), cache.seen("21")) == (20, True, False)
    cache.reach("12")
    assert (cache.revision, cache.seen("20")) == (12, False)


def test_the_revision_falls_back_but_not_forward():
    """Objects of an older list may be here; those of a newer one are not all here yet."""
    cache = Cache(ConfigMap)
    cache.reach("20")
    for version, expected in (("30", 20), ("opaque", 20), ("12", 12)):
        cache.fall_back(version)
        assert cache.revision == expected


def test_a_version_that_is_no_number_is_not_waited_for():
    """It cannot be compared with what was seen."""
    cache = Cache(ConfigMap)
    cache.reach("7")
    cache.reach("opaque")
    assert cache.revision == 7
    assert cache.seen("opaque")


def test_what_is_kept_has_no_spare_room():
    """The bytes are as long as they look, though an encoder gives out longer ones."""
    cache: Cache[Instance] = Cache(Instance, recent=0)
    instances = [running(ordinal) for ordinal in range(1, 102)]
    # What the process shares is not the cache's: its table of words may have to grow for these.
    words = [interned(instance.metadata.name) for instance in instances]
    tracemalloc.start()
    try:
        cache.put(instances[0])
        before = tracemalloc.get_traced_memory()[0]
        for instance in instances[1:]:
            cache.put(instance)
        taken = (tracemalloc.get_traced_memory()[0] - before) / 100
    finally:
        tracemalloc.stop()
    length = len(cache.data("ns-1", "web-home-dfw-50") or b"")
    assert len(words) == len(cache)
    assert taken < length + 250


LETTERS = st.sampled_from("abc")
MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("put"), LETTERS, LETTERS, st.lists(LETTERS, max_size=3)),
        st.tuples(st.just("drop"), LETTERS, LETTERS, st.just([])),
    ),
    max_size=30,
)


@settings(max_examples=depth.examples(150))
@given(before=MOVES, after=MOVES)
def test_a_cache_is_a_dict_with_indexes(before, after):
    """Whatever is put and dropped, before and after an index was added, all reads agree."""
    cache, model = Cache(ConfigMap, recent=2), {}
    for moves in (before, after):
        for verb, namespace, name, values in moves:
            if verb == "put":
                model[namespace, name] = tuple(values)
                cache.put(config(name, namespace, values="".join(values)))
            else:
                model.pop((namespace, name), None)
                cache.drop(namespace, name)
        cache.add_index("letters", lambda obj: obj.data["values"])
        assert cache.keys() == sorted(model)
        assert len(cache) == len(model)
        for value in "abc":
            found = [(o.metadata.namespace, o.metadata.name) for o in cache.by("letters", value)]
            assert found == sorted(key for key, values in model.items() if value in values)
        listed = {(o.metadata.namespace, o.metadata.name): o for o in cache.list()}
        assert {key: tuple(o.data["values"]) for key, o in listed.items()} == model
        assert {key: cache.get(*key) for key in listed} == listed
