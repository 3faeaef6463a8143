"""Roles that watch a part of a kind, clusters that are reached on demand, and the factory."""

import pytest

from kubekit.api.errors import NotFound
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from kubekit.runtime.providers.on_demand import OnDemandClusters
from kubekit.runtime.requests import DONE, NotEngaged, Request, Result, cluster_name
from kubekit.runtime.sources import own
from kubekit.runtime.watching.watched_part import labelled
from tests.support.kubekit.stage import Stage, staged

HUB, SHOP = cluster_name("hub"), cluster_name("shop")


def _config(name: str, **labels: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default", labels=labels))


class Seen:
    """A reconciler that remembers the names it was asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def reconcile(self, request: Request) -> Result:
        self.names.append(request.name)
        return DONE


def test_a_role_hears_only_of_its_part_of_a_kind(tmp_path):
    """An object outside of the selector is neither cached nor reported; one that leaves it is removed."""

    async def story(stage: Stage) -> None:
        clusters = stage.role("hub", {ConfigMap: labelled("cell=dfw")})
        await stage.engage("hub", "hub")
        seen = Seen()
        stage.start(stage.factory.controller("minder", seen, clusters, [own(ConfigMap, clusters)]))
        client = stage.client("hub")
        await client.create(_config("theirs", cell="lhr"))
        ours = await client.create(_config("ours", cell="dfw"))
        cache = clusters.get(HUB).informers.of(ConfigMap).cache
        await stage.rest()
        assert [each.metadata.name for each in cache.list()] == ["ours"]
        await client.patch(ours, _config("ours", cell="sin"))
        await stage.rest()
        assert cache.list() == []
        assert set(seen.names) == {"ours"}

    staged(tmp_path, story)


def test_a_role_of_one_cluster_has_a_sole_one(tmp_path):
    """A pass that needs it while it is not engaged ends quietly, as with any other cluster."""

    async def story(stage: Stage) -> None:
        with pytest.raises(NotEngaged):
            stage.role("hub").sole()
        await stage.engage("hub", "hub")
        assert stage.role("hub").sole().name == HUB

    staged(tmp_path, story)


def test_a_cluster_is_engaged_when_it_is_first_reached(tmp_path):
    """Reaching it again is the same cluster; once that was disengaged it is another."""

    async def story(stage: Stage) -> None:
        plane, projects = await stage.plane("shop"), stage.role("project")

        def connect(name: str) -> Client:
            if name != SHOP:
                raise NotFound(f"there is no project {name}")
            return LocalClient(plane)

        reached = OnDemandClusters(projects, connect)
        first = await reached.reach(SHOP)
        assert await reached.reach(SHOP) is first
        with pytest.raises(NotFound):
            await reached.reach(cluster_name("nowhere"))
        await projects.disengage(SHOP)
        assert await reached.reach(SHOP) is not first

    staged(tmp_path, story)


def test_a_kit_has_one_recorder_for_a_name_and_a_duty_for_each(tmp_path):
    """All users of a controller name share one recorder, whose events a background task sends."""

    async def story(stage: Stage) -> None:
        factory = stage.factory
        assert factory.recorder("minder") is factory.recorder("minder")
        factory.recorder("keeper")
        assert [task.name for task in factory.background_tasks()] == [
            "events of minder",
            "events of keeper",
        ]

    staged(tmp_path, story)
