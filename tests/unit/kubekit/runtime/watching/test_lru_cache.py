"""Objects that were read lately: bounded, and never an older one than was put last."""

from hypothesis import given, strategies as st

from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.watching.cache import LRUCache
from kubekit.runtime.watching.index import Key


def config(name: str, value: int = 0) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data={"value": str(value)})


def test_the_last_ones_are_there():
    """As many as were asked for, whatever came before them."""
    warmth: LRUCache[Key, ConfigMap] = LRUCache(3)
    for name in "abcdefg":
        warmth.put(("", name), config(name))
    assert [bool(warmth.get(("", name))) for name in "abcdefg"][-3:] == [True] * 3
    assert warmth.get(("", "a")) is None


def test_what_is_asked_for_stays():
    """Though many others come meanwhile."""
    warmth: LRUCache[Key, ConfigMap] = LRUCache(2)
    warmth.put(("", "kept"), config("kept"))
    for number in range(20):
        warmth.put(("", f"n{number}"), config("other"))
        assert warmth.get(("", "kept")) == config("kept")


def test_what_is_dropped_is_gone():
    """Of whichever generation it is."""
    warmth: LRUCache[Key, ConfigMap] = LRUCache(1)
    for name in "ab":
        warmth.put(("", name), config(name))
    for name in "ab":
        warmth.drop(("", name))
    assert [warmth.get(("", name)) for name in "ab"] == [None, None]


MOVES = st.lists(st.tuples(st.sampled_from(["put", "get", "drop"]), st.sampled_from("abcdef")))


@given(moves=MOVES)
def test_it_never_tells_of_the_past(moves):
    """What it knows is what was put last, or nothing."""
    warmth: LRUCache[Key, ConfigMap] = LRUCache(2)
    model: dict[str, ConfigMap] = {}
    for number, (verb, name) in enumerate(moves):
        key = ("", name)
        if verb == "put":
            model[name] = config(name, number)
            warmth.put(key, model[name])
        elif verb == "drop":
            model.pop(name, None)
            warmth.drop(key)
        assert warmth.get(key) in (None, model.get(name))
