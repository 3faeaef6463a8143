"""Links that can be cut."""

import msgspec
import pytest

from compute.app.links import Link, linked_client
from kubekit.api.errors import Unavailable
from kubekit.api.kinds.core import ConfigMap, Namespace, NamespaceStatus
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from kubekit.client.options import DeleteOptions, ListOptions, WatchOptions
from kubekit.client.transport import ResourceLocation
from kubekit.runtime.requests import cluster_name
from tests.support.kubekit.stage import Stage, staged

CONFIG = ConfigMap(metadata=ObjectMeta(name="a", namespace="default"))
CHANGED = msgspec.structs.replace(CONFIG, data={"a": "b"})
SPACE = Namespace(metadata=ObjectMeta(name="default"))
ENDING = msgspec.structs.replace(SPACE, status=NamespaceStatus(phase="Terminating"))
HERE = ResourceLocation(ConfigMap.RESOURCE, "default")
NEW = {"metadata": {"name": "b"}, "data": {}}


async def _watch(client: Client) -> None:
    async with client.watch(ConfigMap, "default", WatchOptions()):
        pass


VERBS = {
    "get": lambda client: client.get(ConfigMap, "a", "default"),
    "find": lambda client: client.find(ConfigMap, "a", "default"),
    "list": lambda client: client.list(ConfigMap, "default"),
    "watch": _watch,
    "create": lambda client: client.create(CONFIG),
    "create raw": lambda client: client.raw.create(HERE, NEW, None),
    "update": lambda client: client.raw.update(HERE, NEW, None),
    "patch": lambda client: client.patch(CONFIG, CHANGED),
    "patch status": lambda client: client.patch_status(SPACE, ENDING),
    "apply": lambda client: client.apply(CONFIG, "me"),
    "delete": lambda client: client.delete(CONFIG),
    "delete all": lambda client: client.raw.delete_collection(HERE, ListOptions(), DeleteOptions()),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS.keys())
def test_nothing_goes_through_a_link_that_is_cut(tmp_path, verb):
    """Every verb says that the cell is cut off, and does nothing."""

    async def story(stage: Stage) -> None:
        link = Link("cell dfw")
        client = linked_client(await stage.plane("dfw"), "me", Link("hub"), link)
        link.cut()
        before = len(stage.writes)
        with pytest.raises(Unavailable, match="dfw is cut off"):
            await verb(client)
        assert len(stage.writes) == before

    staged(tmp_path, story)


def test_an_informer_continues_after_the_link_is_healed(tmp_path):
    """While it is cut the cache stays as it was; afterwards it has what it missed."""

    async def story(stage: Stage) -> None:
        link, cells = Link("cell dfw"), stage.role("cell")
        plane = await stage.plane("dfw")
        cluster = await cells.engage(cluster_name("dfw"), linked_client(plane, "me", link))
        informer = cluster.informers.of(ConfigMap)
        await informer.wait_synced()
        link.cut()
        await stage.client("dfw").create(CONFIG)
        await stage.rest()
        assert informer.cache.list() == []
        link.heal()
        await stage.rest()
        assert [each.metadata.name for each in informer.cache.list()] == ["a"]

    staged(tmp_path, story)
