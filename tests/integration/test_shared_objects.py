"""Objects in caches are shared by all controllers of a process, and are never changed."""

import gc

from msgspec.structs import replace

from compute.api.compute import Workload
from kubekit.api import scheme
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object, ObjectMeta
from kubekit.runtime.watching.cache import Cache
from tests.integration.worlds import Watched, run_story, with_image, with_replicas, workload


def caches() -> list[Cache[Object]]:
    """Those of this world, and of worlds before it that are not collected yet."""
    return [one for one in gc.get_objects() if isinstance(one, Cache)]


def changed_in_hand() -> list[str]:
    """What is no longer what its bytes say.

    Only what is kept as an object can be. To read the others would push those out unseen.
    """
    return [
        f"{cache.kind.__name__} {key}"
        for cache in caches()
        for key, data in cache.entries()
        if not isinstance(known := cache.known(*key), bytes)
        and known != decoded_again(cache.kind, data)
    ]


def decoded_again(kind: type[Object], data: bytes) -> Object:
    """A new object from the bytes, shared with nothing."""
    obj = scheme.decode_as(kind, data)
    return replace(obj, metadata=replace(obj.metadata, managed_fields=()))


def test_no_controller_changes_what_others_read():
    """Through the whole life of a Workload, everything in every cache stays as it was written."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(replicas=2))
        assert changed_in_hand() == []
        await world.change("web", with_image("registry.test/web:2"))
        await world.served("web")
        await world.change("web", with_replicas(1))
        await world.served("web")
        assert changed_in_hand() == []
        await world.user.delete(await world.user.get(Workload, "web", "default"))
        await world.gone("shop", Workload, "web", "default")
        assert changed_in_hand() == []

    run_story(story)


def test_an_object_that_is_changed_is_found():
    """Else the rule above would hold for want of looking."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(replicas=1))
        shared = next(cache for cache in caches() if cache.kind is Workload and len(cache))
        labels = shared.list()[0].metadata.labels
        labels["mine"] = "yes"
        others = Cache(ConfigMap)  # more than are kept as objects for all caches together
        for number in range(1000):
            others.put(ConfigMap(metadata=ObjectMeta(name=f"other-{number}", namespace="default")))
        found = changed_in_hand()
        del labels["mine"]
        assert any(each.startswith("Workload") for each in found)

    run_story(story)
