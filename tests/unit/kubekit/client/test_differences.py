"""The difference of two views: the same as comparing them as whole documents."""

from collections.abc import Iterator
from typing import Any

import msgspec
from hypothesis import given, settings, strategies as st

from compute.api.compute import Instance
from kubekit.api import scheme
from kubekit.api.meta import Object, ObjectMeta
from kubekit.api.wire import Wire
from kubekit.client.differences import Part, difference
from tests.support.compute import builders
from tests.support.generated import depth

Document = dict[str, Any]
PARTS: tuple[Part, ...] = ("", "status")


def whole(existing: Object, desired: Object, part: Part) -> Document:
    """The patch, computed from the documents of both."""
    before, after = (msgspec.to_builtins(each, str_keys=True) for each in (existing, desired))
    status: Any = getattr(existing, "status", None)
    if before.get("status") != after.get("status") and status == type(status)():
        before.pop("status", None)
    patch = merge(before, after)
    return {name: value for name, value in patch.items() if (name == "status") == bool(part)}


def merge(before: Any, after: Any) -> Any:
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return after
    gone: Document = {name: None for name in before if name not in after}
    return gone | {
        name: merge(before.get(name), value)
        for name, value in after.items()
        if name not in before or before[name] != value
    }


texts = st.sampled_from(["", "a", "b"])
maps = st.dictionaries(st.sampled_from("xyz"), texts, max_size=3)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Instances that have much in common."""
    conditions = st.sampled_from(["Ready", "Programmed"]).flatmap(
        lambda word: st.builds(
            builders.condition, st.just(word), st.sampled_from(["True", "False"])
        )
    )
    plain = builders.instance(
        draw(st.integers(0, 1)), gates=draw(st.sampled_from([(), ("Quota",), ("Quota", "Network")]))
    )
    meta = ObjectMeta(
        name="one",
        labels=draw(maps),
        annotations=draw(maps),
        finalizers=tuple(draw(st.lists(texts, max_size=2))),
        resource_version=draw(texts),
    )
    status = msgspec.structs.replace(
        draw(st.sampled_from([plain.status, type(plain.status)()])),
        conditions=tuple(draw(st.lists(conditions, max_size=2))),
    )
    return msgspec.structs.replace(plain, metadata=meta, status=status)


@settings(max_examples=depth.examples(300))
@given(existing=instances(), desired=instances(), part=st.sampled_from(PARTS))
def test_it_is_that_of_whole_documents(existing, desired, part):
    """Whatever changed, appeared or went, at whichever depth."""
    assert difference(existing, desired, part=part) == whole(existing, desired, part)


@given(existing=instances(), desired=instances(), data=st.data())
def test_parts_that_are_shared_differ_in_nothing(existing, desired, data):
    """An object that is made of another one differs by what was replaced in it."""
    fields = data.draw(st.sets(st.sampled_from(["metadata", "spec", "status"])))
    made = msgspec.structs.replace(existing, **{name: getattr(desired, name) for name in fields})
    for part in PARTS:
        assert difference(existing, made, part=part) == whole(existing, made, part)


def every_class(below: type[Wire] = Wire) -> Iterator[type[Wire]]:
    for kind in below.__subclasses__():
        yield kind
        yield from every_class(kind)


def test_of_what_may_be_empty_only_maps_are_left_out():
    """An encoder leaves out lists and sets too, which no class of ours has for a default."""
    assert scheme.kinds()
    for kind in every_class():
        factories = {field.default_factory for field in msgspec.structs.fields(kind)}
        assert not factories & {list, set, bytearray}, kind
        assert kind.__struct_config__.omit_defaults, kind
